// Routes that take events: POST /ingest and /import.
import { z } from 'zod';
import { id, name, text } from '../common.js';
import { jobId } from '../records/job-id.js';
import { aliasConditions, aliasKind, normaliseAlias, type Alias } from '../vocabulary/identity.js';
import { checkMetadata, metadataLimits, metadataObject } from '../vocabulary/metadata.js';
import { sentTimeRule, utcTime } from '../intake/sent-time.js';
import { cloudEvent, cloudEventTypes } from './cloud-events.js';
import { defineRoute, intake } from './route.js';

export const intakeLimits = {
  events: 5_000,
  bytes: 10_000_000,
  futureMs: 24 * 3_600_000,
  aliases: 10,
  /** Pairs of a lead's first alias and a further one in one request: two for each event of the largest batch. */
  links: 10_000,
};

/** The metadata of an event in a request. */
export const sentMetadata = metadataObject
  .superRefine((value, context) => {
    const problem = checkMetadata(value, '');
    if (problem)
      context.addIssue({ code: 'custom', path: problem.path.split('.').slice(1), message: problem.message });
  })
  .describe(
    `Any JSON object of up to ${String(metadataLimits.bytes / 1_000)} KB and ${String(metadataLimits.depth)} levels.`,
  )
  .meta({ type: 'object', additionalProperties: true, example: { path: '/pricing' } });

const sentAlias = z.string().min(1).max(512).meta({ example: 'ada@example.com' });

const eventFields = {
  event_type: name(100).meta({ example: 'Page View' }),
  timestamp: text(40)
    .refine((value) => utcTime(value) !== null, sentTimeRule)
    .optional()
    .describe('ISO 8601 with Z or an offset; default now; at most 24 hours in the future.')
    .meta({ format: 'date-time', example: '2026-01-31T09:30:00Z' }),
  event_id: text(128, { minimum: 1 })
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')
    .optional()
    .describe('Your own id: the same id for the same alias counts once, for ever.')
    .meta({ example: 'order-4711' }),
  metadata: sentMetadata.optional(),
};

const namedAlias = { alias_kind: aliasKind, alias: sentAlias };

function refuseUnknownSpelling(value: Alias, context: z.RefinementCtx) {
  const normalised = normaliseAlias(value.alias_kind, value.alias);
  if ('problem' in normalised)
    context.addIssue({ code: 'custom', path: ['alias'], message: normalised.problem });
}

/**
 * The form of a sent event: its lead is named by one alias, or by several. For documents, types and tests only: on the
 * hot path `validateEvents` does the checking, and a test compares the two.
 */
export const ingestedEvent = z.union([
  z
    .strictObject({ ...namedAlias, ...eventFields })
    .superRefine(refuseUnknownSpelling)
    .meta({ id: 'IngestedEvent', ...aliasConditions }),
  z
    .strictObject({
      aliases: z
        .array(
          z
            .strictObject(namedAlias)
            .superRefine(refuseUnknownSpelling)
            .meta({ id: 'SentAlias', ...aliasConditions }),
        )
        .min(1)
        .max(intakeLimits.aliases)
        .describe(
          'When one event knows several names of its lead: the first names the lead, and the others are linked to it. Anonymous ones (`anonymous_id`, `cookie`) come after all others; what came under them alone before becomes part of the lead. A request may link up to 10,000 of them; an organizational unit has a limit of its own, and GET /event-stats counts what was not linked.',
        ),
      ...eventFields,
    })
    .meta({ id: 'IngestedEventOfAliases' }),
]);
export type IngestedEvent = z.input<typeof ingestedEvent>;

const body = z
  .union([
    ingestedEvent,
    z.array(ingestedEvent).min(1).max(intakeLimits.events),
    z.strictObject({ events: z.array(ingestedEvent).min(1).max(intakeLimits.events) }),
  ])
  .describe(
    'One event, an array of events, or {"events": [...]}; NDJSON has one event a line. 1 to 5,000 events, 10 MB.',
  );

