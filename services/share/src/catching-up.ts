// A link may be opened the moment somebody has heard of it, and what is folded be a moment behind what has happened.
import { endOffsets, type EventLog } from '@lead-scoring/event-log';
import {
  createCheckpoints,
  createPositionWatch,
  numberToOffset,
  type ReadModel,
} from '@lead-scoring/read-model';
import { explanationsName } from './explanation/capability.js';
import type { Share } from './links/state.js';

export interface CatchingUp {
  /** Waits until every command about a share that was sent before this call is decided; false: that takes too long. */
  decided(shareId: string): Promise<boolean>;
  /** Waits until what was known of a link's lead when the link was made is folded; false: that takes too long. */
  folded(share: Pick<Share, 'lead_id' | 'scoring_offset'>): Promise<boolean>;
}

const pauseBetweenLooksMs = 10;

export function createCatchingUp(
  readModel: ReadModel,
  log: EventLog,
  { timeoutMs }: { timeoutMs: number },
): CatchingUp {
  const checkpoints = createCheckpoints(readModel);
  const links = createPositionWatch(checkpoints, 'share');
  const explanations = createPositionWatch(checkpoints, explanationsName);
  let next: ReturnType<typeof endOffsets> | undefined;
  let mayLook: Promise<unknown> = Promise.resolve();

  /** Where the commands end, as of a look that begins after this call: who guesses tokens by the thousand shares it. */
  function ends(): ReturnType<typeof endOffsets> {
    next ??= mayLook.then(() => {
      next = undefined;
      const found = endOffsets(log, 'share.commands');
      const pause = () => new Promise((resolve) => setTimeout(resolve, pauseBetweenLooksMs));
      mayLook = found.then(pause, pause);
      return found;
    });
    return next;
  }

  return {
    decided: async (shareId) => {
      const own = log.partitionOf(shareId);
      const wanted = (await ends()).filter(({ partition }) => partition === own);
      return (await links.wait('share.commands', wanted, timeoutMs)) !== null;
    },
    folded: async ({ lead_id, scoring_offset }) => {
      if (scoring_offset === null) return true;
      const wanted = { partition: log.partitionOf(lead_id), offset: numberToOffset(scoring_offset) };
      return (await explanations.wait('scoring.events', [wanted], timeoutMs)) !== null;
    },
  };
}
