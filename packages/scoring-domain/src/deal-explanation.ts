// Why a lead has its deal score: the recorded decisions of its deals, each in words. Pure.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import { activeWeights, changeInWords, dealDriversOf, nameOfRule, signed } from './condition-drivers.js';
import type { ScoringConfiguration } from './configuration.js';
import { dealEventType, noDeals } from './deal-configuration.js';
import { heldInWords, otherReasons } from './explained-adjustments.js';
import type { ExplainedLead } from './explanation.js';
import { withPointChanges, type GivenPoints } from './given-points.js';
import { ruleWordsAsOf } from './rule-words.js';

type ScoreExplanation = routeDeclarations.ScoreExplanation;
type DealEntry = NonNullable<ScoreExplanation['deal_entries']>[number];
type Adjustment = NonNullable<ScoreExplanation['adjustments']>[number];

/** A recorded decision on a deal score. */
export type DealDecision = Pick<
  records.ScoreAdjusted,
  'decided_at' | 'configuration_version' | 'adjustments'
>;

const shownEntries = 1_000;
const shownDrivers = 1_000;

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
  decisions: readonly DealDecision[],
  current: ScoringConfiguration,
  then: ScoringConfiguration,
  { at, range_hours }: { at: string; range_hours: number },
): ScoreExplanation {
  const from = new Date(
    Math.max(Date.parse(at) - range_hours * 3_600_000, -62_167_219_200_000),
  ).toISOString();
  const tally = new DealTally(current, from);
  let later = 0;
  for (const decision of decisions)
    for (const adjustment of decision.adjustments)
      if (decision.decided_at > at) later += adjustment.points;
      else tally.add(decision, adjustment);
  const score = lead.score - later;
  const adjustments = tally.adjustments();
  const { entries } = tally;
  return {
    lead_id: lead.id,
    lead_name: lead.name,
    score_type: 'deal',
    score,
    level: null,
    top_drivers: dealDriversOf(tally.given, current).slice(0, shownDrivers),
    ...(adjustments.length > 0 && { adjustments }),
    snapshot: activeWeights((then.deals ?? noDeals).rules.values(), then.rulesets, {
      event_type: dealEventType,
      maximum: shownDrivers,
    }),
    decay_applied: 0,
    range_hours,
    at,
    unattributed: score - tally.listed,
    entries: [],
    entries_total: entries.length,
    deal_entries: entries.toReversed().slice(0, shownEntries),
  };
}

/** What the decisions up to a moment gave. */
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
    { decided_at, configuration_version }: DealDecision,
    adjustment: DealDecision['adjustments'][number],
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
  #count(adjustment: DealDecision['adjustments'][number], last_at: string): string {
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

  #otherInWords({ reason, deal_id = '', ruleset_id = '', points }: DealDecision['adjustments'][number]) {
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

  /** What no rule gave, the largest first. */
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
