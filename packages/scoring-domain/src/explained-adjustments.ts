// Points that were given or taken without a match, or held back from matches, by cause and in words. Pure.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from './configuration.js';
import { countedOf, type Contribution, type Contributions } from './contributions.js';
import { grouped, limitsInWords } from './limits.js';
import { ruleWordsAsOf } from './rule-words.js';

type Adjustment = NonNullable<routeDeclarations.ScoreExplanation['adjustments']>[number];

/** An adjustment before it is put into words. */
type Sum = Omit<Adjustment, 'text' | 'label' | 'counted' | 'matched'>;

/** Sums adjustments: one sum for each rule, for each ruleset and direction, and for each other reason. */
export class AdjustmentTally {
  readonly #sums = new Map<string, Sum>();

  /** Adds an adjustment of a decision that belongs to no single event. */
  add({ reason, points }: records.ScoreAdjustment, decidedAt: string): void {
    this.#add(reason, { reason, count: 1, points, last_at: decidedAt });
  }

  /** Adds what limits held back of an event. */
  addEvent({ matches, ruleset_adjustments = [] }: records.ScoredEvent, decidedAt: string): void {
    for (const { rule_id, rule_version, ruleset_id, points, counted_points } of matches)
      if (counted_points !== undefined)
        this.#add(rule_id, {
          reason: 'capped_by_rule',
          count: 1,
          points: counted_points - points,
          last_at: decidedAt,
          ruleset_id,
          rule_id,
          rule_version,
        });
    for (const { ruleset_id, points } of ruleset_adjustments)
      this.#add(`${ruleset_id} ${points < 0 ? 'down' : 'up'}`, {
        reason: 'held_by_ruleset',
        count: 1,
        points,
        last_at: decidedAt,
        ruleset_id,
      });
  }

  /** Adds what limits and decay rules took of a score that was computed anew. */
  addRescored({ matches, others }: records.RescoredEngagement, decidedAt: string): void {
    for (const { rule_id, rule_version, ruleset_id, points, count, counted } of matches)
      if (counted)
        this.#add(rule_id, {
          reason: 'capped_by_rule',
          count: Math.max(1, count - counted.count),
          points: counted.points - points * count,
          last_at: decidedAt,
          ruleset_id,
          rule_id,
          rule_version,
        });
    for (const { reason, ruleset_id, points } of others) {
      const sum = { reason, count: 1, points, last_at: decidedAt };
      if (reason === 'held_by_ruleset' && ruleset_id !== undefined)
        this.#add(`${ruleset_id} ${points < 0 ? 'down' : 'up'}`, { ...sum, ruleset_id });
      else this.#add(reason, sum);
    }
  }

  clear(): void {
    this.#sums.clear();
  }

  /**
   * The adjustments in words, the largest first.
   * @param contributions of the same events
   * @param configuration the present and former labels and limits of the rules
   */
  inWords(contributions: Contributions, configuration: ScoringConfiguration): Adjustment[] {
    const all = [...contributions.values()];
    return [...this.#sums.values()]
      .map((sum) => {
        if (sum.reason === 'capped_by_rule')
          return cappedInWords(
            sum,
            all.filter(({ rule_id }) => rule_id === sum.rule_id),
            configuration,
          );
        return sum.reason === 'held_by_ruleset'
          ? heldInWords(sum, configuration)
          : { ...sum, text: otherReasons[sum.reason] };
      })
      .sort((a, b) => Math.abs(b.points) - Math.abs(a.points));
  }

  #add(name: string, more: Sum): void {
    const known = this.#sums.get(name);
    if (!known) {
      this.#sums.set(name, more);
      return;
    }
    const { rule_version = 0 } = more;
    this.#sums.set(name, {
      ...known,
      count: known.count + more.count,
      points: known.points + more.points,
      last_at: more.last_at > known.last_at ? more.last_at : known.last_at,
      ...(known.rule_version !== undefined && { rule_version: Math.max(known.rule_version, rule_version) }),
    });
  }
}

export const otherReasons = {
  held_at_largest_score: 'Held at the largest score that there is',
  held_at_smallest_score: 'Held at the smallest score that there is',
  reset: 'The score was restarted from zero',
  profile_rule: 'The profile began or ceased to meet a rule',
  deal_rule: 'A deal began or ceased to meet a rule',
  deal: 'Points of deals as a whole',
  decay: 'Points faded',
  rescored: 'The score was computed anew',
  events_deleted: 'Points of events that were deleted',
} as const;

/** `Pricing: 3 of 5 counted, at most 3 a lead`; of a rule with cap_points `Pricing: 25 of 50 points counted, …`. */
function cappedInWords(
  sum: Sum,
  contributions: readonly Contribution[],
  configuration: ScoringConfiguration,
): Adjustment {
  const rule = ruleWordsAsOf(configuration, sum.rule_id ?? '', sum.rule_version ?? 0);
  const label = rule?.label ?? rule?.event_type ?? contributions[0]?.event_type ?? 'A rule';
  const [matched, counted] = [
    { count: 0, total: 0 },
    { count: 0, total: 0 },
  ];
  for (const contribution of contributions) {
    const some = countedOf(contribution);
    matched.count += contribution.count;
    matched.total += contribution.total;
    counted.count += some.count;
    counted.total += some.total;
  }
  const limits = rule && limitsInWords(rule);
  const isOfPoints = rule?.cap_points !== undefined;
  const what = isOfPoints
    ? `${signed(counted.total)} of ${signed(matched.total)} points counted`
    : `${grouped(counted.count)} of ${grouped(matched.count)} counted`;
  return {
    ...sum,
    label,
    counted: counted.count,
    matched: matched.count,
    text: `${label}: ${what}${limits === undefined ? '' : `, ${limits}`}`,
  };
}

/**
 * `Website: 30 points held back, at most 100 a lead`: by the limit that the ruleset has now.
 * @param noun what the limit is of
 */
export function heldInWords(
  sum: Sum,
  configuration: ScoringConfiguration,
  noun: 'lead' | 'deal' = 'lead',
): Adjustment {
  const ruleset = configuration.rulesets.get(sum.ruleset_id ?? '');
  const label = ruleset?.name ?? 'A ruleset';
  const isHighest = sum.points < 0;
  const bound = isHighest ? ruleset?.max_score : ruleset?.min_score;
  const points = `${grouped(Math.abs(sum.points))} ${Math.abs(sum.points) === 1 ? 'point' : 'points'}`;
  const what = isHighest ? `${points} held back` : `${points} not taken away`;
  const limit =
    bound === undefined
      ? 'by a limit that it had'
      : `${isHighest ? 'at most' : 'at least'} ${signed(bound)} a ${noun}`;
  return { ...sum, label, text: `${label}: ${what}, ${limit}` };
}

/** `1,234`, `−5`. */
function signed(points: number): string {
  return points < 0 ? `\u2212${grouped(-points)}` : grouped(points);
}
