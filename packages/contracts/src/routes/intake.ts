// Events in: POST /ingest and /import.
import { z } from 'zod';
import { id, name } from '../common.js';
import { alias, aliasKind } from '../domain/identity.js';
import { metadataLimits } from '../domain/metadata.js';
import { defineRoute, intake } from './route.js';

export const intakeLimits = { events: 5_000, bytes: 10_000_000, futureMs: 24 * 3_600_000, aliases: 10 };

/** The form of an event as sent. The gateway checks it in one pass of its own (it is the hot path); a test holds the two against each other. */
export const ingestedEvent = z
  .strictObject({
    alias_kind: aliasKind.optional(),
    alias: z.string().min(1).max(512).optional().meta({ example: 'ada@example.com' }),
    aliases: z
      .array(alias)
      .min(1)
      .max(intakeLimits.aliases)
      .optional()
      .describe('In place of alias_kind and alias, when one event knows several names of its lead; the first names the lead.'),
    event_type: name(100).meta({ example: 'Page View' }),
    timestamp: z
      .string()
      .max(40)
      .optional()
      .describe('ISO 8601; default now; at most 24 hours in the future.')
      .meta({ format: 'date-time', example: '2026-01-31T09:30:00Z' }),
    event_id: z.string().min(1).max(128).optional().describe('Your own id: the same id for the same alias counts once, for ever.'),
    metadata: z
      .record(z.string(), z.json())
      .optional()
      .describe(`Any JSON object of up to ${String(metadataLimits.bytes / 1000)} KB and ${String(metadataLimits.depth)} levels.`)
      .meta({ example: { path: '/pricing' } }),
  })
  .meta({ id: 'IngestedEvent' });

const body = z
  .union([
    ingestedEvent,
    z.array(ingestedEvent).min(1).max(intakeLimits.events),
    z.strictObject({ events: z.array(ingestedEvent).min(1).max(intakeLimits.events) }),
  ])
  .describe('One event, an array of events, or {"events": [...]}; NDJSON has one event a line. 1 to 5,000 events, 10 MB.');

const accepted = {
  accepted: z.int().min(0).max(intakeLimits.events),
  rejected: z
    .array(
      z.strictObject({
        index: z.int().min(0),
        errors: z.array(z.strictObject({ path: z.string().max(1_000), message: z.string().max(1_000) })).max(20),
      }),
    )
    .max(intakeLimits.events)
    .optional()
    .describe('With partial=true: the events that were not taken, and why.'),
  batch_id: id,
  position: z
    .string()
    .max(500)
    .describe('An opaque mark in the log: a read with min_position=… waits until everything up to it is visible.'),
};

const partial = z.enum(['true', 'false']).default('false').describe('true: take the valid events and list the others.');

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
  responses: { 202: { description: 'Acknowledged by the log', schema: z.strictObject(accepted).meta({ id: 'Accepted' }) } },
  problems: [],
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
    skip_triggers: z.enum(['true', 'false']).default('true').describe('false: let triggers fire as for live events.'),
  }),
  body,
  bodyTypes: ['application/json', 'application/x-ndjson', 'text/csv'],
  responses: {
    202: {
      description: 'Acknowledged by the log',
      schema: z.strictObject({ job_id: id, ...accepted }).meta({ id: 'ImportAccepted' }),
    },
  },
  problems: [],
});
