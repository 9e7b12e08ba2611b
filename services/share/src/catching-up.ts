// Waits for the folds: a visitor may open a link before its events are folded.
import { createFoldWatch } from '@lead-scoring/capability';
import { createTopicEnds, type EventLog } from '@lead-scoring/event-log';
import { numberToOffset, type ReadModel } from '@lead-scoring/read-model';
import { explanationsName } from './explanation/capability.js';
import type { Share } from './links/state.js';

export interface CatchingUp {
  /** Waits until every command about the share that was sent before this call is decided; false on timeout. */
  decided(shareId: string): Promise<boolean>;
  /** Waits until the events of the link's lead from before the link are folded; false on timeout. */
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
