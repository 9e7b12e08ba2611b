// Scoring's configurations of OUs, as far as is folded.
import type { ScoringConfiguration } from '@lead-scoring/contracts';
import { findByIds, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { configurations, toConfiguration } from './model.js';

/** Of those OUs of which one is folded. */
export async function readConfigurations(
  readModel: ReadModel,
  ouIds: readonly string[],
): Promise<ScoringConfiguration[]> {
  const found = await findByIds(readModel.collection(configurations), ouIds.map(uuidToBinary));
  return found.map(toConfiguration);
}
