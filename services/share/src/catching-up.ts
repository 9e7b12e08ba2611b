// A link may be opened the moment somebody has heard of it, and what is folded be a moment behind what has happened.
import { createFoldWatch } from '@lead-scoring/capability';
import { createTopicEnds, type EventLog } from '@lead-scoring/event-log';
import { numberToOffset, type ReadModel } from '@lead-scoring/read-model';
import { explanationsName } from './explanation/capability.js';
import type { Share } from './links/state.js';

export interface CatchingUp {
  /** Waits until every command about a share that was sent before this call is decided; false: that takes too long. */
  decided(shareId: string): Promise<boolean>;
  /** Waits until what was known of a link's lead when the link was made is folded; false: that takes too long. */
  folded(share: Pick<Share, 'lead_id' | 'scoring_offset'>): Promise<boolean>;
}

export function createCatchingUp(
  readModel: ReadModel,
  log: EventLog,
  options: { timeoutMs: number },
): CatchingUp {
  const links = createFoldWatch(readModel, 'share', options);
  const explanations = createFoldWatch(readModel, explanationsName, options);
  const commands = createTopicEnds(log, 'share.commands');
  return {
    decided: async (shareId) => (await links.until('share.commands', await commands.of([shareId]))) !== null,
    folded: async ({ lead_id, scoring_offset }) => {
      if (scoring_offset === null) return true;
      const wanted = { partition: log.partitionOf(lead_id), offset: numberToOffset(scoring_offset) };
      return (await explanations.until('scoring.events', [wanted])) !== null;
    },
  };
}
