// The commands and events of share links.
import type { ProblemCode, records } from '@lead-scoring/contracts';

export type ShareCommand =
  | { type: 'CreateShare'; payload: records.CreateShare }
  | { type: 'RevokeShare'; payload: records.RevokeShare };

export type ShareEvent =
  | { type: 'ShareCreated'; payload: records.ShareCreated }
  | { type: 'ShareRevoked'; payload: records.ShareRevoked };

/** `done` without an event: the command took effect before. `postponed`: the command is sent again. */
export type ShareDecision =
  | { outcome: 'done'; events: ShareEvent[] }
  | { outcome: 'rejected'; code: ProblemCode; message: string }
  | { outcome: 'postponed'; command: records.CreateShare };
