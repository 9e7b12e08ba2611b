// All decisions of an OU, lead by lead, for whoever asks what would have been.
import type { records } from '@lead-scoring/contracts';
import { readJson, withClassifiedErrors, type Binary, type ReadModel } from '@lead-scoring/read-model';
import { decisionKeysBetween, decisions, leadKey, sharedLeads } from './model.js';
import { nameOf } from './state.js';

const lowest = '00000000-0000-0000-0000-000000000000';
const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const pageSize = 1_000;

/** The decisions that gave points: all of a lead follow each other, in the order in which they were made. */
export async function* decisionsOf(readModel: ReadModel, ouId: string): AsyncIterable<records.LeadScored> {
  const collection = readModel.collection(decisions);
  const end = decisionKeysBetween(ouId, highest, 0, Number.MAX_SAFE_INTEGER).$lte;
  let after = decisionKeysBetween(ouId, lowest, 0, 0).$gte;
  for (;;) {
    const page = await withClassifiedErrors(() =>
      collection
        .find({ _id: { $gt: after, $lte: end } })
        .sort({ _id: 1 })
        .limit(pageSize)
        .toArray(),
    );
    for (const { json } of page) yield readJson(json) as unknown as records.LeadScored;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    after = last._id;
  }
}

/** What leads are shown by, and their scores; a lead that is not there is left out. */
export async function readLeads(
  readModel: ReadModel,
  ouId: string,
  leadIds: readonly string[],
): Promise<Map<string, { name: string; score: number }>> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(sharedLeads)
      .find({ _id: { $in: leadIds.map((id) => leadKey(ouId, id)) } })
      .toArray(),
  );
  return new Map(
    found.map(({ _id, given_name, first_alias, score }) => {
      const id = leadOf(_id);
      return [id, { name: nameOf({ given_name, first_alias, id }), score }];
    }),
  );
}

function leadOf(key: Binary): string {
  const hex = bytesOf(key).toString('hex', 16, 32);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function bytesOf(key: Binary): Buffer {
  return Buffer.from(key.buffer.buffer, key.buffer.byteOffset, key.position);
}
