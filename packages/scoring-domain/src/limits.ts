// The limits of rules and rulesets, and the sentences that explain what they held back. Pure.
import { records, type routeDeclarations } from '@lead-scoring/contracts';

type Rule = routeDeclarations.Rule;
type Ruleset = routeDeclarations.Ruleset;

export type RuleLimits = Pick<Rule, 'max_count' | 'once_per' | 'cap_points' | 'cap_days'>;
export type RulesetLimits = Pick<Ruleset, 'min_score' | 'max_score'>;

/** The limits that a rule has; absent limits are absent in the result. */
export function ruleLimitsOf({ max_count, once_per, cap_points, cap_days }: RuleLimits): RuleLimits {
  return {
    ...(max_count !== undefined && { max_count }),
    ...(once_per !== undefined && { once_per }),
    ...(cap_points !== undefined && { cap_points }),
    ...(cap_days !== undefined && { cap_days }),
  };
}

/** The limits that a ruleset has; absent limits are absent in the result. */
export function rulesetLimitsOf({ min_score, max_score }: RulesetLimits): RulesetLimits {
  return { ...(min_score !== undefined && { min_score }), ...(max_score !== undefined && { max_score }) };
}

export function hasSameLimits(one: RuleLimits, other: RuleLimits): boolean {
  return (
    one.max_count === other.max_count &&
    one.once_per === other.once_per &&
    one.cap_points === other.cap_points &&
    one.cap_days === other.cap_days
  );
}

/** The metadata field of `once_per: value:<field>`. */
export function onceFieldOf({ once_per }: RuleLimits): string | undefined {
  return once_per?.startsWith(records.oncePerValue) ? once_per.slice(records.oncePerValue.length) : undefined;
}

/** A rule's limits in words: `at most 3 a lead and at most 50 points in 7 days`. Undefined without limits. */
export function limitsInWords(limits: RuleLimits): string | undefined {
  const { max_count, once_per, cap_points, cap_days } = limits;
  const field = onceFieldOf(limits);
  const words = [
    ...(once_per === 'lead' ? ['once a lead'] : []),
    ...(field === undefined ? [] : [`once for each ${field}`]),
    ...(max_count === undefined ? [] : [`at most ${grouped(max_count)} a lead`]),
    ...(cap_points === undefined
      ? []
      : [
          `at most ${counted(cap_points, 'point')} ${cap_days === undefined ? 'a lead' : daysInWords(cap_days)}`,
        ]),
  ];
  return words.length === 0 ? undefined : words.join(' and ');
}

function daysInWords(days: number): string {
  return days === 1 ? 'a day' : `in ${counted(days, 'day')}`;
}

function counted(count: number, one: string): string {
  return `${grouped(count)} ${one}${count === 1 ? '' : 's'}`;
}

const grouping = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** `1,234`: the same whatever the locale of the machine. */
export function grouped(value: number): string {
  return grouping.format(value);
}
