// GET /events-analytics: events or leads by time and type, or by time and metadata.
import { eventTypeKey, routeDeclarations, routes, timeSpans, type TimeSpan } from '@lead-scoring/contracts';
import type { EditionedReadModel } from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { loadEventTypes } from '../event-types/queries.js';
import { drawnAnalytics, pictureOf, prefersPicture } from './picture.js';
import { tallyMetadata, type AnalyticsLimits, type AskedSeries } from './read-events.js';
import { tallyTypes } from './read-periods.js';
import { SeriesTally } from './series-tally.js';

const { analyticsLimits, maximumSeries, maximumShownValue } = routeDeclarations;

export function analyticsQueries(
  readModel: EditionedReadModel,
  { limits = analyticsLimits, now = () => new Date() }: { limits?: AnalyticsLimits; now?: () => Date } = {},
): BoundQuery[] {
  return [
    bindQuery(routes.getEventsAnalytics, async ({ query, context }) => {
      const { ouId } = context;
      const { metric, group_by, granularity, timezone } = query;
      const spans = timeSpans({ ...query, latest: now().toISOString() }) as [TimeSpan, ...TimeSpan[]];
      const asked: AskedSeries = {
        ouId,
        metric,
        typeKey: query.event_type === undefined ? null : eventTypeKey(query.event_type),
        spans,
      };
      const tally = SeriesTally.of(metric, spans.length);
      const isByType = group_by === 'event_type';
      if (isByType) await tallyTypes(readModel, asked, limits, tally);
      else await tallyMetadata(readModel, group_by, asked, limits, tally);
      const types = isByType ? await loadEventTypes(readModel, ouId) : null;
      const { series, ...result } = tally.result(maximumSeries);
      const answer: routeDeclarations.EventsAnalytics = {
        metric,
        group_by,
        granularity,
        timezone,
        from: spans[0].from,
        to: (spans.at(-1) ?? spans[0]).at,
        buckets: spans.map(({ label, from, at }) => ({ label, starts_at: from, at })),
        ...result,
        series: series.map((one) => ({
          ...one,
          value: one.value === null ? null : cut(types?.get(one.value)?.name ?? one.value),
        })),
      };
      return prefersPicture(context) ? pictureOf(drawnAnalytics(answer), query.width) : answer;
    }),
  ];
}

/** As much of a value as is shown. */
function cut(value: string): string {
  return value.length <= maximumShownValue ? value : `${value.slice(0, maximumShownValue).toWellFormed()}…`;
}
