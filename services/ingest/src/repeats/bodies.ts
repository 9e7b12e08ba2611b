// Reads what was said of events that come again: only they cost anything.
import { findByIds, keyOf, type Binary, type ReadModel } from '@lead-scoring/read-model';
import { readKnownEventId, recordId } from '../events/keys.js';
import { eventRecords, payloadOf, type KnownEventDocument } from '../events/documents.js';
import { eventKey, type StoredRepeats } from '../intake/state.js';
import { bodyOf, type EventBody } from './differs-model.js';

/** Records read at a time; each is of at most 400 KB. */
const recordsAtOnce = 20;
/**
 * Bytes of records that a batch reads at most: whoever sends again one event of each of many large records would keep the
 * partition reading. Repeats beyond it are dropped like all others, and not compared.
 */
const maximumBytes = 8 * 1024 * 1024;

/** By `eventKey`, what is stored of these events; null where it is not at hand. */
export async function readBodies(
  readModel: ReadModel,
  known: readonly KnownEventDocument[],
): Promise<StoredRepeats> {
  const records = readModel.collection(eventRecords);
  const bodies = new Map<string, EventBody | null>();
  const wanted = new Map<string, { record: Binary; lead_id: string; ids: Set<string> }>();
  for (const { _id, offset } of known) {
    const { lead_id, id } = readKnownEventId(_id);
    bodies.set(eventKey(lead_id, id), null);
    if (offset === undefined) continue;
    const record = recordId(lead_id, offset);
    const one = wanted.get(keyOf(record)) ?? { record, lead_id, ids: new Set() };
    wanted.set(keyOf(record), one);
    one.ids.add(id);
  }
  const all = [...wanted.values()];
  let bytes = 0;
  for (let from = 0; from < all.length && bytes < maximumBytes; from += recordsAtOnce) {
    const some = all.slice(from, from + recordsAtOnce);
    for (const document of await findByIds(
      records,
      some.map(({ record }) => record),
    )) {
      bytes += document.json.length();
      const one = wanted.get(keyOf(document._id));
      const payload = payloadOf(document);
      for (const event of payload.events)
        if (one?.ids.has(event.id))
          bodies.set(
            eventKey(one.lead_id, event.id),
            bodyOf(event, event.received_at ?? payload.received_at),
          );
    }
  }
  return bodies;
}
