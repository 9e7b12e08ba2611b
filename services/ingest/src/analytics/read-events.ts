// Reads the events of a time into a tally: by type from the documents of seconds, by metadata from the events themselves. What one
// answer cannot count is refused. read-periods.ts counts most events without reading them.
import {
  finderOf,
  placeIn,
  type JsonObject,
  type routeDeclarations,
  type TimeSpan,
} from '@lead-scoring/contracts';
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { problem, type ProblemError } from '@lead-scoring/service';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { eventSeconds, type EventSecondDocument } from '../events/documents.js';
import { readSecondKey, secondsBetween } from '../events/keys.js';
import { visitEvents } from '../events/seconds.js';
import { eventsAt } from '../export/events-at.js';
import { runsOfPlaces } from '../export/runs.js';
import type { SeriesTally } from './series-tally.js';

export type AnalyticsLimits = typeof routeDeclarations.analyticsLimits;

export interface AskedSeries {
  ouId: string;
  metric: 'events' | 'leads';
  /** null: all types. */
  typeKey: string | null;
  spans: readonly [TimeSpan, ...TimeSpan[]];
}

/** Milliseconds since 1970, the end exclusive. */
export type TimeRange = readonly [fromMs: number, toMs: number];

/** Called with times in which a type has events that are counted, several times with the same one. */
export type NoteTime = (typeKey: string, time: TimeRange) => void;

/** Adds events by the key of their type, from the documents of seconds. One answer has one, which knows how much it has read. */
export class SecondsTally {
  readonly #placeOf: (timeMs: number) => number;
  #seconds = 0;
  #events = 0;

  constructor(
    private readonly readModel: ReadModel,
    private readonly asked: AskedSeries,
    private readonly limits: AnalyticsLimits,
    private readonly tally: SeriesTally,
    private readonly note: NoteTime = () => undefined,
  ) {
    this.#placeOf = spanFinder(asked.spans);
  }

  /**
   * Adds the events of a part of the time that was asked for.
   * @throws ProblemError 422 `range_too_large`
   */
  async add(range: TimeRange): Promise<void> {
    const { ouId, typeKey } = this.asked;
    const [fromMs, toMs] = range;
    const deleted = await readDeletedTypes(this.readModel, ouId);
    const ids = secondsBetween(ouId, Math.floor(fromMs / 1_000), Math.ceil(toMs / 1_000));
    await withClassifiedErrors(async () => {
      for await (const document of this.readModel
        .collection(eventSeconds)
        .find({ _id: ids, ...(typeKey !== null && { types: typeKey }) })
        .limit(this.limits.seconds - this.#seconds + 1)) {
        this.#seconds += 1;
        if (this.#seconds > this.limits.seconds)
          throw tooLarge(`${shown(this.limits.seconds)} seconds with events`);
        this.#addSecond(deleted.secondWithout(document), range);
      }
    });
  }

  #addSecond(document: EventSecondDocument, [fromMs, toMs]: TimeRange): void {
    const { asked, tally } = this;
    const startMs = readSecondKey(document._id).second * 1_000;
    const second: TimeRange = [startMs, startMs + 1_000];
    const isCounted = (type: string) => asked.typeKey === null || type === asked.typeKey;
    const bucket = this.#placeOf(startMs);
    if (asked.metric === 'events' && bucket >= 0 && bucket === this.#placeOf(startMs + 999)) {
      document.types.forEach((type, index) => {
        const count = document.counts[index] ?? 0;
        if (count === 0 || !isCounted(type)) return;
        tally.add(type, bucket, '', count);
        this.note(type, second);
      });
      return;
    }
    this.#events += document.count;
    if (this.#events > this.limits.eventsOfLeads)
      throw tooLarge(`${shown(this.limits.eventsOfLeads)} events`);
    visitEvents(document, (type, timeMs, lead) => {
      if (timeMs < fromMs || timeMs >= toMs || !isCounted(type)) return;
      tally.add(type, this.#placeOf(timeMs), lead);
      this.note(type, second);
    });
  }
}

/**
 * Adds the events by the value of a metadata field; null for events without one.
 * @param field such as `metadata.path`
 * @throws ProblemError 422 `range_too_large`
 */
export async function tallyMetadata(
  readModel: ReadModel,
  field: string,
  { ouId, typeKey, spans }: AskedSeries,
  limits: AnalyticsLimits,
  tally: SeriesTally,
): Promise<void> {
  const [fromMs, toMs] = timeOf(spans);
  const valueOf = metadataValue(field);
  let events = 0;
  for await (const places of runsOfPlaces(readModel, {
    ouId,
    typeKey,
    fromMs,
    toMs,
    asked: null,
    after: null,
  })) {
    events += places.length;
    if (events > limits.eventsWithMetadata)
      throw tooLarge(`${shown(limits.eventsWithMetadata)} events, of which the metadata would be read`);
    for await (const found of eventsAt(readModel, ouId, [places]))
      for (const { event } of found)
        tally.add(valueOf(event.metadata), placeIn(spans, event.timestamp), event.lead_id);
  }
}

/** The value of a metadata field as a text; a list or an object as JSON, null for none. @param field such as `metadata.path` */
export function metadataValue(field: string): (metadata: JsonObject) => string | null {
  const find = finderOf(field);
  return (metadata) => {
    const value = find(metadata) ?? null;
    return value === null || typeof value === 'string' ? value : JSON.stringify(value);
  };
}

/** The time of all spans together, the end exclusive. */
export function timeOf(spans: AskedSeries['spans']): TimeRange {
  return [Date.parse(spans[0].from), Date.parse((spans.at(-1) ?? spans[0]).at) + 1];
}

/** Finds the span of a moment in milliseconds; -1 where it is in none. Most moments are in the span of the one before. */
export function spanFinder(spans: readonly TimeSpan[]): (timeMs: number) => number {
  const edges = spans.map(({ from, at }) => ({ from: Date.parse(from), at: Date.parse(at) }));
  let last = 0;
  return (timeMs) => {
    const known = edges[last];
    if (known && timeMs >= known.from && timeMs <= known.at) return last;
    const found = placeIn(spans, new Date(timeMs).toISOString());
    if (found < 0 || found >= spans.length) return -1;
    last = found;
    return found;
  };
}

export const shown = (count: number) => count.toLocaleString('en');

/** The refusal of a time that holds too much. @param what such as `10 events` */
export function tooLarge(what: string): ProblemError {
  return problem(
    'range_too_large',
    `There are more than ${what} in this time. Ask for a shorter time with from and to, or for one event_type with GET /events-analytics.`,
  );
}
