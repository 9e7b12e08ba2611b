// What the service's own explanations say of leads and of the rules that gave them points. They may be behind what made a
// trigger fire, and are waited for then.
import { emptyConfiguration, projectorNames, type ScoringConfiguration } from '@lead-scoring/contracts';
import { createProjector, endOffsets, type EventLog, type ProjectorOptions } from '@lead-scoring/event-log';
import {
  createExplanationReader,
  explanationInputs,
  openExplanationPartition,
  readConfigurations,
  toldFields,
  type AccountRequest,
  type LeadAccount,
} from '@lead-scoring/explanations';
import {
  createCheckpoints,
  createPositionWatch,
  isRetriable,
  isSilence,
  underLease,
  type ReadModel,
} from '@lead-scoring/read-model';

export const [explanationsProjector] = projectorNames.notification;

export interface Explanations {
  /** Resolves when the decisions of a partition are folded up to this offset, the offset itself included. */
  reach(partition: number, offset: bigint): Promise<void>;
  /** In the order of the requests; null for a lead of which nothing is folded up to there, or that was removed since. */
  read(requests: readonly AccountRequest[]): Promise<(LeadAccount | null)[]>;
  /**
   * Scoring's configurations of OUs. One that is in hand and is at least of this version is not read again; one that is
   * older is waited for, once. What is told of its rules is then as far as it is folded.
   */
  configurations(versions: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, ScoringConfiguration>>;
}

/** The explanations are not as far as what they are asked about: trying again helps. */
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
  const watch = createPositionWatch(createCheckpoints(readModel), explanationsProjector);
  return async (ouIds) => {
    const partitions = ouIds && [...new Set(ouIds.map((ouId) => log.partitionOf(ouId)))];
    const ends = await endOffsets(log, 'scoring.events', partitions);
    return (await watch.wait('scoring.events', ends, timeoutMs)) !== null;
  };
}

/** Configurations kept in a process. */
const maximumKept = 2_000;

export function createExplanations(
  readModel: ReadModel,
  catchUp: CatchUp,
  { timeoutMs }: { timeoutMs: number },
): Explanations {
  const watch = createPositionWatch(createCheckpoints(readModel), explanationsProjector);
  const reader = createExplanationReader(readModel, explanationsProjector);
  const kept = new Map<string, ScoringConfiguration>();
  /** Versions that were waited for, by OU. */
  const waitedFor = new Map<string, number>();

  /** Reads those that are older than these versions; answers those that are so still. */
  async function readOlder(versions: ReadonlyMap<string, number>): Promise<string[]> {
    const older = () =>
      [...versions].flatMap(([ouId, version]) => ((kept.get(ouId)?.version ?? 0) < version ? [ouId] : []));
    const wanted = older();
    if (wanted.length === 0) return [];
    for (const configuration of await readConfigurations(readModel, wanted)) {
      // Another read may have brought a newer one in the meantime.
      const { ou_id, version } = configuration;
      if (version > (kept.get(ou_id)?.version ?? 0)) kept.set(ou_id, configuration);
    }
    return older();
  }

  return {
    reach: async (partition, offset) => {
      const reached = await watch.wait('scoring.events', [{ partition, offset: offset + 1n }], timeoutMs);
      if (!reached)
        throw new ExplanationsBehind(
          `the explanations of partition ${String(partition)} are behind offset ${String(offset)}`,
        );
    },
    read: (requests) => reader.accounts(requests),
    configurations: async (versions) => {
      const missing = (await readOlder(versions)).filter(
        (ouId) => (waitedFor.get(ouId) ?? 0) < (versions.get(ouId) ?? 0),
      );
      if (missing.length > 0) {
        await catchUp(missing);
        for (const ouId of missing) waitedFor.set(ouId, versions.get(ouId) ?? 0);
        await readOlder(versions);
      }
      const found = new Map<string, ScoringConfiguration>();
      for (const ouId of versions.keys()) found.set(ouId, kept.get(ouId) ?? emptyConfiguration(ouId));
      for (const known of [kept, waitedFor])
        if (known.size > maximumKept)
          for (const ouId of known.keys()) if (!found.has(ouId)) known.delete(ouId);
      return found;
    },
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
    inputs: explanationInputs,
    rebuildsWith: 'notification',
    isRetriable,
    isSilence,
    open: (partition, _touch, lease) =>
      Promise.resolve(
        openExplanationPartition(underLease(readModel, lease), partition, {
          projectorName: explanationsProjector,
          // Whoever explains waits until what it explains is folded: nothing more is to be said of a rebuild.
          beforeReset: () => Promise.resolve(),
          cachedLeads,
          keptFields: toldFields,
        }),
      ),
    maxRecordsPerBatch: 2_000,
    maxBytesPerBatch: 1024 * 1024,
    // What fires adds up decisions as they pass through its partition: only what lies before a start is read from here.
    everyMs: 1_000,
  });
}
