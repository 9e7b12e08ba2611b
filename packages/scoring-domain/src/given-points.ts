// The points that rules with conditions give as long as they match, folded from the recorded changes. Pure.
/** The points that a rule gives. */
export interface GivenPoints {
  readonly rule_id: string;
  /** The version of the rule with which the points last changed. */
  readonly rule_version: number;
  readonly ruleset_id: string;
  readonly points: number;
}

/** A change of the points that a rule gives: positive where the fields begin to match a rule of positive weight. */
export interface PointChange extends GivenPoints {
  /** 0 where points are taken back. */
  readonly counted?: number;
  /** Where points are taken back: 1 when the fields still match, and the rule or its ruleset is switched off. */
  readonly matched?: number;
}

/** An adjustment of a recorded decision on a profile, deal or account score. */
export interface RecordedAdjustment {
  readonly reason: string;
  readonly points: number;
  readonly rule_id?: string | undefined;
  readonly rule_version?: number | undefined;
  readonly ruleset_id?: string | undefined;
}

const reasonsOfRules: ReadonlySet<string> = new Set(['profile_rule', 'deal_rule', 'account_rule']);

/** The changes of the points of rules. */
export function pointChangesIn(adjustments: readonly RecordedAdjustment[]): GivenPoints[] {
  return adjustments.flatMap(({ reason, rule_id, rule_version, ruleset_id, points }) =>
    reasonsOfRules.has(reason) &&
    rule_id !== undefined &&
    rule_version !== undefined &&
    ruleset_id !== undefined
      ? [{ rule_id, rule_version, ruleset_id, points }]
      : [],
  );
}

/** Folds changes of points. Rules are in the order in which they began to match. */
export function withPointChanges(
  given: readonly GivenPoints[],
  changes: readonly GivenPoints[],
): readonly GivenPoints[] {
  const byRule = new Map(given.map((one) => [one.rule_id, one]));
  for (const { rule_id, rule_version, ruleset_id, points } of changes) {
    const sum = (byRule.get(rule_id)?.points ?? 0) + points;
    if (sum === 0) byRule.delete(rule_id);
    else byRule.set(rule_id, { rule_id, rule_version, ruleset_id, points: sum });
  }
  return [...byRule.values()];
}

export function sumOfPoints(changes: readonly { readonly points: number }[]): number {
  return changes.reduce((sum, { points }) => sum + points, 0);
}
