// The events at places. However large their records are, those in memory have a bounded size.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import { Binary, hexOf, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { isBlank } from '../event-deletions/deleted-types-model.js';
import { eventRecords, payloadOf } from '../events/documents.js';
import { eventAtPlace } from '../events/keys.js';
import { toEvent } from '../events/stored-event.js';
import { evenPart, firstPlacesAtOnce, maximumBytes, placesAtOnce } from './part-sizes.js';

export interface PlacedEvent {
  /** The cursor after which the next event begins. */
  cursor: string;
  event: routeDeclarations.StoredEvent;
}

/** The events at the places of each run, in their order. An event that was deleted, or is not stored yet, is left out. */
export async function* eventsAt(
  readModel: ReadModel,
  ouId: string,
  runs: AsyncIterable<readonly Buffer[]> | Iterable<readonly Buffer[]>,
): AsyncGenerator<PlacedEvent[]> {
  let atOnce = firstPlacesAtOnce;
  for await (const places of runs)
    for (let from = 0; from < places.length;) {
      const part = places.slice(from, from + evenPart(places.length - from, atOnce)).map(wantedAt);
      const loaded = await loadRecords(
        readModel,
        ouId,
        new Map(part.map(({ key, record }) => [key, record])),
      );
      if (!loaded) {
        atOnce = Math.ceil(part.length / 2);
        continue;
      }
      yield part.flatMap(({ place, key, index }) => {
        const payload = loaded.found.get(key);
        const event = payload?.events[index];
        // An event that is being deleted is blank.
        return payload && event && !isBlank(event)
          ? [{ cursor: place.toString('base64url'), event: toEvent(payload, event) }]
          : [];
      });
      from += part.length;
      atOnce = placesAtOnce(part.length, loaded.bytes);
    }
}

/** The record with the event at a place. Its key is hexOf(record). */
function wantedAt(place: Buffer): { place: Buffer; key: string; record: Binary; index: number } {
  const { record, index } = eventAtPlace(new Binary(place, 0));
  return { place, key: hexOf(record), record, index };
}

interface LoadedRecords {
  /** By the hexadecimal digits of their ids. */
  found: Map<string, records.EventsIngested>;
  /** Their size. */
  bytes: number;
}

/** The records with these ids; null when they are several and too large together. */
function loadRecords(
  readModel: ReadModel,
  ouId: string,
  ids: ReadonlyMap<string, Binary>,
): Promise<LoadedRecords | null> {
  return withClassifiedErrors(async () => {
    // One answer without a cursor: for the rest of an answer, the database would look for all of them again. It ends at 16 MB, which is
    // more than the maximum, so an answer without all of them is never taken for one with all.
    const documents = await readModel
      .collection(eventRecords)
      .find(
        { _id: { $in: [...ids.values()] }, ou: uuidToBinary(ouId) },
        { projection: { json: 1 }, batchSize: ids.size, singleBatch: true },
      )
      .toArray();
    const bytes = documents.reduce((sum, { json }) => sum + json.position, 0);
    if (bytes > maximumBytes && ids.size > 1) return null;
    return { found: new Map(documents.map((document) => [hexOf(document._id), payloadOf(document)])), bytes };
  });
}
