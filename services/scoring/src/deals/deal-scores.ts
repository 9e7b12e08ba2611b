// The deal scores of leads: what the deals give that their events named, read with the leads.
import { findFields, keyOf, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { deals } from './documents.js';

/** The scores of deals by keyOf of their documents; null for an OU that never configured deal scoring. */
export type DealScores = ReadonlyMap<string, number> | null;

interface DealingLead {
  readonly deals?: readonly string[] | undefined;
}

/** The scores of the deals of these leads: one look-up by id, and none for leads that named no deal. */
export async function loadDealScores(
  readModel: ReadModel,
  leads: readonly DealingLead[],
  configuration: Pick<ScoringConfiguration, 'deals'>,
): Promise<DealScores> {
  if (!configuration.deals) return null;
  const keys = new Set(leads.flatMap((lead) => lead.deals ?? []));
  const found = await findFields(readModel.collection(deals), [...keys].map(uuidToBinary), ['score']);
  return new Map(found.map(({ _id, score }) => [keyOf(_id), score]));
}

/** The sum of the scores of a lead's deals. */
export function dealScoreOf({ deals: keys = [] }: DealingLead, scores: ReadonlyMap<string, number>): number {
  return keys.reduce((sum, key) => sum + (scores.get(keyOf(uuidToBinary(key))) ?? 0), 0);
}
