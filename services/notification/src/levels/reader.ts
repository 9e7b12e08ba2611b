// Reads OUs' engagement levels from the service's own explanations, which may be a moment behind the levels that scoring decides
// with and that callers have seen: readers then wait.
import { readLevels } from '@lead-scoring/explanations';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  emptyLevelHistory,
  type LevelHistory,
  type LevelList,
  levelsAsOf,
  levelsOfNow,
} from '@lead-scoring/scoring-domain';
import { ExplanationsBehind, type CatchUp } from '../explanations/catch-up.js';
import type { Levels } from './line-model.js';

export interface LevelReader {
  /**
   * The levels of the versions of scoring's configuration that decisions were made with. A version that was requested before is
   * answered from memory, with the same object.
   * @param versions of scoring's configurations, by OU
   * @throws ExplanationsBehind
   */
  asOf(
    versions: ReadonlyMap<string, ReadonlySet<number>>,
  ): Promise<(ouId: string, version: number) => LevelList>;
  /** The levels that are folded now. */
  now(ouId: string): Promise<Levels>;
  /**
   * The levels that are folded now if `willDo` accepts them; otherwise the levels after the records that scoring has written by
   * now. null: those were not folded in time.
   */
  upToDate(ouId: string, willDo: (levels: Levels) => boolean): Promise<Levels | null>;
}

/** Maximum number of level histories in the cache of a process. */
const maximumKept = 2_000;

export function createLevelReader(readModel: ReadModel, catchUp: CatchUp): LevelReader {
  const kept = new Map<string, LevelHistory>();

  async function read(ouIds: readonly string[]): Promise<void> {
    for (const history of await readLevels(readModel, ouIds)) {
      // A concurrent read may have found a newer one.
      if (history.version > (kept.get(history.ou_id)?.version ?? -1)) kept.set(history.ou_id, history);
    }
  }

  const now = async (ouId: string): Promise<Levels> => {
    const [history] = await readLevels(readModel, [ouId]);
    return levelsOfNow(history ?? emptyLevelHistory(ouId));
  };

  return {
    asOf: async (versions) => {
      const behind = () =>
        [...versions].flatMap(([ouId, wanted]) =>
          Math.max(...wanted) > (kept.get(ouId)?.version ?? 0) ? [ouId] : [],
        );
      if (behind().length > 0) await read(behind());
      const missing = behind();
      if (missing.length > 0) {
        // Scoring records a configuration before it decides with it, so the version is folded after a catch-up.
        if (!(await catchUp(missing)))
          throw new ExplanationsBehind(
            `the levels with which scoring decided are not folded yet for ${String(missing.length)} organizational units`,
          );
        await read(missing);
      }
      const found = new Map<string, LevelHistory>();
      for (const ouId of versions.keys()) {
        const history = kept.get(ouId) ?? emptyLevelHistory(ouId);
        kept.set(ouId, history);
        found.set(ouId, history);
      }
      if (kept.size > maximumKept) for (const ouId of kept.keys()) if (!found.has(ouId)) kept.delete(ouId);
      return (ouId, version) => {
        const history = found.get(ouId);
        if (!history) throw new Error(`the levels of organizational unit ${ouId} were not requested`);
        return levelsAsOf(history, version);
      };
    },
    now,
    upToDate: async (ouId, willDo) => {
      const levels = await now(ouId);
      if (willDo(levels)) return levels;
      return (await catchUp([ouId])) ? now(ouId) : null;
    },
  };
}
