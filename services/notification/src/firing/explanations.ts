// What notifications say of leads: from the service's own explanations, which may be a moment behind what made a trigger
// fire, and are waited for then.
import { projectorNames } from '@lead-scoring/contracts';
import { createProjector, type EventLog, type ProjectorOptions } from '@lead-scoring/event-log';
import {
  createExplanationReader,
  openExplanationPartition,
  type DriversRequest,
  type LeadDrivers,
} from '@lead-scoring/explanations';
import { createCheckpoints, createPositionWatch, type ReadModel } from '@lead-scoring/read-model';

export const [explanationsProjector] = projectorNames.notification;

export interface Explanations {
  /** Resolves when the decisions of a partition are folded up to this offset, the offset itself included. */
  reach(partition: number, offset: bigint): Promise<void>;
  /** In the order of the requests; null for a lead of which nothing is folded up to there, or that was removed since. */
  read(requests: readonly DriversRequest[]): Promise<(LeadDrivers | null)[]>;
}

/** The explanations are not as far as what they are asked about: trying again helps. */
export class ExplanationsBehind extends Error {
  override readonly name = 'ExplanationsBehind';
  readonly retriable = true;
}

export function createExplanations(readModel: ReadModel, { timeoutMs }: { timeoutMs: number }): Explanations {
  const watch = createPositionWatch(createCheckpoints(readModel), explanationsProjector);
  const reader = createExplanationReader(readModel, explanationsProjector);
  return {
    reach: async (partition, offset) => {
      const reached = await watch.wait('scoring.events', [{ partition, offset: offset + 1n }], timeoutMs);
      if (!reached)
        throw new ExplanationsBehind(
          `the explanations of partition ${String(partition)} are behind offset ${String(offset)}`,
        );
    },
    read: (requests) => reader.drivers(requests),
  };
}

/** Folds what scoring decides into the service's own explanations. */
export function createExplanationsProjector(
  log: EventLog,
  readModel: ReadModel,
  { cachedLeads, ...options }: Pick<ProjectorOptions, 'logger' | 'onFatal'> & { cachedLeads: number },
): ReturnType<typeof createProjector> {
  return createProjector(log, {
    ...options,
    name: explanationsProjector,
    inputs: ['scoring.events'],
    rebuildsWith: 'notification',
    open: (partition) =>
      Promise.resolve(
        openExplanationPartition(readModel, partition, {
          projectorName: explanationsProjector,
          // Whoever explains waits until what it explains is folded: nothing more is to be said of a rebuild.
          beforeReset: () => Promise.resolve(),
          cachedLeads,
        }),
      ),
    maxRecordsPerBatch: 16_000,
    maxBytesPerBatch: 8 * 1024 * 1024,
  });
}
