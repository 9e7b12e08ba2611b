// Levels: names for ranges of scores. A level is computed whenever a score is read, so a change of the
// levels recomputes no scores. Pure.
import type { LeadScoreType, routeDeclarations } from '@lead-scoring/contracts';

type EngagementLevel = routeDeclarations.EngagementLevel;
type LeadLevel = routeDeclarations.LeadLevel;

/** The levels of an OU's scores. A configuration has them, and so has each list of the history of levels. */
export interface ScoreLevels {
  /** Of engagement scores. */
  readonly levels: readonly EngagementLevel[];
  /** Of profile scores. Absent until they are set for the first time. */
  readonly profile_levels?: readonly EngagementLevel[];
}

/** Deal scores have no levels. */
const noLevels: readonly EngagementLevel[] = [];

export function levelsOfScore(
  { levels, profile_levels = [] }: ScoreLevels,
  scoreType: LeadScoreType,
): readonly EngagementLevel[] {
  switch (scoreType) {
    case 'engagement':
      return levels;
    case 'profile':
      return profile_levels;
    case 'deal':
      return noLevels;
  }
}

export type LevelBounds = Pick<EngagementLevel, 'min_score' | 'max_score'>;

/** The first level whose bounds, both inclusive, contain the score. */
export function levelHolding<Level extends LevelBounds>(
  levels: readonly Level[],
  score: number,
): Level | null {
  for (const level of levels) {
    const { min_score, max_score } = level;
    if ((min_score === null || min_score <= score) && (max_score === null || score <= max_score))
      return level;
  }
  return null;
}

/** The level of a score, as answers name it. */
export function levelOf(levels: readonly EngagementLevel[], score: number): LeadLevel | null {
  const level = levelHolding(levels, score);
  return level && { id: level.id, name: level.name, color: level.color };
}

/** The level with this id, or with this name in any case. */
export function levelNamed(
  levels: readonly EngagementLevel[],
  idOrName: string,
): EngagementLevel | undefined {
  const wanted = idOrName.toLowerCase();
  return levels.find(({ id }) => id === wanted) ?? levelOfName(levels, idOrName);
}

/** The level with this name, in any case. */
export function levelOfName(levels: readonly EngagementLevel[], name: string): EngagementLevel | undefined {
  const wanted = name.toLowerCase();
  return levels.find((level) => level.name.toLowerCase() === wanted);
}
