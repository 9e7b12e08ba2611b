// What happens to share links, and what asks for it.
import type { ProblemCode, records } from '@lead-scoring/contracts';

export type ShareCommand =
  | { type: 'CreateShare'; payload: records.CreateShare }
  | { type: 'RevokeShare'; payload: records.RevokeShare };

export type ShareEvent =
  | { type: 'ShareCreated'; payload: records.ShareCreated }
  | { type: 'ShareRevoked'; payload: records.ShareRevoked };

/** No event is a no-op: the command took effect before. Postponed: the command is to come again. */
export type ShareDecision =
  | { outcome: 'done'; events: ShareEvent[] }
  | { outcome: 'rejected'; code: ProblemCode; message: string }
  | { outcome: 'postponed'; command: records.CreateShare };
