// The profile of a lead: recorded values, and the points that rules give as long as they match. Folded from decisions: pure.
import type { ProfileChange, records } from '@lead-scoring/contracts';
import { withProfileChanges, type ProfileValues } from '@lead-scoring/scoring-domain';

/** The points that a rule gives a lead. */
export interface GivenPoints {
  readonly rule_id: string;
  /** The version of the rule with which the points last changed. */
  readonly rule_version: number;
  readonly ruleset_id: string;
  readonly points: number;
}

export interface LeadProfile {
  readonly values: ProfileValues;
  /** In the order in which the rules began to match. */
  readonly given: readonly GivenPoints[];
  /** The sum of the given points. */
  readonly score: number;
}

export const emptyProfile: LeadProfile = { values: [], given: [], score: 0 };

/** Folds the profile values of a decision on events. */
export function withValues(
  profile: LeadProfile | undefined,
  changes: readonly ProfileChange[] | undefined,
): LeadProfile | undefined {
  if (!changes) return profile;
  const known = profile ?? emptyProfile;
  return { ...known, values: withProfileChanges(known.values, changes) };
}

/** Folds the changes of points of a decision on a profile. */
export function withProfilePoints(
  profile: LeadProfile | undefined,
  { score, adjustments }: { score: number; adjustments: readonly ProfileAdjustment[] },
): LeadProfile {
  const { values, given } = profile ?? emptyProfile;
  const byRule = new Map(given.map((one) => [one.rule_id, one]));
  for (const { rule_id, rule_version, ruleset_id, points } of adjustments) {
    const sum = (byRule.get(rule_id)?.points ?? 0) + points;
    if (sum === 0) byRule.delete(rule_id);
    else byRule.set(rule_id, { rule_id, rule_version, ruleset_id, points: sum });
  }
  return { values, given: [...byRule.values()], score };
}

/** A change of the points that a profile rule gives: positive when the lead begins to match a rule of positive weight. */
export interface ProfileAdjustment extends GivenPoints {
  readonly reason: 'profile_rule';
  /** 0 where points are taken back. */
  readonly counted?: number;
  /** Where points are taken back: 1 when the profile still matches, and the rule or its ruleset is switched off. */
  readonly matched?: number;
}

/** The changes of points in a recorded decision. */
export function profileAdjustmentsIn({
  adjustments,
}: Pick<records.ScoreAdjusted, 'adjustments'>): ProfileAdjustment[] {
  return adjustments.flatMap(({ reason, rule_id, rule_version, ruleset_id, points }) =>
    reason === 'profile_rule' &&
    rule_id !== undefined &&
    rule_version !== undefined &&
    ruleset_id !== undefined
      ? [{ reason, rule_id, rule_version, ruleset_id, points }]
      : [],
  );
}
