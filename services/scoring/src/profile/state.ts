// The profile of a lead: recorded values, and the points that rules give as long as they match. Folded from decisions: pure.
import type { ProfileChange, records } from '@lead-scoring/contracts';
import {
  withHeldChanges,
  withProfileChanges,
  type HeldPoints,
  type ProfileValues,
} from '@lead-scoring/scoring-domain';
import { withPointChanges, type GivenPoints, type PointChange } from '../condition-rules/points-model.js';

export interface LeadProfile {
  readonly values: ProfileValues;
  /** In the order in which the rules began to match. */
  readonly given: readonly GivenPoints[];
  /** Points that limits of rulesets hold; absent where they hold none. */
  readonly held?: readonly HeldPoints[] | undefined;
  /** The sum of the given and the held points. */
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
  const { values, given, held: before = [] } = profile ?? emptyProfile;
  const held = withHeldChanges(
    before,
    adjustments.filter((one) => one.reason === 'held_by_ruleset'),
  );
  return {
    values,
    given: withPointChanges(
      given,
      adjustments.filter((one) => one.reason === 'profile_rule'),
    ),
    ...(held.length > 0 && { held }),
    score,
  };
}

/** A change of the points of a profile, by a rule or by the limits of a ruleset. */
export type ProfileAdjustment =
  (PointChange & { readonly reason: 'profile_rule' }) | (HeldPoints & { readonly reason: 'held_by_ruleset' });

/** The changes of points in a recorded decision. */
export function profileAdjustmentsIn({
  adjustments,
}: Pick<records.ScoreAdjusted, 'adjustments'>): ProfileAdjustment[] {
  return adjustments.flatMap(({ reason, rule_id, rule_version, ruleset_id, points }): ProfileAdjustment[] => {
    if (ruleset_id === undefined) return [];
    if (reason === 'held_by_ruleset') return [{ reason, ruleset_id, points }];
    if (reason !== 'profile_rule' || rule_id === undefined || rule_version === undefined) return [];
    return [{ reason, rule_id, rule_version, ruleset_id, points }];
  });
}
