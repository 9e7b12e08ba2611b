// The names of the leads that move in a comparison: findings hold ids, and a lead that was deleted since has no name.
import { findByIds, type ReadModel } from '@lead-scoring/read-model';
import { leadKey, leadOfKey } from '../keys.js';
import { leads } from '../leads/documents.js';

/** The names of those that there are, by id. */
export async function namesOf(
  readModel: ReadModel,
  ouId: string,
  movers: readonly { lead_id: string }[],
): Promise<Map<string, string>> {
  const found = await findByIds(
    readModel.collection(leads),
    movers.map(({ lead_id }) => leadKey(ouId, lead_id)),
  );
  return new Map(found.map(({ _id, name }) => [leadOfKey(_id), name]));
}
