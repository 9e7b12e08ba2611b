// The lists of levels that an OU has had, each with the version of the configuration that brought it: a decision on a
// score says which version decided, and so which levels counted then. Pure.
import type { ConfigurationEvent, ScoringConfiguration } from '@lead-scoring/contracts';

export type Levels = ScoringConfiguration['levels'];

export interface LevelList {
  /** The first version of the configuration that has it. */
  readonly since: number;
  readonly levels: Levels;
}

export interface LevelHistory {
  readonly ou_id: string;
  /** Of the configuration, as far as it is folded. */
  readonly version: number;
  /** The oldest first. */
  readonly lists: readonly LevelList[];
}

const noLevels: LevelList = { since: 0, levels: [] };

/** For a version from before all that are kept, the oldest of them counts. */
const maximumKept = 32;

export function emptyLevelHistory(ouId: string): LevelHistory {
  return { ou_id: ouId, version: 0, lists: [noLevels] };
}

/** Folds a configuration event: versions count every one, as those of the configuration do. */
export function evolveLevels(history: LevelHistory, event: ConfigurationEvent): LevelHistory {
  const version = history.version + 1;
  if (event.type !== 'EngagementLevelsSet') return { ...history, version };
  const added = { since: version, levels: event.payload.levels };
  return { ...history, version, lists: [...history.lists, added].slice(-maximumKept) };
}

/** The levels that the configuration had when it had this version. */
export function levelsAsOf({ lists }: LevelHistory, version: number): LevelList {
  return lists.findLast(({ since }) => since <= version) ?? lists[0] ?? noLevels;
}

/** As far as is folded. */
export function levelsOfNow({ lists }: LevelHistory): Levels {
  return (lists.at(-1) ?? noLevels).levels;
}
