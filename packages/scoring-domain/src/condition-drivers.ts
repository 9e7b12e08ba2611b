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

/**
 * The rules that give a lead deal points: one driver for each rule and weight, whose count is the number of deals.
 * @param given a rule comes once for each deal that meets it
 */
export function dealDriversOf(
  given: readonly GivenPoints[],
  configuration: ScoringConfiguration,
): ConditionDriver[] {
  return driversOfGiven(countedByWeight(given), configuration, {
    rules: (configuration.deals ?? noDeals).rules,
    event_type: dealEventType,
  });
}

/** By rule and points, each with the latest version of the rule. */
function countedByWeight(given: readonly GivenPoints[]): CountedPoints[] {
  const byWeight = new Map<string, CountedPoints>();
  for (const one of given) {
    const name = `${one.rule_id} ${String(one.points)}`;
    const { count = 0, rule_version = 0 } = byWeight.get(name) ?? {};
    byWeight.set(name, {
      ...one,
      count: count + 1,
      rule_version: Math.max(rule_version, one.rule_version),
    });
  }
  return [...byWeight.values()];
}

/** Points that a rule gives, and how often. */
type CountedPoints = GivenPoints & { readonly count?: number };

function driversOfGiven(
  given: readonly CountedPoints[],
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
    (one, other) =>
      Math.abs(other.total) - Math.abs(one.total) ||
      other.weight - one.weight ||
      (one.rule_id < other.rule_id ? -1 : 1),
  );
}

export function driverOf(
  {
    rule_id,
    rule_version,
    points,
    count = 1,
    event_type,
  }: Pick<CountedPoints, 'rule_id' | 'rule_version' | 'points' | 'count'> & { event_type: string },
  rule: WordsOfRule | undefined,
): ConditionDriver {
  return {
    rule_id,
    event_type,
    count,
    weight: points,
    total: count * points,
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

/** The words for what meets a rule, and for the weight by which the rule then counts. */
export interface SubjectWords {
  readonly subject: string;
  readonly weight: string;
}

export interface WordedChange {
  readonly points: number;
  /** 0: points are taken back. */
  readonly counted?: number | undefined;
  /** Why points are taken back: 0 where the rule is no longer met, 1 where it is. */
  readonly matched?: number | undefined;
}

/**
 * `+20: the profile began to meet "Decision maker" (title contains "vp").`
 * @param before the points that the rule gave the subject
 */
export function changeInWords(
  { subject, weight }: SubjectWords,
  { points, counted, matched }: WordedChange,
  before: number,
  rule: WordsOfRule | undefined,
): string {
  const sign = signed(points);
  const name = nameOfRule(rule);
  const after = before + points;
  // A change with `counted` 0 takes points back even if no recorded decision gave them.
  if (counted !== 0 && before === 0) return `${sign}: ${subject} began to meet ${name}.`;
  if (counted !== 0 && after !== 0)
    return `${sign}: ${weight} of ${name} was changed from ${String(before)} to ${String(after)}.`;
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
