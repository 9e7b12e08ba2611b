// The rules over conditions that give a lead a profile or a deal score, in the words of explanations. Pure.
import type { routeDeclarations } from '@lead-scoring/contracts';
import type { ConditionRule } from './condition-rules.js';
import type { ScoringConfiguration } from './configuration.js';
import { dealEventType, noDeals } from './deal-configuration.js';
import { shortenLabel } from './filter-label.js';
import type { GivenPoints } from './given-points.js';
import { noProfile, profileEventType } from './profile-configuration.js';
import { ruleWordsAsOf, type RuleWords } from './rule-words.js';

export type ConditionDriver = routeDeclarations.ScoreExplanation['top_drivers'][number];
export type WordsOfRule = Pick<RuleWords, 'label' | 'filter_label'>;

/** The rules that give a lead profile points, in the words of now, the largest absolute points first. */
export function profileDriversOf(
  given: readonly GivenPoints[],
  configuration: ScoringConfiguration,
): ConditionDriver[] {
  return driversOfGiven(given, configuration, {
    rules: (configuration.profile ?? noProfile).rules,
    event_type: profileEventType,
  });
}

/** The same of the deals of a lead: a rule that several deals meet is named once. */
export function dealDriversOf(
  given: readonly GivenPoints[],
  configuration: ScoringConfiguration,
): ConditionDriver[] {
  return driversOfGiven(given, configuration, {
    rules: (configuration.deals ?? noDeals).rules,
    event_type: dealEventType,
  });
}

function driversOfGiven(
  given: readonly GivenPoints[],
  configuration: ScoringConfiguration,
  { rules, event_type }: { rules: ReadonlyMap<string, ConditionRule>; event_type: string },
): ConditionDriver[] {
  return largestFirst(
    given.map((one) =>
      driverOf(
        { ...one, event_type },
        rules.get(one.rule_id) ?? ruleWordsAsOf(configuration, one.rule_id, one.rule_version),
      ),
    ),
  );
}

export function largestFirst(drivers: Iterable<ConditionDriver>): ConditionDriver[] {
  return [...drivers].sort(
    (one, other) => Math.abs(other.total) - Math.abs(one.total) || (one.rule_id < other.rule_id ? -1 : 1),
  );
}

export function driverOf(
  {
    rule_id,
    rule_version,
    points,
    event_type,
  }: Pick<GivenPoints, 'rule_id' | 'rule_version' | 'points'> & { event_type: string },
  rule: WordsOfRule | undefined,
): ConditionDriver {
  return {
    rule_id,
    event_type,
    count: 1,
    weight: points,
    total: points,
    ...(rule?.filter_label !== undefined && { filter_label: rule.filter_label }),
    ...(rule?.label !== undefined && { label: rule.label }),
    rule_version,
  };
}

/** The weights of the rules that could give points. */
export function activeWeights(
  rules: Iterable<ConditionRule>,
  rulesets: ScoringConfiguration['rulesets'],
  { event_type, maximum }: { event_type: string; maximum: number },
): { event_type: string; weight: number }[] {
  return [...rules]
    .filter((rule) => rule.active && rulesets.get(rule.ruleset_id)?.active === true)
    .slice(0, maximum)
    .map(({ weight }) => ({ event_type, weight }));
}

/**
 * `+20: the profile began to meet "Decision maker" (title contains "vp").`
 * @param subject what meets the rule
 * @param before the points that the rule gave it
 */
export function changeInWords(
  subject: string,
  { points, matched }: { points: number; matched?: number | undefined },
  before: number,
  rule: WordsOfRule | undefined,
): string {
  const sign = signed(points);
  const name = nameOfRule(rule);
  if (before === 0) return `${sign}: ${subject} began to meet ${name}.`;
  if (before + points !== 0)
    return `${sign}: the weight of ${name} was changed from ${String(before)} to ${String(before + points)}.`;
  switch (matched) {
    case 0:
      return `${sign}: ${subject} no longer meets ${name}.`;
    case 1:
      return `${sign}: ${name} was switched off, by itself or with its ruleset.`;
    default:
      return `${sign}: ${name} gives no points any more.`;
  }
}

export function signed(points: number): string {
  return points > 0 ? `+${String(points)}` : String(points);
}

/** `"Decision maker" (title contains "vp")` */
export function nameOfRule(rule: WordsOfRule | undefined): string {
  if (!rule) return 'a rule that was deleted since';
  const label = rule.label === undefined ? 'the rule' : `"${rule.label}"`;
  return `${label} (${shortenLabel(rule.filter_label ?? '', 500)})`;
}
