// The scores that answers about leads show beside their own: those of their deals and accounts.
import type { ReadModel } from '@lead-scoring/read-model';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { loadAccountScores } from '../accounts/stored-accounts.js';
import { loadDealScores, type DealScores } from '../deals/deal-scores.js';
import type { LeadDocument } from './documents.js';

export interface ScoresBeside {
  readonly deals: DealScores;
  /** The scores of accounts by their ids. */
  readonly accounts: ReadonlyMap<string, number>;
}

/** What is read beside these leads of an OU: nothing for leads without deals and accounts. */
export async function loadScoresBeside(
  readModel: ReadModel,
  found: readonly LeadDocument[],
  configuration: Pick<ScoringConfiguration, 'ou_id' | 'deals'>,
): Promise<ScoresBeside> {
  const [deals, accounts] = await Promise.all([
    loadDealScores(readModel, found, configuration),
    loadAccountScores(readModel, configuration.ou_id, found),
  ]);
  return { deals, accounts };
}
