// The points that rules give a lead for each of its deals, folded from the recorded decisions on its deal score. The folds of two
// consecutive ranges of decisions can be joined. Pure.
import type { records } from '@lead-scoring/contracts';
import { pointChangesIn, withPointChanges, type GivenPoints } from './given-points.js';

/** The points that rules give for one deal. */
export interface PointsOfDeal {
  readonly given: readonly GivenPoints[];
  /** Whether a decision counted the deal as a whole: the points that rules gave before it are then part of the whole. */
  readonly counted_as_whole: boolean;
}

/** By the sender's id of the deal. */
export type DealPoints = ReadonlyMap<string, PointsOfDeal>;

export const noPointsOfDeal: PointsOfDeal = { given: [], counted_as_whole: false };

/** Folds the next decision. */
export function withDealDecision(
  known: DealPoints,
  { adjustments }: Pick<records.ScoreAdjusted, 'adjustments'>,
): DealPoints {
  const points = new Map(known);
  for (const [deal, ofDeal] of byDeal(adjustments))
    points.set(deal, withChangesOfDeal(points.get(deal) ?? noPointsOfDeal, ofDeal));
  return points;
}

/** @param adjustments of this deal, in their order */
export function withChangesOfDeal(
  known: PointsOfDeal,
  adjustments: readonly records.ScoreAdjustment[],
): PointsOfDeal {
  const whole = adjustments.findLastIndex(({ reason }) => reason === 'deal');
  const changes = pointChangesIn(adjustments.slice(whole + 1));
  return whole < 0
    ? { ...known, given: withPointChanges(known.given, changes) }
    : { given: withPointChanges([], changes), counted_as_whole: true };
}

function byDeal(adjustments: records.ScoreAdjusted['adjustments']) {
  const deals = new Map<string, records.ScoreAdjustment[]>();
  for (const adjustment of adjustments) {
    const { deal_id } = adjustment;
    // The points that keep the sum in the range of scores are of no deal.
    if (deal_id === undefined) continue;
    const known = deals.get(deal_id);
    if (known) known.push(adjustment);
    else deals.set(deal_id, [adjustment]);
  }
  return deals;
}

export function joinDealPoints(before: DealPoints, after: DealPoints): DealPoints {
  const joined = new Map(before);
  for (const [deal, later] of after) {
    const earlier = joined.get(deal) ?? noPointsOfDeal;
    joined.set(
      deal,
      later.counted_as_whole ? later : { ...earlier, given: withPointChanges(earlier.given, later.given) },
    );
  }
  return joined;
}

/** The points by deal and rule: a rule comes once for each deal that meets it. */
export function givenForDeals(points: DealPoints): GivenPoints[] {
  return [...points.values()].flatMap(({ given }) => given);
}
