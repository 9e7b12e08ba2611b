// Why a lead has its deal score: the recorded decisions of its deals, each in words. Pure.
import type { routeDeclarations } from '@lead-scoring/contracts';
import { changeInWords, dealDriversOf, signed } from './condition-drivers.js';
import {
  addToSum,
  commonExplanation,
  shownEntries,
  sumsInWords,
  type ConditionDecision,
  type OtherSum,
} from './condition-explanation.js';
import type { ScoringConfiguration } from './configuration.js';
import { dealEventType, noDeals } from './deal-configuration.js';
import { noPointsOfDeal, withChangesOfDeal, type PointsOfDeal } from './deal-points.js';
import { otherReasons } from './explained-adjustments.js';
import type { ExplainedLead } from './explanation.js';
import { sumOfPoints, type GivenPoints } from './given-points.js';
import { startOfRange } from './moments.js';
import { ruleWordsAsOf } from './rule-words.js';

type ScoreExplanation = routeDeclarations.ScoreExplanation;
type DealEntry = NonNullable<ScoreExplanation['deal_entries']>[number];
type PointChange = ConditionDecision['adjustments'][number];

/**
 * Explains a deal score as of a moment. Decisions whose `decided_at` is later do not count. Drivers are the rules that give points
 * at the moment, for all deals together, except for deals that count as a whole; entries cover the last `range_hours` before it.
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
  const { entries, listed } = tally;
  const found = {
    score: lead.score - later,
    listed,
    drivers: dealDriversOf(tally.given(), current),
    adjustments: sumsInWords(tally.others(), current, 'deal'),
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

/** The points of a deal, by what gives them. */
interface DealSums {
  ofRules: PointsOfDeal;
  /** The points that no rule gave: by ruleset those that its limits hold, under null those of the deal as a whole. */
  readonly others: Map<string | null, OtherSum>;
}

/** The points that decisions gave up to a moment, by what gave them. */
class DealTally {
  /** The oldest first. */
  readonly entries: DealEntry[] = [];
  listed = 0;
  readonly #deals = new Map<string, DealSums>();
  /** The points that keep the sum in the range of scores, by reason. */
  readonly #ofRange = new Map<string, OtherSum>();

  /** @param from entries begin then */
  constructor(
    private readonly current: ScoringConfiguration,
    private readonly from: string,
  ) {}

  add({ decided_at, configuration_version }: ConditionDecision, change: PointChange): void {
    const { deal_id, reason, points, rule_id, rule_version, ruleset_id } = change;
    this.listed += points;
    const words = this.#count(change, decided_at);
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
  #count(change: PointChange, last_at: string): string {
    const { deal_id, reason, points, ruleset_id } = change;
    if (deal_id === undefined) {
      addToSum(this.#ofRange, reason, { reason, points, last_at });
      return this.#otherInWords(change);
    }
    const deal = this.#sumsOf(deal_id);
    const { given } = deal.ofRules;
    deal.ofRules = withChangesOfDeal(deal.ofRules, [change]);
    if (reason === 'deal_rule') return this.#ruleInWords(change, given);
    if (reason === 'deal') addWhole(deal.others, given, { points, last_at });
    else if (ruleset_id !== undefined)
      addToSum(deal.others, ruleset_id, { reason, points, last_at, ruleset_id });
    return this.#otherInWords(change);
  }

  #sumsOf(deal: string): DealSums {
    const known = this.#deals.get(deal);
    if (known) return known;
    const sums: DealSums = { ofRules: noPointsOfDeal, others: new Map() };
    this.#deals.set(deal, sums);
    return sums;
  }

  /** @param given the points of the deal before the change */
  #ruleInWords(change: PointChange, given: readonly GivenPoints[]): string {
    const { deal_id = '', rule_id = '', rule_version = 0 } = change;
    const before = given.find((one) => one.rule_id === rule_id)?.points ?? 0;
    const rule = ruleWordsAsOf(this.current, rule_id, rule_version) ?? this.current.deals?.rules.get(rule_id);
    const words = { subject: `deal ${deal_id}`, weight: `deal ${deal_id}: the weight` };
    return changeInWords(words, change, before, rule);
  }

  #otherInWords({ reason, deal_id = '', ruleset_id = '', points }: PointChange): string {
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

  /** The points by deal and rule. */
  given(): GivenPoints[] {
    return [...this.#deals.values()].flatMap(({ ofRules }) => ofRules.given);
  }

  /** The points that no rule gave, for all deals together, by reason and ruleset. */
  others(): Iterable<OtherSum> {
    const sums = new Map(this.#ofRange);
    for (const { others } of this.#deals.values())
      for (const sum of others.values()) addToSum(sums, `${sum.reason} ${sum.ruleset_id ?? ''}`, sum);
    return sums.values();
  }
}

/** The points that rules gave and limits held before become part of the whole. */
function addWhole(
  others: DealSums['others'],
  given: readonly GivenPoints[],
  { points, last_at }: { points: number; last_at: string },
): void {
  let before = sumOfPoints(given);
  for (const [ruleset, held] of others) {
    if (ruleset === null) continue;
    before += held.points;
    others.delete(ruleset);
  }
  addToSum(others, null, { reason: 'deal', points: before + points, last_at });
}
