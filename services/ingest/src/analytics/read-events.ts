// Reads the events of a time into a tally: by type from the documents of seconds, by metadata from the events themselves. What one
// answer cannot count is refused.
import { finderOf, placeIn, type routeDeclarations, type TimeSpan } from '@lead-scoring/contracts';
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { problem, type ProblemError } from '@lead-scoring/service';
import { eventSeconds } from '../events/documents.js';
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

/**
 * Adds the events by the key of their type.
 * @param note called with seconds in which a type has events that are counted, several times with the same one
 * @throws ProblemError 422 `range_too_large`
 */
export async function tallyTypes(
  readModel: ReadModel,
  { ouId, metric, typeKey, spans }: AskedSeries,
  limits: AnalyticsLimits,
  tally: SeriesTally,
  note: (typeKey: string, second: number) => void = () => undefined,
): Promise<void> {
  const [fromMs, toMs] = timeOf(spans);
  const range = secondsBetween(ouId, Math.floor(fromMs / 1_000), Math.ceil(toMs / 1_000));
  let [seconds, events] = [0, 0];
  const placeOf = spanFinder(spans);
  await withClassifiedErrors(async () => {
    for await (const document of readModel
      .collection(eventSeconds)
      .find({ _id: range, ...(typeKey !== null && { types: typeKey }) })
      .limit(limits.seconds + 1)) {
      seconds += 1;
      if (seconds > limits.seconds) throw tooLarge(`${shown(limits.seconds)} seconds with events`);
      const { second } = readSecondKey(document._id);
      const startMs = second * 1_000;
      const bucket = placeOf(startMs);
      if (metric === 'events' && bucket >= 0 && bucket === placeOf(startMs + 999)) {
        document.types.forEach((type, index) => {
          const count = document.counts[index] ?? 0;
          if (count === 0 || (typeKey !== null && type !== typeKey)) return;
          tally.add(type, bucket, '', count);
          note(type, second);
        });
        continue;
      }
      events += document.count;
      if (events > limits.eventsOfLeads) throw tooLarge(`${shown(limits.eventsOfLeads)} events`);
      visitEvents(document, (type, timeMs, lead) => {
        if (timeMs < fromMs || timeMs >= toMs || (typeKey !== null && type !== typeKey)) return;
        tally.add(type, placeOf(timeMs), lead);
        note(type, second);
      });
    }
  });
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
  const valueOf = finderOf(field);
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
    for await (const found of eventsAt(readModel, ouId, places))
      for (const { event } of found) {
        const value = valueOf(event.metadata) ?? null;
        const text = value === null || typeof value === 'string' ? value : JSON.stringify(value);
        tally.add(text, placeIn(spans, event.timestamp), event.lead_id);
      }
  }
}

/** The time of all spans together, the end exclusive. */
export function timeOf(spans: AskedSeries['spans']): [fromMs: number, toMs: number] {
  return [Date.parse(spans[0].from), Date.parse((spans.at(-1) ?? spans[0]).at) + 1];
}

/** Finds the span of a moment in milliseconds; -1 where it is in none. Most moments are in the span of the one before. */
function spanFinder(spans: readonly TimeSpan[]): (timeMs: number) => number {
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

const shown = (count: number) => count.toLocaleString('en');

/** The refusal of a time that holds too much. @param what such as `10 events` */
export function tooLarge(what: string): ProblemError {
  return problem(
    'range_too_large',
    `There are more than ${what} in this time. Ask for a shorter time with from and to, or for one event_type with GET /events-analytics.`,
  );
}
