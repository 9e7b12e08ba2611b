// Reads the present and former levels of OUs, up to the checkpoint.
import { findByIds, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import type { LevelHistory } from '@lead-scoring/scoring-domain';
import { configurations, toLevelHistory } from './model.js';

/** The level histories of those OUs that have a configuration. */
export async function readLevels(readModel: ReadModel, ouIds: readonly string[]): Promise<LevelHistory[]> {
  const found = await findByIds(readModel.collection(configurations), ouIds.map(uuidToBinary));
  return found.map(toLevelHistory);
}
