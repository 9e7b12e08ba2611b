// Why a lead has its deal score: the recorded decisions of its deals, each in words. Pure.
import type { routeDeclarations } from '@lead-scoring/contracts';
import { changeInWords, dealDriversOf, nameOfRule, signed } from './condition-drivers.js';
import { commonExplanation, shownEntries, type ConditionDecision } from './condition-explanation.js';
import type { ScoringConfiguration } from './configuration.js';
import { dealEventType, noDeals } from './deal-configuration.js';
import { heldInWords, otherReasons } from './explained-adjustments.js';
import type { ExplainedLead } from './explanation.js';
import { withPointChanges, type GivenPoints } from './given-points.js';
import { startOfRange } from './moments.js';
import { ruleWordsAsOf } from './rule-words.js';

type ScoreExplanation = routeDeclarations.ScoreExplanation;
type DealEntry = NonNullable<ScoreExplanation['deal_entries']>[number];
type Adjustment = NonNullable<ScoreExplanation['adjustments']>[number];

/**
 * Explains a deal score as of a moment. Decisions whose `decided_at` is later do not count. Drivers are the rules that give points
 * at the moment, for all deals together; entries cover the last `range_hours` before it.
 * @param lead with the deal score after all decisions
 * @param decisions all decisions on the lead's deal score, in the order in which they were made
 * @param current the configuration now: has the words of the rules
 * @param then the configuration in force at the moment
 */
export function explainDeals(
  lead: ExplainedLead,
  decisions: readonly ConditionDecision[],
  current: ScoringConfiguration,
  then: ScoringConfiguration,
  { at, range_hours }: { at: string; range_hours: number },
): ScoreExplanation {
  const tally = new DealTally(current, startOfRange({ at, range_hours }));
  let later = 0;
  for (const decision of decisions)
    for (const adjustment of decision.adjustments)
      if (decision.decided_at > at) later += adjustment.points;
      else tally.add(decision, adjustment);
  const { entries, listed, given } = tally;
  const found = {
    score: lead.score - later,
    listed,
    drivers: dealDriversOf(given, current),
    adjustments: tally.adjustments(),
    entries,
  };
  const { rules } = then.deals ?? noDeals;
  return {
    ...commonExplanation(
      lead,
      found,
      { rules, rulesets: then.rulesets, event_type: dealEventType },
      { at, range_hours },
    ),
    score_type: 'deal',
    level: null,
    deal_entries: entries.toReversed().slice(0, shownEntries),
  };
}

/** The points that decisions gave up to a moment, by what gave them. */
class DealTally {
  /** The oldest first. */
  readonly entries: DealEntry[] = [];
  /** By rule, for all deals together. */
  given: readonly GivenPoints[] = [];
  listed = 0;
  /** Points by deal and rule. */
  readonly #ofRules = new Map<string, number>();
  readonly #others = new Map<string, Omit<Adjustment, 'text' | 'label'>>();

  /** @param from entries begin then */
  constructor(
    private readonly current: ScoringConfiguration,
    private readonly from: string,
  ) {}

  add(
    { decided_at, configuration_version }: ConditionDecision,
    adjustment: ConditionDecision['adjustments'][number],
  ): void {
    const { deal_id, reason, points, rule_id, rule_version, ruleset_id } = adjustment;
    this.listed += points;
    const words = this.#count(adjustment, decided_at);
    if (decided_at < this.from) return;
    this.entries.push({
      ...(deal_id !== undefined && { deal_id }),
      reason,
      ...(rule_id !== undefined && { rule_id }),
      ...(rule_version !== undefined && { rule_version }),
      ...(ruleset_id !== undefined && { ruleset_id }),
      points,
      decided_at,
      configuration_version,
      words,
    });
  }

  /** Counts a change of points. @returns it in words */
  #count(adjustment: ConditionDecision['adjustments'][number], last_at: string): string {
    const { deal_id = '', reason, points, rule_id, rule_version, ruleset_id } = adjustment;
    if (rule_id === undefined || rule_version === undefined || ruleset_id === undefined) {
      this.#addOther({ reason, points, last_at, ...(ruleset_id !== undefined && { ruleset_id }) });
      return this.#otherInWords(adjustment);
    }
    const name = JSON.stringify([deal_id, rule_id]);
    const before = this.#ofRules.get(name) ?? 0;
    this.#ofRules.set(name, before + points);
    this.given = withPointChanges(this.given, [{ rule_id, rule_version, ruleset_id, points }]);
    const rule = ruleWordsAsOf(this.current, rule_id, rule_version) ?? this.current.deals?.rules.get(rule_id);
    return before !== 0 && before + points !== 0
      ? `${signed(points)}: deal ${deal_id}: the weight of ${nameOfRule(rule)} was changed from ${String(before)} to ${String(before + points)}.`
      : changeInWords(`deal ${deal_id}`, adjustment, before, rule);
  }

  #addOther(more: Omit<Adjustment, 'text' | 'label' | 'count'>): void {
    const name = JSON.stringify([more.reason, more.ruleset_id]);
    const known = this.#others.get(name) ?? { points: 0, count: 0 };
    const sum = { ...more, points: known.points + more.points, count: known.count + 1 };
    if (sum.points === 0) this.#others.delete(name);
    else this.#others.set(name, sum);
  }

  #otherInWords({ reason, deal_id = '', ruleset_id = '', points }: ConditionDecision['adjustments'][number]) {
    switch (reason) {
      case 'held_by_ruleset':
        return `${signed(points)}: deal ${deal_id}: the limits of ${this.#rulesetName(ruleset_id)} hold other points than before.`;
      case 'held_at_largest_score':
      case 'held_at_smallest_score':
        return `${signed(points)}: ${otherReasons[reason]}.`;
      default:
        return `${signed(points)}: deal ${deal_id} as a whole.`;
    }
  }

  #rulesetName(id: string): string {
    const { rulesets, former_rulesets } = this.current;
    const name = (rulesets.get(id) ?? former_rulesets.get(id))?.name;
    return name === undefined ? 'a ruleset' : `"${name}"`;
  }

  /** The points that no rule gave, with the reasons, the largest first. */
  adjustments(): Adjustment[] {
    return [...this.#others.values()]
      .map((sum): Adjustment => {
        switch (sum.reason) {
          case 'held_by_ruleset':
            return heldInWords(sum, this.current, 'deal');
          case 'held_at_largest_score':
          case 'held_at_smallest_score':
            return { ...sum, text: otherReasons[sum.reason] };
          default:
            return { ...sum, text: otherReasons.deal };
        }
      })
      .sort((one, other) => Math.abs(other.points) - Math.abs(one.points));
  }
}
