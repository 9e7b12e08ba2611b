// Routes that take events: POST /ingest and /import.
import { z } from 'zod';
import { id, name, text } from '../common.js';
import { aliasConditions, aliasKind, normaliseAlias, type Alias } from '../vocabulary/identity.js';
import { checkMetadata, metadataLimits, metadataObject } from '../vocabulary/metadata.js';
import { sentTimeRule, utcTime } from '../intake/sent-time.js';
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
          'When one event knows several names of its lead; the first names the lead, the others are linked to it. A request may link up to 10,000 of them; an organizational unit has a limit of its own, and GET /event-stats counts what was not linked.',
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
      'An opaque mark in the log: a read with min_position=… waits until everything up to it is visible. Absent when nothing was taken.',
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
  description:
    '202 means that the log has acknowledged every accepted event. Any invalid event: 400 with index and reason (the first 100), and nothing is taken, unless partial=true. Body may be gzip.',
  query: z.strictObject({ partial }),
  body,
  bodyTypes: ['application/json', 'application/x-ndjson'],
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
  description:
    'As POST /ingest, for events of any age: scored at event time; fires no trigger unless skip_triggers=false. CSV has a header line of alias_kind, alias, event_type, timestamp, event_id and metadata.<key> columns.',
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
      schema: z.strictObject({ job_id: id, ...accepted }).meta({ id: 'ImportAccepted' }),
    },
  },
  problems: ['delivery_loop'],
});
