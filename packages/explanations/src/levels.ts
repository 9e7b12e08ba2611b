// The levels that OUs have and had, as far as is folded.
import { findByIds, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import type { LevelHistory } from './levels-model.js';
import { configurations, toLevelHistory } from './model.js';

/** Of those OUs of which a configuration is folded. */
export async function readLevels(readModel: ReadModel, ouIds: readonly string[]): Promise<LevelHistory[]> {
  const found = await findByIds(readModel.collection(configurations), ouIds.map(uuidToBinary));
  return found.map(toLevelHistory);
}
