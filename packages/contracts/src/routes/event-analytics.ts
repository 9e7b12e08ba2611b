// Events and leads by hour, day, week or month, ready to plot.
import { z } from 'zod';
import { dayOrMomentParameter, id, name, text, time } from '../common.js';
import { defaultSpans } from '../vocabulary/time-spans.js';
import { boundedTime, spanTimezone, tooManySpans } from './bounded-time.js';
import { minPosition } from './events.js';
import { alsoAsPicture, pictureText, pictureWidth } from './picture.js';
import { defineRoute, viewer } from './route.js';

/** The most hours, days, weeks or months between `from` and `to`. */
export const maximumSpans = 1_100;
/** The most values that have a series of their own. */
export const maximumSeries = 50;
/** The most characters of a value that are shown. */
export const maximumShownValue = 500;

/** How much one answer takes into account. */
export const analyticsLimits = {
  /** Documents with counts of events by time, each of 6 hours or of 8 days in a part of the log. */
  periods: 50_000,
  /** Documents of seconds, each of which holds the events of a second in a part of the log. */
  seconds: 100_000,
  /** Events of which the leads are told apart. */
  eventsOfLeads: 300_000,
  /** Events of which the metadata is read. */
  eventsWithMetadata: 50_000,
  /** Leads that a filter matches, and the events that these have of all time. */
  filteredLeads: 5_000,
  eventsOfFilter: 100_000,
  /** Quarters of an hour with repeats, in a part of the log. */
  quartersWithRepeats: 100_000,
};

const count = z.int().min(0);
const values = z.array(count).max(maximumSpans + 3);

/** The fields of a bucket that say which time it covers. */
export const spanOfTime = {
  label: text(40)
    .describe(
      'In the time zone, for an axis: 2026-03-29T14:00+02:00, 2026-03-29, of a week its Monday, 2026-03.',
    )
    .meta({ example: '2026-03-29' }),
  starts_at: time,
  at: time.describe('The last moment that the bucket covers.'),
};

/** How much is asked for when no `from` is given, for descriptions. */
export const defaultFromText = `${Object.entries(defaultSpans)
  .map(([granularity, number]) => `${String(number)} ${granularity}s`)
  .join(', ')} up to \`to\``;

export const eventsAnalytics = z
  .strictObject({
    metric: z.enum(['events', 'leads']),
    group_by: text(300),
    granularity: z.enum(['hour', 'day', 'week', 'month']),
    timezone: text(64),
    from: time.describe('The beginning of the first bucket.'),
    to: time.describe('The last moment that counts.'),
    buckets: z
      .array(z.strictObject(spanOfTime))
      .min(1)
      .max(maximumSpans + 3)
      .describe('One after another without gaps, the oldest first; also those without events.'),
    total: count.describe('All events, or all distinct leads, of the time.'),
    totals: values.describe('The same for each bucket.'),
    series: z
      .array(
        z.strictObject({
          value: z
            .string()
            .max(maximumShownValue + 1)
            .nullable()
            .describe(
              `The event type, or the value of the metadata field, of which ${String(maximumShownValue)} characters are shown; null: events without one.`,
            ),
          total: count,
          values,
        }),
      )
      .max(maximumSeries)
      .describe('The largest first. Each has a number for each bucket.'),
    other: z
      .strictObject({ groups: count.describe('The number of values in it.'), total: count, values })
      .nullable()
      .describe(`All further values together; null where there are at most ${String(maximumSeries)}.`),
  })
  .meta({ id: 'EventsAnalytics' });
export type EventsAnalytics = z.infer<typeof eventsAnalytics>;

// oxlint-disable-next-line no-control-regex
const grouping = /^(?:event_type|metadata\.[^\u0000-\u001f\u007f]+)$/;

export const getEventsAnalytics = defineRoute({
  name: 'getEventsAnalytics',
  method: 'GET',
  path: '/events-analytics',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Events or leads by time and type, or by time and metadata, ready to plot',
  description: [
    'By the times of the events. All numbers are exact: the distinct leads of a day are counted once in it, and once in the total. So leads of several series do not add up to `totals`, nor those of several buckets to `total`.',
    `Events by type are counted by the quarter of an hour, so their number does not matter. What one answer cannot count is refused with 422, and never estimated: more than ${analyticsLimits.eventsWithMetadata.toLocaleString('en')} events by a metadata field; for leads more than ${analyticsLimits.eventsOfLeads.toLocaleString('en')} events, or ${analyticsLimits.seconds.toLocaleString('en')} seconds with events. So are events by type in more than ${analyticsLimits.seconds.toLocaleString('en')} seconds that were counted by the second alone: in 6 hours with very many types, and where spans of a time zone of earlier centuries begin within a quarter of an hour. Then ask for a shorter time, or for one \`event_type\`.`,
    pictureText,
  ].join('\n\n'),
  query: boundedTime(
    {
      metric: z
        .enum(['events', 'leads'])
        .default('events')
        .describe('leads: the number of distinct leads that have an event.')
        .meta({ default: 'events' }),
      group_by: text(300, { minimum: 1 })
        .regex(grouping, {
          error: 'must be event_type, or a metadata field such as metadata.path',
          abort: true,
        })
        .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')
        .default('event_type')
        .describe('event_type, or a metadata field such as metadata.path. A list or an object is one value.')
        .meta({ default: 'event_type', example: 'event_type' }),
      granularity: z
        .enum(['hour', 'day', 'week', 'month'])
        .default('day')
        .describe('A week begins on Monday.')
        .meta({ default: 'day' }),
      filter_id: id
        .optional()
        .describe(
          `A saved filter: events of the leads that match it now, at whatever time the events were. At most ${analyticsLimits.filteredLeads.toLocaleString('en')} leads with at most ${analyticsLimits.eventsOfFilter.toLocaleString('en')} events of all time; more are 422.`,
        ),
      event_type: name(100).optional().describe('Events of this type only, in either spelling.'),
      from: dayOrMomentParameter
        .optional()
        .describe(
          `The first bucket is the one that this moment is in. A plain date is that day of the time zone. Default: ${defaultFromText}.`,
        )
        .meta({ example: '2026-03-01' }),
      to: dayOrMomentParameter
        .optional()
        .describe('Ends before this moment. Default now; what is later than now is cut off.')
        .meta({ example: '2026-04-01' }),
      timezone: spanTimezone,
      width: pictureWidth,
      min_position: minPosition,
    },
    maximumSpans,
    tooManySpans(maximumSpans),
  ),
  responses: { 200: { description: 'Series', schema: eventsAnalytics, ...alsoAsPicture } },
  problems: ['range_too_large', 'filter_not_found'],
});
