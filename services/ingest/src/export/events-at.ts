// The events at places. However large their records are, those in memory have a bounded size.
import type { routeDeclarations } from '@lead-scoring/contracts';
import { Binary, hexOf, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { isBlank } from '../event-deletions/deleted-types-model.js';
import { eventRecords, payloadOf, type EventRecordDocument } from '../events/documents.js';
import { eventAtPlace } from '../events/keys.js';
import { toEvent } from '../events/stored-event.js';
import { oneAhead } from './one-ahead.js';
import { evenPart, firstPlacesAtOnce, maximumBytes, placesAtOnce } from './part-sizes.js';

export interface PlacedEvent {
  /** The cursor after which the next event begins. */
  cursor: string;
  event: routeDeclarations.StoredEvent;
}

type Runs = AsyncIterable<readonly Buffer[]> | Iterable<readonly Buffer[]>;

/** The events at the places of each run, in their order. An event that was deleted, or is not stored yet, is left out. */
export async function* eventsAt(
  readModel: ReadModel,
  ouId: string,
  runs: Runs,
): AsyncGenerator<PlacedEvent[]> {
  // The records are parsed here, and not where they are read: the database would wait for it.
  for await (const { part, found } of oneAhead(recordsAt(readModel, ouId, runs))) {
    const payloads = new Map(found.map((document) => [hexOf(document._id), payloadOf(document)]));
    yield part.flatMap(({ place, key, index }) => {
      const payload = payloads.get(key);
      const event = payload?.events[index];
      // An event that is being deleted is blank.
      return payload && event && !isBlank(event)
        ? [{ cursor: place.toString('base64url'), event: toEvent(payload, event) }]
        : [];
    });
  }
}

/** A place whose event is wanted. */
interface WantedPlace {
  place: Buffer;
  /** The record with the event, and hexOf(record). */
  record: Binary;
  key: string;
  /** The event's index in the record. */
  index: number;
}

type FoundRecord = Pick<EventRecordDocument, '_id' | 'json'>;

/** The places part by part, each part with the records that are stored of it. */
async function* recordsAt(
  readModel: ReadModel,
  ouId: string,
  runs: Runs,
): AsyncGenerator<{ part: WantedPlace[]; found: FoundRecord[] }> {
  let atOnce = firstPlacesAtOnce;
  for await (const places of runs)
    for (let from = 0; from < places.length;) {
      const part = places.slice(from, from + evenPart(places.length - from, atOnce)).map(wantedAt);
      const found = await findRecords(readModel, ouId, part);
      const bytes = found.reduce((sum, { json }) => sum + json.position, 0);
      if (bytes > maximumBytes && part.some(({ key }) => key !== part[0]?.key)) {
        atOnce = Math.ceil(part.length / 2);
        continue;
      }
      yield { part, found };
      from += part.length;
      atOnce = placesAtOnce(part.length, bytes);
    }
}

function wantedAt(place: Buffer): WantedPlace {
  const { record, index } = eventAtPlace(new Binary(place, 0));
  return { place, record, key: hexOf(record), index };
}

/** The records of the places. Where they are several and have more than the maximum of bytes, some may be missing. */
function findRecords(
  readModel: ReadModel,
  ouId: string,
  part: readonly WantedPlace[],
): Promise<FoundRecord[]> {
  const ids = [...new Map(part.map(({ key, record }) => [key, record])).values()];
  return withClassifiedErrors(() =>
    readModel
      .collection(eventRecords)
      .find(
        { _id: { $in: ids }, ou: uuidToBinary(ouId) },
        // One answer without a cursor, because the database looks all of them up again for the rest of an answer. It ends at 16 MB.
        { projection: { json: 1 }, batchSize: ids.length, singleBatch: true },
      )
      .toArray(),
  );
}
