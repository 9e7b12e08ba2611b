// The profile of a lead: recorded values, and the points that rules give as long as they match. Folded from decisions: pure.
import type { ProfileChange, records } from '@lead-scoring/contracts';
import {
  withHeldChanges,
  withProfileChanges,
  type HeldPoints,
  type KnownValue,
  type ProfileValues,
} from '@lead-scoring/scoring-domain';
import { withPointChanges, type GivenPoints, type PointChange } from '../condition-rules/points-model.js';

export interface LeadProfile {
  readonly values: ProfileValues;
  /** Values from what callers have set, in place of those from events; absent where there are none. */
  readonly overrides?: readonly KnownValue[] | undefined;
  /** In the order in which the rules began to match. */
  readonly given: readonly GivenPoints[];
  /** Points that limits of rulesets hold; absent where they hold none. */
  readonly held?: readonly HeldPoints[] | undefined;
  /** The sum of the given and the held points. */
  readonly score: number;
}

export const emptyProfile: LeadProfile = { values: [], given: [], score: 0 };

/** Folds the profile values of a decision. */
export function withValues(
  profile: LeadProfile | undefined,
  { profile: changes, profile_overrides }: Pick<records.LeadScored, 'profile' | 'profile_overrides'>,
): LeadProfile | undefined {
  if (!changes && !profile_overrides) return profile;
  const known = profile ?? emptyProfile;
  const changed = changes ? { ...known, values: withProfileChanges(known.values, changes) } : known;
  return profile_overrides ? withOverrides(changed, profile_overrides) : changed;
}

/** The profile with these values from what callers have set, and no others. */
export function withOverrides(
  { values, given, held, score }: LeadProfile,
  changes: readonly ProfileChange[] = [],
): LeadProfile {
  const overrides = withProfileChanges([], changes);
  return { values, ...(overrides.length > 0 && { overrides }), given, ...(held && { held }), score };
}

/** Folds the changes of points of a decision on a profile. */
export function withProfilePoints(
  profile: LeadProfile | undefined,
  { score, adjustments }: { score: number; adjustments: readonly ProfileAdjustment[] },
): LeadProfile {
  const { values, overrides, given, held: before = [] } = profile ?? emptyProfile;
  const held = withHeldChanges(
    before,
    adjustments.filter((one) => one.reason === 'held_by_ruleset'),
  );
  return {
    values,
    ...(overrides && { overrides }),
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
