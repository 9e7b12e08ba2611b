// GET /events-analytics: events or leads by time and type, or by time and metadata.
import { eventTypeKey, routeDeclarations, routes, timeSpans, type TimeSpan } from '@lead-scoring/contracts';
import { bindQuery, type BoundQuery, type QueryInput } from '@lead-scoring/service';
import { findEventTypes } from '../event-types/reads.js';
import { drawnAnalytics, pictureOf, prefersPicture } from './picture.js';
import { tallyMetadata, type AnalyticsLimits, type AskedSeries } from './read-events.js';
import { tallyLeads } from './read-leads.js';
import { tallyTypes, type VersionedReadModel } from './read-periods.js';
import { SeriesTally } from './series-tally.js';

const { analyticsLimits, analyticsOfLeads, maximumSeries, maximumShownValue } = routeDeclarations;

type EventsAnalytics = routeDeclarations.EventsAnalytics;

export function analyticsQueries(
  readModel: VersionedReadModel,
  { limits = analyticsLimits, now = () => new Date() }: { limits?: AnalyticsLimits; now?: () => Date } = {},
): BoundQuery[] {
  const answered = async ({ query, context }: AskedAnalytics, leads: readonly string[] | null) => {
    const spans = timeSpans({ ...query, latest: now().toISOString() }) as [TimeSpan, ...TimeSpan[]];
    const answer = await seriesAsked(readModel, { query, ouId: context.ouId, spans, leads }, limits);
    return prefersPicture(context) ? pictureOf(drawnAnalytics(answer), query.width) : answer;
  };
  return [
    bindQuery(routes.getEventsAnalytics, (input) => {
      if (input.query.filter_id !== undefined)
        throw new Error(
          'a filter is for scoring to resolve: the gateway asks with the leads that it matches',
        );
      return answered(input, null);
    }),
    bindQuery(analyticsOfLeads, (input) => answered(input, input.body.leads)),
  ];
}

type AskedAnalytics = Pick<QueryInput<typeof routes.getEventsAnalytics>, 'query' | 'context'>;

interface SeriesRequest {
  query: AskedAnalytics['query'];
  ouId: string;
  spans: AskedSeries['spans'];
  /** null: of all leads. */
  leads: readonly string[] | null;
}

/** @throws ProblemError 422 `range_too_large` */
async function seriesAsked(
  readModel: VersionedReadModel,
  { query, ouId, spans, leads }: SeriesRequest,
  limits: AnalyticsLimits,
): Promise<EventsAnalytics> {
  const { metric, group_by, granularity, timezone, event_type } = query;
  const typeKey = event_type === undefined ? null : eventTypeKey(event_type);
  const asked: AskedSeries = { ouId, metric, typeKey, spans };
  const tally = SeriesTally.of(metric, spans.length);
  const isByType = group_by === 'event_type';
  if (leads) await tallyLeads(readModel, group_by, asked, leads, limits, tally);
  else if (isByType) await tallyTypes(readModel, asked, limits, tally);
  else await tallyMetadata(readModel, group_by, asked, limits, tally);
  const { series, ...result } = tally.result(maximumSeries);
  const shown = series.flatMap(({ value }) => value ?? []);
  const types = isByType ? await findEventTypes(readModel, ouId, shown) : null;
  return {
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
}

/** As much of a value as is shown. */
function cut(value: string): string {
  return value.length <= maximumShownValue ? value : `${value.slice(0, maximumShownValue).toWellFormed()}…`;
}
