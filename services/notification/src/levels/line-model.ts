// Where the milestone of a trigger lies: at a score that the trigger says, or where a level of the OU begins.
import type { records } from '@lead-scoring/contracts';
import { levelOfName, type ScoringConfiguration } from '@lead-scoring/scoring-domain';

export type Levels = ScoringConfiguration['levels'];

export interface Line {
  readonly threshold: number;
  /** The level whose bound it is, as the OU spells it; null: the trigger says the threshold itself. */
  readonly level: string | null;
  readonly direction: records.MilestoneDefinition['direction'];
  readonly rearm: Pick<records.MilestoneDefinition['rearm'], 'below' | 'above'>;
}

/** null: the trigger's level is not among these, or takes every score below another and so has no line to be passed. */
export function lineOf(
  { score_threshold, level: name, direction, rearm }: records.MilestoneDefinition,
  levels: Levels,
): Line | null {
  if (score_threshold !== undefined) return { threshold: score_threshold, level: null, direction, rearm };
  const level = name === undefined ? undefined : levelOfName(levels, name);
  if (!level || level.min_score === null) return null;
  return { threshold: level.min_score, level: level.name, direction, rearm };
}
