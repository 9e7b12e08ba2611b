// The lists of levels that an OU has had, each with the configuration version that introduced it. A decision names the
// configuration version, and so the levels that counted. A list has the levels of engagement and those of profile scores. Pure.
import type { ConfigurationEvent } from './configuration-events.js';
import type { ScoringConfiguration } from './configuration.js';
import type { ScoreLevels } from './levels.js';

export type Levels = ScoringConfiguration['levels'];

export interface LevelList extends ScoreLevels {
  /** The first configuration version with this list. */
  readonly since: number;
}

export interface LevelHistory {
  readonly ou_id: string;
  /** Version of the OU's configuration after the folded events. */
  readonly version: number;
  /** The oldest list first. */
  readonly lists: readonly LevelList[];
}

const noLevels: LevelList = { since: 0, levels: [] };

/** Number of lists kept. Versions older than the oldest kept list use that list. */
const maximumKept = 32;

export function emptyLevelHistory(ouId: string): LevelHistory {
  return { ou_id: ouId, version: 0, lists: [noLevels] };
}

/** Folds a configuration event. Every event increases the version by 1, as in the configuration itself. */
export function evolveLevels(history: LevelHistory, event: ConfigurationEvent): LevelHistory {
  const version = history.version + 1;
  const changed = changeOfLevels(event);
  if (!changed) return { ...history, version };
  const added = { ...levelsOfNow(history), ...changed, since: version };
  return { ...history, version, lists: [...history.lists, added].slice(-maximumKept) };
}

function changeOfLevels(event: ConfigurationEvent): Partial<ScoreLevels> | null {
  switch (event.type) {
    case 'EngagementLevelsSet':
      return { levels: event.payload.levels };
    case 'ProfileLevelsSet':
      return { profile_levels: event.payload.levels };
    default:
      return null;
  }
}

/** The levels in this version of the configuration. */
export function levelsAsOf({ lists }: LevelHistory, version: number): LevelList {
  return lists.findLast(({ since }) => since <= version) ?? lists[0] ?? noLevels;
}

/** The levels after the folded events. */
export function levelsOfNow({ lists }: LevelHistory): LevelList {
  return lists.at(-1) ?? noLevels;
}
