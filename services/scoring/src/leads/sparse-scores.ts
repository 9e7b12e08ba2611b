// The scores that most leads do not have: a lead without a profile or without deals has a score of 0 there. Pure.
import type { LeadScoreType } from '@lead-scoring/contracts';
import { dealScoreOf } from '../deals/lead-deal-score-model.js';
import type { Lead } from './state.js';

export type SparseScoreType = Exclude<LeadScoreType, 'engagement'>;

/** @returns 0 also where there is no lead */
export function sparseScoreOf(
  lead: Pick<Lead, 'profile' | 'deal_scores'> | null | undefined,
  scoreType: SparseScoreType,
): number {
  return scoreType === 'profile' ? (lead?.profile?.score ?? 0) : dealScoreOf(lead?.deal_scores);
}
