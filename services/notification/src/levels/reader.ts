// The OUs' engagement levels as triggers look at them: from the service's own fold of scoring's configurations. It may be a
// moment behind the levels that scoring decides with and that callers have seen; readers then wait for it.
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
   * The levels by which decisions of scoring count: those that the configuration had that decided. For a version that
   * was asked for before nothing is looked up, and it is the same object.
   * @param versions of scoring's configurations, by OU
   * @throws ExplanationsBehind
   */
  asOf(
    versions: ReadonlyMap<string, ReadonlySet<number>>,
  ): Promise<(ouId: string, version: number) => LevelList>;
  /** As far as is folded. */
  now(ouId: string): Promise<Levels>;
  /**
   * As far as is folded, if that will do; if not, once all is folded that scoring has recorded by now. null: it is not
   * folded in time.
   */
  upToDate(ouId: string, willDo: (levels: Levels) => boolean): Promise<Levels | null>;
}

/** Histories kept in a process. */
const maximumKept = 2_000;

export function createLevelReader(readModel: ReadModel, catchUp: CatchUp): LevelReader {
  const kept = new Map<string, LevelHistory>();

  async function read(ouIds: readonly string[]): Promise<void> {
    for (const history of await readLevels(readModel, ouIds)) {
      // Another read may have brought a newer one in the meantime.
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
        // Scoring recorded its configuration before it decided with it: once all is folded, it is there.
        if (!(await catchUp(missing)))
          throw new ExplanationsBehind(
            `the levels of ${String(missing.length)} organizational units are not folded as far as scoring decided with them`,
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
        if (!history) throw new Error('the levels of an organizational unit were not asked for');
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
