// Decides on limits of rules and rulesets: which combinations make sense, and what a change leaves. Pure.
import type { records } from '@lead-scoring/contracts';
import { rulesetLimitsOf, type RuleLimits, type RulesetLimits } from '@lead-scoring/scoring-domain';
import type { ConfigurationDecision } from './messages.js';

type Rejection = Extract<ConfigurationDecision, { outcome: 'rejected' }>;

/** The refusal of limits that contradict each other or could never hold a point back; null if they make sense. */
export function senselessRuleLimits({
  weight,
  max_count,
  once_per,
  cap_points,
  cap_days,
}: RuleLimits & { weight: number }): Rejection | null {
  if (once_per === 'lead') {
    if (max_count !== undefined)
      return refused(
        'max_count',
        'must be left out: once_per lead counts one event',
        'once_per lead counts one event of a lead, so max_count has no meaning beside it. Leave one of the two out.',
      );
    if (cap_points !== undefined)
      return refused(
        'cap_points',
        'must be left out: once_per lead counts one event',
        'once_per lead counts one event of a lead, so cap_points would hold nothing back. Leave cap_points and cap_days out.',
      );
  }
  if (cap_days !== undefined && cap_points === undefined)
    return refused(
      'cap_days',
      'must have cap_points beside it',
      'cap_days says for how many days cap_points holds. Add cap_points, or leave cap_days out.',
    );
  const size = Math.abs(weight);
  if (cap_points !== undefined && cap_points < size)
    return refused(
      'cap_points',
      `must be at least ${String(size)}, the points of one event`,
      `No event would count in full: one event has ${String(size)} points, and cap_points is ${String(cap_points)}. Raise cap_points, or bring the weight nearer to 0.`,
    );
  return null;
}

/** The refusal of limits that leave a ruleset no points; null if they make sense. */
export function senselessRulesetLimits({ min_score, max_score }: RulesetLimits): Rejection | null {
  if (min_score !== 0 || max_score !== 0) return null;
  return refused(
    'max_score',
    'must be above min_score',
    'Between min_score 0 and max_score 0 the ruleset would give no points. Raise max_score or lower min_score; to stop the ruleset, set active to false.',
  );
}

/** The limits of a ruleset after a command: null takes a limit away, and an absent field keeps it. */
export function rulesetLimitsAfter(
  known: RulesetLimits,
  { min_score, max_score }: Pick<records.UpdateRuleset, 'min_score' | 'max_score'>,
): RulesetLimits {
  return rulesetLimitsOf({
    min_score: min_score === undefined ? known.min_score : (min_score ?? undefined),
    max_score: max_score === undefined ? known.max_score : (max_score ?? undefined),
  });
}

export function hasSameRulesetLimits(one: RulesetLimits, other: RulesetLimits): boolean {
  return one.min_score === other.min_score && one.max_score === other.max_score;
}

function refused(field: string, message: string, whole: string): Rejection {
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: whole,
    errors: [{ path: `body.${field}`, message }],
  };
}
