// Engagement levels: names for ranges of scores. A level is computed whenever a score is read, so a change of the
// levels recomputes no scores. Pure.
import type { routeDeclarations } from '@lead-scoring/contracts';

type EngagementLevel = routeDeclarations.EngagementLevel;
type LeadLevel = routeDeclarations.LeadLevel;

/** The level of a score: the first level whose bounds, both inclusive, contain it. */
export function levelOf(levels: readonly EngagementLevel[], score: number): LeadLevel | null {
  for (const { id, name, color, min_score, max_score } of levels)
    if ((min_score ?? -Infinity) <= score && score <= (max_score ?? Infinity)) return { id, name, color };
  return null;
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
