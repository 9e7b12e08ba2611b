// The counting anew of an organizational unit's event types.
import { z } from 'zod';
import { eventTypeBackfillFound, maximumDifferingTypes } from '../records/event-type-backfill.js';
import { jobId } from '../records/job-id.js';
import { defineRoute, editor } from './route.js';

export const backfillEventTypes = defineRoute({
  owner: 'ingest',
  kind: 'command',
  access: editor,
  tag: 'Events',
  method: 'POST',
  name: 'backfillEventTypes',
  path: '/backfill/event-types',
  summary: 'Count the event types anew from the recorded events',
  description:
    'Lists, counts and properties of event types follow the events as they come and are deleted. Some things are only known from the whole history: the first and last time of a type after events of leads were deleted, properties beyond the 2,000 that came first after some of these are gone, and types that lists leave out because there were too many at the time. A job reads the log of the organizational unit and brings all of them, and every count, to what a fresh count gives. Events that come meanwhile are counted as always. GET /jobs/{id} shows how far it is (`total` and `done` count records of the log that it reads) and, when it is completed, its `result`: the types that differed. With `dry_run=true` nothing changes. Cancelled, it leaves each partition as it was or counted anew. An organizational unit has one such job at a time; another is refused (409 `job_running`, which names it).',
  query: z.strictObject({
    dry_run: z
      .enum(['true', 'false'], 'must be true or false')
      .default('false')
      .describe('Only say what would change.')
      .meta({ example: 'true' }),
  }),
  responses: {
    202: {
      description: 'The job has begun',
      schema: z.strictObject({ job_id: jobId }).meta({ id: 'EventTypeBackfillStarted' }),
    },
  },
  problems: ['job_running'],
});

const { types, has_more, list } = eventTypeBackfillFound.shape;
const type = types.element.shape;

export const eventTypeBackfillResult = z
  .strictObject({
    dry_run: z.boolean().describe('Whether nothing was changed.'),
    differing: z
      .array(
        types.element
          .extend({
            events_before: type.events_before.describe('Events in the partitions where the type differed.'),
            events_after: type.events_after.describe('The same as a fresh count gives it.'),
            counts: type.counts.describe('Its number of events, or of its spellings, differed.'),
            times: type.times.describe('Its first or last time differed.'),
            properties: type.properties.describe('Its properties or their counts differed.'),
          })
          .meta({ id: 'DifferingEventType' }),
      )
      .max(maximumDifferingTypes)
      .describe(`The first ${String(maximumDifferingTypes)} types that differed.`),
    has_more: has_more.describe('Whether more types differed.'),
    list_differed: list.describe('Whether the list of types, or the number of all events, differed.'),
  })
  .describe('What a completed backfill of event types has found.')
  .meta({ id: 'EventTypeBackfillResult' });
export type EventTypeBackfillResult = z.infer<typeof eventTypeBackfillResult>;
