// The events at places. However large their records are, those in memory have a bounded size.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import {
  Binary,
  bytesOf,
  hexOf,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { isBlank } from '../event-deletions/deleted-types-model.js';
import { eventRecords, payloadOf } from '../events/documents.js';
import { eventAtPlace } from '../events/keys.js';
import { toEvent } from '../events/stored-event.js';

/** Places whose records are read in one call. */
const placesAtOnce = 250;
/** The most bytes of records that one call keeps, unless a single record is larger. */
const maximumBytes = 8_000_000;

export interface PlacedEvent {
  /** The cursor after which the next event begins. */
  cursor: string;
  event: routeDeclarations.StoredEvent;
}

/** The events at these places, in their order. An event that was deleted, or is not stored yet, is left out. */
export async function* eventsAt(
  readModel: ReadModel,
  ouId: string,
  places: readonly Buffer[],
): AsyncGenerator<PlacedEvent[]> {
  for (let from = 0; from < places.length; from += placesAtOnce)
    yield* eventsAtFew(readModel, ouId, places.slice(from, from + placesAtOnce));
}

async function* eventsAtFew(
  readModel: ReadModel,
  ouId: string,
  places: readonly Buffer[],
): AsyncGenerator<PlacedEvent[]> {
  const wanted = places.map((place) => ({ place, ...eventAtPlace(new Binary(place, 0)) }));
  const found = await loadRecords(
    readModel,
    ouId,
    new Map(wanted.map(({ record }) => [hexOf(record), record])),
  );
  if (!found) {
    const middle = Math.ceil(places.length / 2);
    yield* eventsAtFew(readModel, ouId, places.slice(0, middle));
    yield* eventsAtFew(readModel, ouId, places.slice(middle));
    return;
  }
  yield wanted.flatMap(({ place, record, index }) => {
    const payload = found.get(hexOf(record));
    const event = payload?.events[index];
    // An event that is being deleted is blank.
    return payload && event && !isBlank(event)
      ? [{ cursor: place.toString('base64url'), event: toEvent(payload, event) }]
      : [];
  });
}

/** The records by the hexadecimal digits of their ids; null when they are several and too large together. */
function loadRecords(
  readModel: ReadModel,
  ouId: string,
  ids: ReadonlyMap<string, Binary>,
): Promise<Map<string, records.EventsIngested> | null> {
  return withClassifiedErrors(async () => {
    const found = new Map<string, records.EventsIngested>();
    let bytes = 0;
    for await (const document of readModel
      .collection(eventRecords)
      .find({ _id: { $in: [...ids.values()] }, ou: uuidToBinary(ouId) })) {
      bytes += bytesOf(document.json).length;
      if (bytes > maximumBytes && ids.size > 1) return null;
      found.set(hexOf(document._id), payloadOf(document));
    }
    return found;
  });
}
