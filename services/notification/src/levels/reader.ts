// Reads OUs' levels and filters from the service's own explanations, which may be a moment behind what scoring decides with and
// what callers have seen: readers then wait.
import { readConfigurations, readLevels } from '@lead-scoring/explanations';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  emptyConfiguration,
  emptyLevelHistory,
  type LevelHistory,
  type LevelList,
  levelsAsOf,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { ExplanationsBehind, type CatchUp } from '../explanations/catch-up.js';

/** Versions of scoring's configurations that decisions were made with, by OU. */
export type DecidedVersions = ReadonlyMap<string, ReadonlySet<number>>;

export interface ScoringReader {
  /**
   * The levels of the versions of scoring's configuration that decisions were made with. A version that was requested before is
   * answered from memory, with the same object.
   * @throws ExplanationsBehind
   */
  levelsAsOf(versions: DecidedVersions): Promise<(ouId: string, version: number) => LevelList>;
  /**
   * Scoring's configurations, each of the newest of these versions or a newer one. A configuration that has not changed is the
   * same object.
   * @throws ExplanationsBehind
   */
  atLeast(versions: DecidedVersions): Promise<(ouId: string) => ScoringConfiguration>;
  /** The configuration that is folded now. */
  now(ouId: string): Promise<ScoringConfiguration>;
  /**
   * The configuration that is folded now if `willDo` accepts it; otherwise that after the records that scoring has written by
   * now. null: those were not folded in time.
   */
  upToDate(
    ouId: string,
    willDo: (configuration: ScoringConfiguration) => boolean,
  ): Promise<ScoringConfiguration | null>;
}

export function createScoringReader(readModel: ReadModel, catchUp: CatchUp): ScoringReader {
  const levels = new VersionedCache<LevelHistory>(
    (ouIds) => readLevels(readModel, ouIds),
    emptyLevelHistory,
    catchUp,
  );
  const configurations = new VersionedCache<ScoringConfiguration>(
    (ouIds) => readConfigurations(readModel, ouIds),
    emptyConfiguration,
    catchUp,
  );
  const now = async (ouId: string): Promise<ScoringConfiguration> => {
    const [configuration] = await readConfigurations(readModel, [ouId]);
    return configuration ?? emptyConfiguration(ouId);
  };
  return {
    levelsAsOf: async (versions) => {
      const historyOf = await levels.load(versions);
      return (ouId, version) => levelsAsOf(historyOf(ouId), version);
    },
    atLeast: (versions) => configurations.load(versions),
    now,
    upToDate: async (ouId, willDo) => {
      const configuration = await now(ouId);
      if (willDo(configuration)) return configuration;
      return (await catchUp([ouId])) ? now(ouId) : null;
    },
  };
}

/** Maximum number of OUs in a cache of a process. */
const maximumKept = 2_000;

/** States of OUs that are folded version by version. */
class VersionedCache<State extends { readonly ou_id: string; readonly version: number }> {
  readonly #kept = new Map<string, State>();

  constructor(
    private readonly readStates: (ouIds: readonly string[]) => Promise<readonly State[]>,
    private readonly initial: (ouId: string) => State,
    private readonly catchUp: CatchUp,
  ) {}

  /** States of at least the newest requested versions. @throws ExplanationsBehind */
  async load(versions: DecidedVersions): Promise<(ouId: string) => State> {
    const behind = () =>
      [...versions].flatMap(([ouId, wanted]) =>
        Math.max(0, ...wanted) > (this.#kept.get(ouId)?.version ?? 0) ? [ouId] : [],
      );
    await this.#read(behind());
    const missing = behind();
    if (missing.length > 0) {
      // Scoring records a configuration before it decides with it, so the version is folded after a catch-up.
      if (!(await this.catchUp(missing)))
        throw new ExplanationsBehind(
          `the configurations with which scoring decided are not folded yet for ${String(missing.length)} organizational units`,
        );
      await this.#read(missing);
    }
    const found = new Map<string, State>();
    for (const ouId of versions.keys()) {
      const state = this.#kept.get(ouId) ?? this.initial(ouId);
      this.#kept.set(ouId, state);
      found.set(ouId, state);
    }
    if (this.#kept.size > maximumKept)
      for (const ouId of this.#kept.keys()) if (!found.has(ouId)) this.#kept.delete(ouId);
    return (ouId) => {
      const state = found.get(ouId);
      if (!state) throw new Error(`the configuration of organizational unit ${ouId} was not requested`);
      return state;
    };
  }

  async #read(ouIds: readonly string[]): Promise<void> {
    if (ouIds.length === 0) return;
    for (const state of await this.readStates(ouIds)) {
      // A concurrent read may have found a newer one.
      if (state.version > (this.#kept.get(state.ou_id)?.version ?? -1)) this.#kept.set(state.ou_id, state);
    }
  }
}
