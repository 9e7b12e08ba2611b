// Reads an OU's events in the order of time, newest first, from the documents with the events of each second.
import {
  Binary,
  bytesOf,
  InvalidCursor,
  withClassifiedErrors,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { isPlaceOf, readSecondKey, secondsBetween, timeOfPlace } from './keys.js';
import { eventSeconds, type EventSecondDocument } from './documents.js';
import { countIn, newestPlaces } from './seconds.js';

/** Selects events by type (null: all types) and by time in milliseconds, from (inclusive) and to (exclusive); null: open. */
export interface EventFilter {
  typeKey: string | null;
  fromMs: number | null;
  toMs: number | null;
}

/** A time of a query in milliseconds; null where the query leaves it open. */
export function timeOf(time: string | undefined): number | null {
  return time === undefined ? null : Date.parse(time);
}

/** @throws InvalidCursor when the cursor is not a place of this OU */
export function placeFrom(cursor: string, ouId: string): Binary {
  const place = new Binary(Buffer.from(cursor, 'base64url'), 0);
  if (!isPlaceOf(ouId, place)) throw new InvalidCursor();
  return place;
}

/** The number of documents in the first call, and the most in one call. */
const chunks = { first: 32, largest: 512 };

/**
 * The places of events, newest first.
 * @param after the place after which they begin; null: begin with the newest
 */
export async function readPlaces(
  readModel: ReadModel,
  ouId: string,
  { skip, limit, after, ...filter }: EventFilter & { skip: number; limit: number; after: Binary | null },
): Promise<Binary[]> {
  const toMs = Math.min(filter.toMs ?? Infinity, after ? timeOfPlace(after) + 1 : Infinity);
  const within = { ...filter, fromMs: filter.fromMs ?? -Infinity, toMs, before: after && bytesOf(after) };
  const found: Buffer[] = [];
  let skipped = 0;
  for await (const documents of seconds(readModel, ouId, {
    ...filter,
    toMs: Number.isFinite(toMs) ? toMs : null,
  })) {
    const known = documents.reduce((sum, document) => sum + countIn(document, filter.typeKey), 0);
    // A second that the filter or `after` cuts has fewer matching events than its count, so it is skipped by count only when it is whole.
    if (skipped + known <= skip && isWhole(documents, within)) {
      skipped += known;
      continue;
    }
    const places = newestPlaces(ouId, documents, within, skip - skipped + limit - found.length);
    const passed = Math.min(skip - skipped, places.length);
    skipped += passed;
    found.push(...places.slice(passed));
    if (found.length >= limit) break;
  }
  return found.map((place) => new Binary(place, 0));
}

/** The number of events that match the filter. */
export async function countEvents(
  readModel: ReadModel,
  ouId: string,
  { typeKey, fromMs, toMs }: EventFilter,
): Promise<number> {
  const deleted = await readDeletedTypes(readModel, ouId);
  if (!deleted.isEmpty) return countEachSecond(readModel, ouId, { typeKey, fromMs, toMs });
  const first = fromMs === null ? null : Math.ceil(fromMs / 1_000);
  const last = toMs === null ? null : Math.floor(toMs / 1_000);
  const edges = new Set<number>();
  if (fromMs !== null && fromMs % 1_000 !== 0) edges.add(Math.floor(fromMs / 1_000));
  if (toMs !== null && toMs % 1_000 !== 0) edges.add(Math.floor(toMs / 1_000));
  const collection = readModel.collection(eventSeconds);
  const [whole, cut] = await withClassifiedErrors(() =>
    Promise.all([
      first !== null && last !== null && first >= last
        ? []
        : collection
            .aggregate<{ events: number }>([
              { $match: filterOf(ouId, first, last, typeKey) },
              { $group: { _id: null, events: { $sum: typeKey === null ? '$count' : countOfType(typeKey) } } },
            ])
            .toArray(),
      Promise.all(
        [...edges].map((second) => collection.find(filterOf(ouId, second, second + 1, typeKey)).toArray()),
      ),
    ]),
  );
  const times = { typeKey, fromMs: fromMs ?? -Infinity, toMs: toMs ?? Infinity, before: null };
  return (whole[0]?.events ?? 0) + newestPlaces(ouId, cut.flat(), times, Infinity).length;
}

/** Counts the events of each second by itself, as long as deleted ones are stored: the database cannot tell them from others. */
async function countEachSecond(
  readModel: ReadModel,
  ouId: string,
  { typeKey, fromMs, toMs }: EventFilter,
): Promise<number> {
  const times = { typeKey, fromMs: fromMs ?? -Infinity, toMs: toMs ?? Infinity, before: null };
  let events = 0;
  await withClassifiedErrors(async () => {
    for await (const documents of seconds(readModel, ouId, { typeKey, fromMs, toMs }))
      events += isWhole(documents, times)
        ? documents.reduce((sum, document) => sum + countIn(document, typeKey), 0)
        : newestPlaces(ouId, documents, times, Infinity).length;
  });
  return events;
}

function countOfType(typeKey: string) {
  return { $arrayElemAt: ['$counts', { $indexOfArray: ['$types', { $literal: typeKey }] }] };
}

function filterOf(
  ouId: string,
  from: number | null,
  to: number | null,
  typeKey: string | null,
): Filter<EventSecondDocument> {
  return { _id: secondsBetween(ouId, from, to), ...(typeKey !== null && { types: typeKey }) };
}

function isWhole(
  documents: readonly EventSecondDocument[],
  { fromMs, toMs, before }: { fromMs: number; toMs: number; before: Uint8Array | null },
): boolean {
  const startMs = secondOf(documents[0]) * 1_000;
  return before === null && startMs >= fromMs && startMs + 1_000 <= toMs;
}

function secondOf(document: EventSecondDocument | undefined): number {
  return document ? readSecondKey(document._id).second : 0;
}

/** Yields the documents of each second, newest first. */
async function* seconds(
  readModel: ReadModel,
  ouId: string,
  { typeKey, fromMs, toMs }: EventFilter,
): AsyncGenerator<EventSecondDocument[]> {
  const range = secondsBetween(
    ouId,
    fromMs === null ? null : Math.floor(fromMs / 1_000),
    toMs === null ? null : Math.ceil(toMs / 1_000),
  );
  const types = typeKey === null ? {} : { types: typeKey };
  const deleted = await readDeletedTypes(readModel, ouId);
  let before = range.$lt;
  let second: EventSecondDocument[] = [];
  for (let chunk = chunks.first; ; chunk = Math.min(2 * chunk, chunks.largest)) {
    // Reads in chunks with a limit each: without one, the database may first sort the whole range.
    const found = await readModel
      .collection(eventSeconds)
      .find({ _id: { $gte: range.$gte, $lt: before }, ...types })
      .sort({ _id: -1 })
      .limit(chunk)
      .toArray();
    for (const document of found) {
      if (second.length > 0 && secondOf(second[0]) !== secondOf(document)) {
        yield second;
        second = [];
      }
      second.push(deleted.secondWithout(document));
    }
    const last = found.at(-1);
    if (!last || found.length < chunk) break;
    before = last._id;
  }
  if (second.length > 0) yield second;
}