const accepted = {
  accepted: z.int().min(0).max(intakeLimits.events),
  rejected: z
    .array(
      z.strictObject({
        index: z.int().min(0),
        errors: z
          .array(z.strictObject({ path: z.string().max(1_000), message: z.string().max(1_000) }))
          .max(20),
      }),
    )
    .max(intakeLimits.events)
    .optional()
    .describe('With partial=true: the events that were not taken, and why.'),
  batch_id: id,
  position: z
    .string()
    .max(2_000)
    .optional()
    .describe(
      'An opaque mark in the log: a read with min_position=… waits until everything up to it is visible, except events that are on their way from one lead to another at that moment, such as the one that has named a visitor. Absent when nothing was taken.',
    ),
};

const partial = z
  .enum(['true', 'false'])
  .default('false')
  .describe('true: take the valid events and list the others.');

export const ingest = defineRoute({
  name: 'ingest',
  method: 'POST',
  path: '/ingest',
  owner: 'ingest',
  kind: 'intake',
  access: intake,
  tag: 'Events',
  summary: 'Send events',
  description: [
    '202 means that the log has acknowledged every accepted event. Any invalid event: 400 with index and reason (the first 100), and nothing is taken, unless partial=true. Body may be gzip.',
    'CloudEvents 1.0 are taken in structured mode, in batches, and in binary mode: then `ce-specversion`, `ce-id`, `ce-source`, `ce-type`, `ce-subject` and `ce-time` are headers, and the body, of application/json, is the `data`; without data it is empty.',
  ].join('\n\n'),
  query: z.strictObject({ partial }),
  body,
  bodyTypes: ['application/json', 'application/x-ndjson', cloudEventTypes.one, cloudEventTypes.batch],
  bodyForms: {
    [cloudEventTypes.one]: cloudEvent,
    [cloudEventTypes.batch]: z.array(cloudEvent).min(1).max(intakeLimits.events),
  },
  responses: {
    202: {
      description: 'Acknowledged by the log',
      schema: z.strictObject(accepted).meta({ id: 'Accepted' }),
    },
  },
  problems: ['delivery_loop'],
});

export const importEvents = defineRoute({
  name: 'importEvents',
  method: 'POST',
  path: '/import',
  owner: 'ingest',
  kind: 'intake',
  access: intake,
  tag: 'Events',
  summary: 'Send historical events',
  description: [
    'As POST /ingest, for events of any age: scored at event time; fires no trigger unless skip_triggers=false.',
    'NDJSON and CSV with partial=true may have any size: they are taken as they arrive, and 202 comes at the end. Other bodies are taken whole or not at all, within the limits of POST /ingest.',
    'An import is a job: GET /jobs lists it from its first part on, with the events that are in the log (`done`) and the first hundred that are not valid (`errors`, each with its `row`: the line of NDJSON, the row of a table with its header, or the place in a list, from 1). Cancelling it ends the upload with 409 `job_ended`. Events that are in stay.',
    'With an Idempotency-Key, which a large upload should have, the same upload may be sent again when its connection has broken off: it begins anew, and no event counts twice, because events without an event_id get ids from the key and their places. One that was taken to its end is answered as before, without a position: nothing was taken. An upload of which nothing comes for five minutes ends its job as failed.',
    'CSV has a header line of alias_kind, alias, event_type, timestamp, event_id, metadata (a JSON object) and metadata.<key> columns, of which values stay text. A file of GET /events/export can be sent as it is: its other columns are passed over, the apostrophe in front of formulas is taken off, and an event without an event_id gets its `id` as one. Sent to the organizational unit that it comes from, such an event counts a second time, and no more after that; events that had an event_id are repeats. A row has at most 1,000,000 characters.',
  ].join('\n\n'),
  query: z.strictObject({
    partial,
    skip_triggers: z
      .enum(['true', 'false'])
      .default('true')
      .describe('false: let triggers fire as for live events.'),
  }),
  body,
  bodyTypes: ['application/json', 'application/x-ndjson', 'text/csv'],
  responses: {
    202: {
      description: 'Acknowledged by the log',
      schema: z
        .strictObject({
          job_id: jobId,
          ...accepted,
          accepted: z.int().min(0),
          rejected: accepted.rejected.describe(
            'With partial=true: the first events that were not taken, up to 5,000 or a megabyte, and why.',
          ),
          failed: z.int().min(0).optional().describe('With partial=true: events that were not taken.'),
        })
        .meta({ id: 'ImportAccepted' }),
    },
  },
  problems: ['delivery_loop', 'job_ended'],
});
