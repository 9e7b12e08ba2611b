// Whether a score that changes comes to another level, by one list of levels. Pure.
import type { records } from '@lead-scoring/contracts';
import { levelHolding, type LevelBounds } from './levels.js';

/** The levels in a LeadLevelChanged. */
export type LevelCrossing = Pick<records.LeadLevelChanged, 'previous_level_id' | 'level_id' | 'level_name'>;

type NamedLevel = LevelBounds & { readonly id: string; readonly name: string };

/**
 * The crossing that a change of a score is; null where the score stays in its level.
 * @param levels those of the configuration that decides, for both scores
 * @param before null: the lead is new, and comes from no level
 */
export function crossingOf(
  levels: readonly NamedLevel[],
  before: number | null,
  after: number,
): LevelCrossing | null {
  if (levels.length === 0 || before === after) return null;
  const from = before === null ? null : levelHolding(levels, before);
  const to = levelHolding(levels, after);
  if (from === to) return null;
  return { previous_level_id: from?.id ?? null, level_id: to?.id ?? null, level_name: to?.name ?? null };
}
