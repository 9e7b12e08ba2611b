// The profile of a lead: recorded values, and the points that rules give as long as they match. Folded from decisions: pure.
import type { ProfileChange, records } from '@lead-scoring/contracts';
import { withProfileChanges, type ProfileValues } from '@lead-scoring/scoring-domain';
import { withPointChanges, type GivenPoints, type PointChange } from '../condition-rules/points-model.js';

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
  return { values, given: withPointChanges(given, adjustments), score };
}

/** A change of the points that a profile rule gives. */
export interface ProfileAdjustment extends PointChange {
  readonly reason: 'profile_rule';
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
