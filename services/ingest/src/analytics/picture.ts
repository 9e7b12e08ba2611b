// Counts of events as pictures.
import { pictureHeaders, renderSeries, type DrawnSeries } from '@lead-scoring/charts';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { RenderedAnswer, type QueryContext } from '@lead-scoring/service';

/** Whether the caller prefers a picture to numbers. */
export function prefersPicture({ preferred }: Pick<QueryContext, 'preferred'>): boolean {
  return preferred(['application/json', 'image/svg+xml']) === 'image/svg+xml';
}

export function pictureOf(series: DrawnSeries, width: number): RenderedAnswer {
  return new RenderedAnswer('image/svg+xml; charset=utf-8', renderSeries(series, width), {
    headers: pictureHeaders,
  });
}

export function drawnAnalytics(answer: routeDeclarations.EventsAnalytics): DrawnSeries {
  const { metric, group_by, granularity, timezone, buckets, total, totals, series, other } = answer;
  return {
    title: `${metric === 'events' ? 'Events' : 'Leads'} by ${group_by === 'event_type' ? 'type' : group_by}`,
    unit: metric === 'events' ? 'event' : 'lead',
    total,
    notes: [],
    time: { granularity, timezone, labels: buckets.map(({ label }) => label), totals },
    rows: series.map(({ value, ...numbers }) => ({ name: value, ...numbers })),
    other,
  };
}

const counted = (count: number, one: string, many: string) =>
  count === 0 ? [] : [`${count.toLocaleString('en')} ${count === 1 ? one : many}`];

export function drawnStats(stats: routeDeclarations.EventStats): DrawnSeries {
  const { repeats, differing, aliases_refused, events, event_types = [], other = null } = stats;
  const { granularity, timezone = 'UTC', buckets = [] } = stats;
  const beside = [
    ...counted(differing, 'with other content', 'with other content'),
    ...counted(aliases_refused, 'alias not linked', 'aliases not linked'),
  ];
  if (events === undefined)
    return {
      title: 'Repeats',
      scope: 'Of the batches asked for',
      unit: 'repeat',
      total: repeats,
      notes: beside,
      time: null,
      rows: [],
      other: null,
    };
  return {
    title: 'Events by type',
    unit: 'event',
    total: events,
    notes: [...counted(repeats, 'repeat dropped', 'repeats dropped'), ...beside],
    time: granularity
      ? {
          granularity,
          timezone,
          labels: buckets.map(({ label }) => label),
          totals: buckets.map((bucket) => bucket.events),
        }
      : null,
    rows: event_types.map(({ event_type, count, values }) => ({ name: event_type, total: count, values })),
    other: other && { groups: other.event_types, total: other.count },
  };
}
