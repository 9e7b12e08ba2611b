// The deal score of a lead: the sum of what the deals give that its events named. Folded from decisions: pure.
import { dealKeyOf, type records } from '@lead-scoring/contracts';
import { heldInRange } from '@lead-scoring/scoring-domain';

/** The scores of a lead's deals by their keys. A deal that gives nothing is absent. */
export type LeadDealScores = Readonly<Record<string, number>>;

/** The sum, held in the range of scores. */
export function dealScoreOf(scores: LeadDealScores = {}): number {
  return heldInRange(sumOf(scores));
}

export function sumOf(scores: LeadDealScores): number {
  return Object.values(scores).reduce((sum, score) => sum + score, 0);
}

/** Folds a decision on a deal score. */
export function withDealAdjustments(
  known: LeadDealScores = {},
  { ou_id, adjustments }: Pick<records.ScoreAdjusted, 'ou_id' | 'adjustments'>,
): LeadDealScores {
  const scores = new Map(Object.entries(known));
  for (const { deal_id, points } of adjustments) {
    // The points that keep the sum in its range are of no deal.
    if (deal_id === undefined) continue;
    const key = dealKeyOf(ou_id, deal_id);
    const score = (scores.get(key) ?? 0) + points;
    if (score === 0) scores.delete(key);
    else scores.set(key, score);
  }
  return Object.fromEntries(scores);
}
