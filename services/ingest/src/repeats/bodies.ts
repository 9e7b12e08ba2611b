// Reads the stored bodies of repeated events, to compare them; events that come for the first time cost no read.
import { findByIds, keyOf, type Binary, type ReadModel } from '@lead-scoring/read-model';
import { isBlank } from '../event-deletions/deleted-types-model.js';
import { readKnownEventId, recordId } from '../events/keys.js';
import { eventRecords, payloadOf, type KnownEventDocument } from '../events/documents.js';
import { eventKey, type StoredRepeats } from '../intake/state.js';
import { bodyOf, type EventBody } from './body-model.js';

/** The number of records in one read; each has at most 400 KB. */
const recordsAtOnce = 20;
/**
 * The most bytes of records that a batch reads: a producer that repeats one event of each of many large records could otherwise keep
 * the partition busy with reads. Further repeats are dropped like all others, without a comparison.
 */
const maximumBytes = 8 * 1024 * 1024;

/** The stored bodies of these events by `eventKey`; null where a body was not read. */
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
        // A deleted event has nothing to compare with.
        if (one?.ids.has(event.id) && !isBlank(event))
          bodies.set(
            eventKey(one.lead_id, event.id),
            bodyOf(event, event.received_at ?? payload.received_at),
          );
    }
  }
  return bodies;
}
