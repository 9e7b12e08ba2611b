// Finds the times of the first and last events of types. The statistics of types bound them, but may still have the times of events of
// deleted leads, so the times are read from the order of time.
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import type { EventType } from '../event-types/fold.js';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { eventSeconds } from '../events/documents.js';
import { readSecondKey, secondsBetween } from '../events/keys.js';
import { visitEvents } from '../events/seconds.js';

/** Seconds since 1970 that may hold the first and the last event of a type. */
export interface SeenSeconds {
  first: number;
  last: number;
}

/** ISO 8601; null: not found. */
export interface SeenTimes {
  first_seen: string | null;
  last_seen: string | null;
}

export const neverSeen: SeenTimes = { first_seen: null, last_seen: null };

/** Each reads one second, which the database finds by its primary index. */
const readsAtOnce = 20;

/**
 * The first event in the first second and the last one in the last second of each type.
 * @param seconds by the key of the type
 * @param time milliseconds since 1970, the end exclusive; events outside do not count
 */
export async function seenIn(
  readModel: ReadModel,
  ouId: string,
  seconds: ReadonlyMap<string, SeenSeconds>,
  [fromMs, toMs]: readonly [fromMs: number, toMs: number] = [-Infinity, Infinity],
): Promise<Map<string, SeenTimes>> {
  const asked = new Map<number, Map<string, SeenSeconds>>();
  for (const [type, { first, last }] of seconds)
    for (const second of [first, last]) {
      const ofSecond = asked.get(second) ?? new Map<string, SeenSeconds>();
      asked.set(second, ofSecond.set(type, { first: Infinity, last: -Infinity }));
    }
  const deleted = await readDeletedTypes(readModel, ouId);
  const read = async ([second, types]: readonly [number, ReadonlyMap<string, SeenSeconds>]) => {
    const range = secondsBetween(ouId, second, second + 1);
    for await (const document of readModel.collection(eventSeconds).find({ _id: range }))
      visitEvents(deleted.secondWithout(document), (type, timeMs) => {
        const seen = types.get(type);
        if (!seen || timeMs < fromMs || timeMs >= toMs) return;
        seen.first = Math.min(seen.first, timeMs);
        seen.last = Math.max(seen.last, timeMs);
      });
  };
  await withClassifiedErrors(async () => {
    const all = [...asked];
    for (let at = 0; at < all.length; at += readsAtOnce)
      await Promise.all(all.slice(at, at + readsAtOnce).map(read));
  });
  return new Map(
    [...seconds].map(([type, { first, last }]) => [
      type,
      {
        first_seen: isoOf(asked.get(first)?.get(type)?.first),
        last_seen: isoOf(asked.get(last)?.get(type)?.last),
      },
    ]),
  );
}

/**
 * The first and the last event of each type of all time. Where the statistics still have the time of an event of a deleted lead, the
 * next second with the type is looked for.
 * @param limit the most documents of seconds to read in each direction; what is not among them is null
 */
export async function seenOfAllTime(
  readModel: ReadModel,
  ouId: string,
  types: readonly EventType[],
  limit: number,
): Promise<Map<string, SeenTimes>> {
  const seconds = new Map(
    types.map(({ key, first_seen, last_seen }) => [
      key,
      { first: secondOf(first_seen), last: secondOf(last_seen) },
    ]),
  );
  const seen = await seenIn(readModel, ouId, seconds);
  const of = (isGone: (times: SeenTimes) => boolean) =>
    new Map([...seconds].filter(([key]) => isGone(seen.get(key) ?? neverSeen)));
  const [later, earlier] = await Promise.all([
    nextSeconds(
      readModel,
      ouId,
      of(({ first_seen }) => first_seen === null),
      'later',
      limit,
    ),
    nextSeconds(
      readModel,
      ouId,
      of(({ last_seen }) => last_seen === null),
      'earlier',
      limit,
    ),
  ]);
  const moved = new Map(
    [...seconds].flatMap(([key, { first, last }]) =>
      later.has(key) || earlier.has(key)
        ? [[key, { first: later.get(key) ?? first, last: earlier.get(key) ?? last }] as const]
        : [],
    ),
  );
  for (const [key, times] of await seenIn(readModel, ouId, moved)) seen.set(key, times);
  return seen;
}

/** The next second in which each type has an event, beginning with the one that is known. */
async function nextSeconds(
  readModel: ReadModel,
  ouId: string,
  types: ReadonlyMap<string, SeenSeconds>,
  direction: Direction,
  limit: number,
): Promise<ReadonlyMap<string, number>> {
  if (types.size === 0) return new Map();
  const known = [...types.values()];
  const range =
    direction === 'later'
      ? secondsBetween(ouId, Math.min(...known.map(({ first }) => first)), null)
      : secondsBetween(ouId, null, Math.max(...known.map(({ last }) => last)) + 1);
  return (await searchSeconds(readModel, { ouId, range }, new Set(types.keys()), direction, limit)).found;
}

/** Seconds of an OU. */
export interface SearchedSeconds {
  ouId: string;
  range: ReturnType<typeof secondsBetween>;
}

/** later: in the order of time. */
export type Direction = 'later' | 'earlier';

/**
 * The first second, in the direction, in which each type has an event.
 * @param limit the most documents of seconds to read
 */
export async function searchSeconds(
  readModel: ReadModel,
  { ouId, range }: SearchedSeconds,
  types: ReadonlySet<string>,
  direction: Direction,
  limit: number,
): Promise<{ found: Map<string, number>; read: number }> {
  const found = new Map<string, number>();
  const deleted = await readDeletedTypes(readModel, ouId);
  let read = 0;
  await withClassifiedErrors(async () => {
    for await (const document of readModel
      .collection(eventSeconds)
      .find({ _id: range }, deleted.isEmpty ? { projection: { types: 1, counts: 1 } } : {})
      .sort({ _id: direction === 'later' ? 1 : -1 })
      .limit(limit)) {
      const { _id, types: inSecond, counts } = deleted.secondWithout(document);
      read += 1;
      inSecond.forEach((type, index) => {
        if ((counts[index] ?? 0) > 0 && types.has(type) && !found.has(type))
          found.set(type, readSecondKey(_id).second);
      });
      if (found.size === types.size) break;
    }
  });
  return { found, read };
}

const secondOf = (time: string) => Math.floor(Date.parse(time) / 1_000);

function isoOf(timeMs: number | undefined): string | null {
  return timeMs === undefined || !Number.isFinite(timeMs) ? null : new Date(timeMs).toISOString();
}
