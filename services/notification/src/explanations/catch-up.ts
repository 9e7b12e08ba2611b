// Waits until the service's own explanations are folded: they may be behind what made a trigger fire.
import { endOffsets, type EventLog } from '@lead-scoring/event-log';
import { createCheckpoints, createPositionWatch, type ReadModel } from '@lead-scoring/read-model';
import { explanationsName } from './capability.js';

/** The explanations are behind what they are asked about: trying again helps. */
export class ExplanationsBehind extends Error {
  override readonly name = 'ExplanationsBehind';
  readonly retriable = true;
}

/**
 * Waits until all is folded that scoring has recorded by now: of the OUs' configurations, or, where no OUs are given, of
 * everything; false: it took too long.
 */
export type CatchUp = (ouIds?: readonly string[]) => Promise<boolean>;

export function createCatchUp(
  readModel: ReadModel,
  log: EventLog,
  { timeoutMs }: { timeoutMs: number },
): CatchUp {
  const watch = createPositionWatch(createCheckpoints(readModel), explanationsName);
  return async (ouIds) => {
    const partitions = ouIds && [...new Set(ouIds.map((ouId) => log.partitionOf(ouId)))];
    const ends = await endOffsets(log, 'scoring.events', partitions);
    return (await watch.wait('scoring.events', ends, timeoutMs)) !== null;
  };
}
