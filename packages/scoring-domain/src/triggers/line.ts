// The line of a milestone: the score that it crosses, which is the trigger's own threshold or the lower bound of a level.
import type { records } from '@lead-scoring/contracts';
import { levelOfName, levelsOfScore, type ScoreLevels } from '../levels.js';

export interface Line {
  readonly threshold: number;
  /** Name of the level whose bound is the threshold, in the OU's spelling; null: the threshold is the trigger's own. */
  readonly level: string | null;
  readonly direction: records.MilestoneDefinition['direction'];
  readonly rearm: Pick<records.MilestoneDefinition['rearm'], 'below' | 'above'>;
}

/** The line of a milestone; null where its level is not among those of its score or has no lower bound. */
export function lineOf(
  { score_type, score_threshold, level: name, direction, rearm }: records.MilestoneDefinition,
  levels: ScoreLevels,
): Line | null {
  if (score_threshold !== undefined) return { threshold: score_threshold, level: null, direction, rearm };
  // Accounts have no levels.
  if (name === undefined || score_type === 'account') return null;
  const level = levelOfName(levelsOfScore(levels, score_type), name);
  if (!level || level.min_score === null) return null;
  return { threshold: level.min_score, level: level.name, direction, rearm };
}
