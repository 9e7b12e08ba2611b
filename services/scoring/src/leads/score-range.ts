// The range of scores of a list: from the bounds and the level of its query.
import type { GridCell, LeadScoreType, routeDeclarations } from '@lead-scoring/contracts';
import { levelNamed, levelsOfScore, rangesOf, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { ProblemError } from '@lead-scoring/service';
import type { ScoreRange } from './histogram-fold.js';

export const everyScore: ScoreRange = { low: -(2 ** 31), high: 2 ** 31 - 1 };

/** The scores of leads that stand out. */
export const aboveZero: ScoreRange = { low: 1, high: everyScore.high };

/** The range of each score. */
export type ScoreRanges = Readonly<Record<LeadScoreType, ScoreRange>>;

export const everyScores: ScoreRanges = {
  engagement: everyScore,
  profile: everyScore,
  deal: everyScore,
};

export type LevelBounds = Pick<routeDeclarations.EngagementLevel, 'min_score' | 'max_score'>;

export const everyLevel: LevelBounds = { min_score: null, max_score: null };

/** @throws ProblemError 404 `level_not_found` */
export function requireLevel(
  configuration: ScoringConfiguration,
  scoreType: LeadScoreType,
  idOrName: string,
): LevelBounds {
  const level = levelNamed(levelsOfScore(configuration, scoreType), idOrName);
  if (!level)
    throw new ProblemError(
      404,
      'level_not_found',
      `No ${scoreType} level of this organizational unit has this id or name. GET /${scoreType}-scoring/levels lists them.`,
    );
  return level;
}

/** @throws ProblemError 404 `grid_not_found` */
export function requireCell({ grid }: ScoringConfiguration, cell: GridCell): ScoreRanges {
  if (!grid)
    throw new ProblemError(
      404,
      'grid_not_found',
      'This organizational unit has no grid of profile by engagement. PUT /scoring/grid sets it.',
    );
  return { ...everyScores, ...rangesOf(grid, cell) };
}

/** The intersection of the requested bounds with the level's and the grid's. */
export function scoreRange(
  { min_score, max_score }: { min_score?: number | undefined; max_score?: number | undefined },
  level: LevelBounds,
  cell: ScoreRange = everyScore,
): ScoreRange {
  return {
    low: Math.max(Math.ceil(min_score ?? everyScore.low), level.min_score ?? everyScore.low, cell.low),
    high: Math.min(Math.floor(max_score ?? everyScore.high), level.max_score ?? everyScore.high, cell.high),
  };
}
