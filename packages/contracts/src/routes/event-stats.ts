// How many events there are of each type, and how many repeats were dropped: of all time, by hour or day, or of batches.
import { z } from 'zod';
import { dayOrMomentParameter, id, text, time } from '../common.js';
import { boundedTime, spanTimezone, tooManySpans } from './bounded-time.js';
import { defaultFromText, maximumSeries, maximumSpans, spanOfTime } from './event-analytics.js';
import { minPosition } from './events.js';
import { alsoAsPicture, pictureText, pictureWidth } from './picture.js';
import { defineRoute, viewer } from './route.js';

/** Maximum number of batches in one GET /event-stats: their ids must fit into an address. */
export const maximumBatchesAsked = 50;
/** The most event types that are listed of all time. By time they are as many as have a series. */
export const maximumTypesListed = 1_000;

const count = z.int().min(0);
const values = z
  .array(count)
  .max(maximumSpans + 3)
  .optional()
  .describe('By time: a number for each bucket.');
const seen = time
  .nullable()
  .describe(
    'The time of the event, among those that are counted. null: that event belonged to a deleted lead, and the next one is too far from it to look for; ask by time.',
  );

const repeatCounts = {
  repeats: count.describe('Events that had come before, told by their event_id, and were dropped.'),
  differing: count.describe(
    'Repeats whose event_type, timestamp or metadata is another than that of the event stored under their event_id, which stays as it was. A timestamp that is left out differs from none.',
  ),
  aliases_refused: count.describe(
    'Further aliases that were not linked, since the organizational unit has as many as it may have. The events that named them count for the lead of their first alias, and such an alias stays a lead of its own until an event names it again while there is room.',
  ),
};

export const eventStats = z
  .strictObject({
    ...repeatCounts,
    events: count
      .optional()
      .describe('All events, each counted once. Absent with batch_id, as all that follows.'),
    event_types: z
      .array(
        z.strictObject({
          event_type: z.string().max(100),
          count,
          first_seen: seen,
          last_seen: seen,
          values,
        }),
      )
      .max(maximumTypesListed)
      .optional()
      .describe(
        `The most frequent first: up to ${maximumTypesListed.toLocaleString('en')} of all time, ${String(maximumSeries)} by time. Both spellings of a type are one.`,
      ),
    other: z
      .strictObject({
        event_types: count
          .nullable()
          .describe('The number of types in it. null: more than GET /event-types lists.'),
        count,
        values,
      })
      .nullable()
      .optional()
      .describe('All further types together; null where there are none.'),
    granularity: z.enum(['hour', 'day', 'week', 'month']).optional().describe('Absent of all time.'),
    timezone: text(64).optional(),
    from: time.optional().describe('By time: the beginning of the first bucket.'),
    to: time.optional().describe('By time: the last moment that counts.'),
    buckets: z
      .array(
        z.strictObject({
          ...spanOfTime,
          events: count,
          repeats: count,
          differing: count,
          aliases_refused: count,
        }),
      )
      .min(1)
      .max(maximumSpans + 3)
      .optional()
      .describe('By time: one after another without gaps, the oldest first; also those without events.'),
  })
  .meta({ id: 'EventStats' });
export type EventStats = z.infer<typeof eventStats>;

export const getEventStats = defineRoute({
  name: 'getEventStats',
  method: 'GET',
  path: '/event-stats',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'How many events of each type there are, and how many were repeats',
  description: [
    'Of all time; by hour, day, week or month with `granularity`, `from` or `to`; or of batches with `batch_id`. Events of deleted leads are not counted, their repeats are. Events count by their own times. Repeats, and aliases not linked, count by the time when they came, by quarters of an hour: one in which the time ends counts in it whole.',
    'A time with more than can be counted at once is refused with 422. Then ask for a shorter one.',
    'Repeats and aliases are counted when they are decided: with the position of the 202 as min_position the count is of all events of the batch, but for those of an alias that was just being linked to another lead.',
    pictureText,
  ].join('\n\n'),
  query: boundedTime(
    {
      batch_id: text(maximumBatchesAsked * 37, { minimum: 1 })
        .refine(
          (batches) => batches.split(',').every((one) => id.safeParse(one).success),
          'must be the batch_id of a 202, or several with commas between them',
        )
        .optional()
        .describe(
          `The batch_id of a 202; up to ${String(maximumBatchesAsked)}, with commas, are added up. Then the answer has repeats, differing and aliases_refused alone.`,
        )
        .meta({ example: '11111111-1111-4111-8111-111111111111' }),
      granularity: z
        .enum(['hour', 'day', 'week', 'month'])
        .optional()
        .describe(
          'A week begins on Monday. Default with `from` or `to`: day; without them, all time is one.',
        ),
      from: dayOrMomentParameter
        .optional()
        .describe(
          `The first bucket is the one that this moment is in. A plain date is that day of the time zone. Default by time: ${defaultFromText}.`,
        ),
      to: dayOrMomentParameter
        .optional()
        .describe('Ends before this moment. Default now; what is later than now is cut off.'),
      timezone: spanTimezone,
      width: pictureWidth,
      min_position: minPosition,
    },
    maximumSpans,
    tooManySpans(maximumSpans),
  ).refine(
    ({ batch_id, granularity, from, to }) =>
      batch_id === undefined || (granularity ?? from ?? to) === undefined,
    { path: ['batch_id'], error: 'must not be given together with granularity, from or to' },
  ),
  responses: { 200: { description: 'Counts', schema: eventStats, ...alsoAsPicture } },
  problems: ['range_too_large'],
});
