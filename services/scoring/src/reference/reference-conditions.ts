// Rules over conditions written a second time, for tests: which points they give what has the fields, within the limits of rulesets.
// Plain, from SPEC.md, API.md and the decisions and not from the code. It imports nothing of the service.

/** A rule over conditions as a person has set it. */
export interface ReferenceConditionRule<Facts> {
  id: string;
  ruleset: string;
  weight: number;
  active: boolean;
  /** Whether the facts meet all of its conditions. */
  meets: (facts: Facts) => boolean;
}

export interface ReferenceConditionRuleset {
  active: boolean;
  min_score?: number | null;
  max_score?: number | null;
}

/** The points that rules give, and those that limits of rulesets hold of them. */
export interface Points {
  /** By rule. */
  given: Map<string, { weight: number; ruleset: string }>;
  /** By ruleset; negative above its max_score. */
  held: Map<string, number>;
}

/** The rules of one kind of an organisational unit. */
export class ReferenceConditions<Facts> {
  readonly rules = new Map<string, ReferenceConditionRule<Facts>>();
  readonly rulesets = new Map<string, ReferenceConditionRuleset>();

  /** The points that the rules in force give. */
  due(facts: Facts): Points {
    const points = noPoints();
    const sums = new Map<string, number>();
    for (const { id, ruleset, weight, active, meets } of this.rules.values()) {
      if (!active || this.rulesets.get(ruleset)?.active !== true || !meets(facts)) continue;
      points.given.set(id, { weight, ruleset });
      sums.set(ruleset, (sums.get(ruleset) ?? 0) + weight);
    }
    for (const [ruleset, sum] of sums) {
      const { min_score, max_score } = this.rulesets.get(ruleset) ?? {};
      const within = Math.max(min_score ?? -Infinity, Math.min(max_score ?? Infinity, sum));
      points.held.set(ruleset, within - sum);
    }
    return { given: points.given, held: withoutZeros(points.held) };
  }
}

export const noPoints = (): Points => ({ given: new Map(), held: new Map() });

export function scoreOf({ given, held }: Points): number {
  let score = 0;
  for (const { weight } of given.values()) score += weight;
  for (const points of held.values()) score += points;
  return score;
}

export function withoutZeros(points: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...points].filter(([, sum]) => sum !== 0));
}
