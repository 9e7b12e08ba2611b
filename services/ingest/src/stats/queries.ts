// GET /event-stats: how many events of each type there are, and how many repeats were dropped, of batches, of all time and by time.
import {
  routeDeclarations,
  routes,
  timeSpans,
  type RequestedTime,
  type TimeSpan,
} from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery, type QueryInput } from '@lead-scoring/service';
import { drawnStats, pictureOf, prefersPicture } from '../analytics/picture.js';
import { timeOf, type AnalyticsLimits } from '../analytics/read-events.js';
import { tallyTypes, type VersionedReadModel } from '../analytics/read-periods.js';
import { SeriesTally } from '../analytics/series-tally.js';
import { findEventTypes, loadEventUnit } from '../event-types/reads.js';
import { repeatsBySpan, repeatsOfAllTime, repeatsOfBatches, sumOf } from '../repeats/queries.js';
import { neverSeen, seenIn, seenOfAllTime } from './first-and-last.js';
import { secondsWithin, type SeenTimesOfType } from './narrowed-times.js';

const { analyticsLimits, maximumSeries, maximumTypesListed } = routeDeclarations;

type EventStats = routeDeclarations.EventStats;

export function statsQueries(readModel: VersionedReadModel): BoundQuery[] {
  return [
    bindQuery(routes.getEventStats, async ({ query, context }) => {
      const stats = await statsAsked(readModel, context.ouId, query);
      return prefersPicture(context) ? pictureOf(drawnStats(stats), query.width) : stats;
    }),
  ];
}

type AskedStats = Pick<
  QueryInput<typeof routes.getEventStats>['query'],
  'batch_id' | 'granularity' | 'from' | 'to' | 'timezone'
>;

function statsAsked(
  readModel: VersionedReadModel,
  ouId: string,
  { batch_id, granularity, from, to, timezone }: AskedStats,
): Promise<EventStats> {
  if (batch_id !== undefined) return repeatsOfBatches(readModel, ouId, batch_id.toLowerCase().split(','));
  if ((granularity ?? from ?? to) === undefined) return statsOfAllTime(readModel, ouId);
  const latest = new Date().toISOString();
  return statsByTime(readModel, ouId, { granularity: granularity ?? 'day', from, to, timezone, latest });
}

/** @param limits how much one answer takes into account */
export async function statsOfAllTime(
  readModel: ReadModel,
  ouId: string,
  { seconds, types: typesListed }: { seconds: number; types: number } = {
    seconds: analyticsLimits.seconds,
    types: maximumTypesListed,
  },
): Promise<EventStats> {
  const [{ events, types, isComplete }, repeats] = await Promise.all([
    loadEventUnit(readModel, ouId),
    repeatsOfAllTime(readModel, ouId),
  ]);
  const all = [...types.values()].sort(
    (left, right) => right.count - left.count || (left.key < right.key ? -1 : 1),
  );
  const [listed, rest] = [all.slice(0, typesListed), all.slice(typesListed)];
  const seen = await seenOfAllTime(readModel, ouId, listed, seconds);
  const others = events - listed.reduce((sum, { count }) => sum + count, 0);
  return {
    ...repeats,
    events,
    event_types: listed.map(({ key, name, count }) => ({
      event_type: name,
      count,
      ...(seen.get(key) ?? neverSeen),
    })),
    other: others === 0 ? null : { event_types: isComplete ? rest.length : null, count: others },
  };
}

/** @throws ProblemError 422 `range_too_large` */
export async function statsByTime(
  readModel: VersionedReadModel,
  ouId: string,
  asked: RequestedTime,
  limits: AnalyticsLimits = analyticsLimits,
): Promise<EventStats> {
  const spans = timeSpans(asked) as [TimeSpan, ...TimeSpan[]];
  const tally = SeriesTally.of('events', spans.length);
  const times = new Map<string, SeenTimesOfType>();
  const [repeats] = await Promise.all([
    repeatsBySpan(readModel, ouId, spans, limits.quartersWithRepeats),
    tallyTypes(readModel, { ouId, metric: 'events', typeKey: null, spans }, limits, tally, (type, time) => {
      const known = times.get(type);
      if (!known) times.set(type, { first: time, last: time });
      else if (time[0] < known.first[0]) known.first = time;
      else if (time[0] > known.last[0]) known.last = time;
    }),
  ]);
  const { total, totals, series, other } = tally.result(maximumSeries);
  const shown = new Set(series.flatMap(({ value }) => value ?? []));
  const [types, seconds] = await Promise.all([
    findEventTypes(readModel, ouId, shown),
    secondsWithin(readModel, ouId, new Map([...times].filter(([type]) => shown.has(type))), limits.seconds),
  ]);
  const seen = await seenIn(readModel, ouId, seconds, timeOf(spans));
  return {
    ...sumOf(repeats),
    events: total,
    event_types: series.map(({ value, total: count, values }) => {
      const key = value ?? '';
      return { event_type: types.get(key)?.name ?? key, count, ...(seen.get(key) ?? neverSeen), values };
    }),
    other: other && { event_types: other.groups, count: other.total, values: other.values },
    granularity: asked.granularity,
    timezone: asked.timezone,
    from: spans[0].from,
    to: (spans.at(-1) ?? spans[0]).at,
    buckets: spans.map(({ label, from, at }, index) => ({
      label,
      starts_at: from,
      at,
      events: totals[index] ?? 0,
      ...(repeats[index] ?? sumOf([])),
    })),
  };
}
