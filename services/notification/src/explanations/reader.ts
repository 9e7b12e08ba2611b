// Reads accounts of leads and scoring's configurations from the service's own explanations, and waits where they are behind the
// record that made a trigger fire.
import { createFoldWatch } from '@lead-scoring/capability';
import {
  createExplanationReader,
  readConfigurations,
  type AccountRequest,
  type LeadAccount,
} from '@lead-scoring/explanations';
import type { ReadModel } from '@lead-scoring/read-model';
import { emptyConfiguration, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { explanationsName } from './capability.js';
import { ExplanationsBehind, type CatchUp } from './catch-up.js';

export interface Explanations {
  /** Resolves when the decisions of a partition are folded up to and including an offset. @throws ExplanationsBehind */
  reach(partition: number, offset: bigint): Promise<void>;
  /** Accounts in the order of the requests; null for a lead that has no decision up to the requested offset, or was removed. */
  read(requests: readonly AccountRequest[]): Promise<(LeadAccount | null)[]>;
  /**
   * Scoring's configurations of OUs. A cached configuration of at least the requested version is not read again; an older one is
   * waited for once per version, and then used as far as it is folded.
   */
  configurations(versions: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, ScoringConfiguration>>;
}

/** Maximum number of configurations in the cache of a process. */
const maximumKept = 2_000;

export function createExplanations(
  readModel: ReadModel,
  catchUp: CatchUp,
  options: { timeoutMs: number },
): Explanations {
  const folded = createFoldWatch(readModel, explanationsName, options);
  const reader = createExplanationReader(readModel, explanationsName);
  const kept = new Map<string, ScoringConfiguration>();
  /** Versions that have been waited for, by OU. */
  const waitedFor = new Map<string, number>();

  /** Reads the configurations that are older than these versions; returns the OUs whose configuration still is. */
  async function readOlder(versions: ReadonlyMap<string, number>): Promise<string[]> {
    const older = () =>
      [...versions].flatMap(([ouId, version]) => ((kept.get(ouId)?.version ?? 0) < version ? [ouId] : []));
    const wanted = older();
    if (wanted.length === 0) return [];
    for (const configuration of await readConfigurations(readModel, wanted)) {
      // A concurrent read may have found a newer one.
      const { ou_id, version } = configuration;
      if (version > (kept.get(ou_id)?.version ?? 0)) kept.set(ou_id, configuration);
    }
    return older();
  }

  return {
    reach: async (partition, offset) => {
      if (!(await folded.until('scoring.events', [{ partition, offset: offset + 1n }])))
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
