// What the service's own explanations say of leads and of the rules that gave them points. They may be behind what made a
// trigger fire, and are waited for then.
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

/** Configurations kept in a process. */
const maximumKept = 2_000;

export function createExplanations(
  readModel: ReadModel,
  catchUp: CatchUp,
  options: { timeoutMs: number },
): Explanations {
  const folded = createFoldWatch(readModel, explanationsName, options);
  const reader = createExplanationReader(readModel, explanationsName);
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
