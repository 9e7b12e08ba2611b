// The deal score of a lead: the sum of what the deals give that its events named. Folded from decisions: pure.
import { dealKeyOf, type records } from '@lead-scoring/contracts';
import { heldInRange } from '@lead-scoring/scoring-domain';

/** The scores of a lead's deals by their keys. A deal that gives nothing is absent. */
export type LeadDealScores = Readonly<Record<string, number>>;

/** What a lead remembers of its deals. */
export interface LeadDeals {
  readonly deal_scores?: LeadDealScores;
  /** Keys of the deals that count as a whole: their decisions have no reasons until their scores are 0. */
  readonly whole_deals?: readonly string[];
}

/** The sum, held in the range of scores. */
export function dealScoreOf(scores: LeadDealScores = {}): number {
  return heldInRange(sumOf(scores));
}

export function sumOf(scores: LeadDealScores): number {
  return Object.values(scores).reduce((sum, score) => sum + score, 0);
}

/** Folds a decision on a deal score. */
export function withDealAdjustments(
  { deal_scores = {}, whole_deals = [] }: LeadDeals,
  { ou_id, adjustments }: Pick<records.ScoreAdjusted, 'ou_id' | 'adjustments'>,
): LeadDeals & Required<Pick<LeadDeals, 'deal_scores'>> {
  const scores = new Map(Object.entries(deal_scores));
  const whole = new Set(whole_deals);
  for (const { deal_id, reason, points } of adjustments) {
    // The points that keep the sum in its range are of no deal.
    if (deal_id === undefined) continue;
    const key = dealKeyOf(ou_id, deal_id);
    const score = (scores.get(key) ?? 0) + points;
    if (reason === 'deal') whole.add(key);
    if (score !== 0) scores.set(key, score);
    else if (scores.delete(key)) whole.delete(key);
  }
  return { deal_scores: Object.fromEntries(scores), ...(whole.size > 0 && { whole_deals: [...whole] }) };
}
