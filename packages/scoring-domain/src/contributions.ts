// What each rule gave a lead: folded from the matches in decisions, and put into words. Pure.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from './configuration.js';
import { limitsInWords } from './limits.js';
import { ruleWordsAsOf } from './rule-words.js';

type Driver = routeDeclarations.ScoreExplanation['top_drivers'][number];

/** The points that a rule gave a lead while the rule had one weight. */
export interface Contribution {
  rule_id: string;
  /** Event type of the first event that the rule matched. */
  event_type: string;
  count: number;
  /** Points of each match. */
  weight: number;
  total: number;
  /** Where limits held points back: the matches that counted, in full or in part, and their points. */
  counted?: { count: number; total: number };
  /** The highest version of the rule that matched. */
  rule_version: number;
  ruleset_id: string;
}

/** Contributions by rule and weight, in the order of their first matches. */
export type Contributions = ReadonlyMap<string, Contribution>;

/** Adds a later contribution to the contributions so far. */
export function contribute(to: Map<string, Contribution>, more: Contribution): void {
  const { rule_id, weight, count, total, rule_version } = more;
  const name = `${rule_id} ${String(weight)}`;
  const known = to.get(name);
  to.set(
    name,
    known
      ? {
          ...known,
          count: known.count + count,
          total: known.total + total,
          ...(isLimited(known, more) && { counted: sumOf(countedOf(known), countedOf(more)) }),
          rule_version: Math.max(known.rule_version, rule_version),
        }
      : more,
  );
}

/** The counted part of a contribution: all of it, unless limits held points back. */
export function countedOf({
  count,
  total,
  counted = { count, total },
}: Contribution): NonNullable<Contribution['counted']> {
  return counted;
}

function isLimited(one: Contribution, other: Contribution): boolean {
  return one.counted !== undefined || other.counted !== undefined;
}

function sumOf(one: ReturnType<typeof countedOf>, other: ReturnType<typeof countedOf>) {
  return { count: one.count + other.count, total: one.total + other.total };
}

/** Adds the points that a rule gave for one event. */
export function contributeMatch(
  to: Map<string, Contribution>,
  event_type: string,
  { rule_id, rule_version, ruleset_id, points, counted_points }: records.ScoredEvent['matches'][number],
): void {
  contribute(to, {
    rule_id,
    event_type,
    count: 1,
    weight: points,
    total: points,
    ...(counted_points !== undefined && {
      counted: { count: counted_points === 0 ? 0 : 1, total: counted_points },
    }),
    rule_version,
    ruleset_id,
  });
}

/** The contributions to a score that was computed anew, as its decision records them. */
export function rescoredContributions({
  matches,
}: Pick<records.RescoredEngagement, 'matches'>): Map<string, Contribution> {
  const contributions = new Map<string, Contribution>();
  for (const { points: weight, count, counted, ...match } of matches)
    contribute(contributions, {
      ...match,
      weight,
      count,
      total: weight * count,
      ...(counted && { counted: { count: counted.count, total: counted.points } }),
    });
  return contributions;
}

/**
 * The contribution of each rule with each of its weights, the largest absolute total that counted first. A total is always
 * the count times the weight. A driver has the label and the limits of the latest rule version that contributed to it.
 * @param configuration the present and former labels of the rules
 */
export function driversOf(
  contributions: ReadonlyMap<string, Omit<Contribution, 'ruleset_id'>>,
  configuration: ScoringConfiguration,
): Driver[] {
  return [...contributions.values()]
    .map(({ rule_id, event_type, count, weight, total, counted, rule_version }): Driver => {
      const rule = ruleWordsAsOf(configuration, rule_id, rule_version);
      const limits = counted && rule && limitsInWords(rule);
      return {
        rule_id,
        event_type: rule?.event_type ?? event_type,
        count,
        weight,
        total,
        ...(rule?.filter_label !== undefined && { filter_label: rule.filter_label }),
        ...(rule?.label !== undefined && { label: rule.label }),
        rule_version,
        ...(counted && { counted: counted.count, counted_total: counted.total }),
        ...(limits !== undefined && { limits }),
      };
    })
    .sort(
      (a, b) =>
        Math.abs(totalOf(b)) - Math.abs(totalOf(a)) ||
        b.count - a.count ||
        b.total - a.total ||
        (a.rule_id < b.rule_id ? -1 : 1),
    );
}

function totalOf({ total, counted_total = total }: Driver): number {
  return counted_total;
}
