// Reads scoring's configurations of OUs, up to the checkpoint.
import { findByIds, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { configurations, toConfiguration } from './model.js';

/** The configurations of those OUs that have one. */
export async function readConfigurations(
  readModel: ReadModel,
  ouIds: readonly string[],
): Promise<ScoringConfiguration[]> {
  const found = await findByIds(readModel.collection(configurations), ouIds.map(uuidToBinary));
  return found.map(toConfiguration);
}
