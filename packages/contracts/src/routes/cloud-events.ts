// The form of a CloudEvent that POST /ingest takes. The format: github.com/cloudevents/spec, version 1.0.2.
import { z } from 'zod';
import { name, text } from '../common.js';
import { metadataObject } from '../vocabulary/metadata.js';

/** The media types of one CloudEvent in structured mode, and of a batch of them. */
export const cloudEventTypes = {
  one: 'application/cloudevents+json',
  batch: 'application/cloudevents-batch+json',
} as const;

/** The attributes that become fields of an event, and the fields. */
export const cloudEventFields = {
  id: 'event_id',
  type: 'event_type',
  subject: 'alias',
  time: 'timestamp',
  data: 'metadata',
} as const;

/** `<kind>:<alias>`; an alias may hold further colons. */
export const subjectForm = /^([a-z0-9_]{1,32}):([^]+)$/;

const attribute = z.string().min(1).max(2_000);

export const cloudEvent = z
  .looseObject({
    specversion: z.literal('1.0'),
    id: text(128, { minimum: 1 }).describe(
      'The `event_id`: the same id for the same alias counts once, for ever, whatever its source.',
    ),
    source: attribute.describe('Not kept.'),
    type: name(100).describe('The `event_type`.').meta({ example: 'Page View' }),
    subject: z
      .string()
      .max(600)
      .regex(subjectForm, 'must name the lead as <kind>:<alias>, such as email:ada@example.com')
      .describe('The alias of the lead: its kind, a colon, and the alias.')
      .meta({ example: 'external_id:4711' }),
    time: z
      .string()
      .max(40)
      .optional()
      .describe('The `timestamp`; default now.')
      .meta({ format: 'date-time', example: '2026-01-31T09:30:00Z' }),
    datacontenttype: attribute.optional().describe('Not kept: `data` is always JSON.'),
    data: metadataObject
      .optional()
      .describe('The `metadata`, within its limits.')
      .meta({ example: { path: '/pricing' } }),
  })
  .meta({
    id: 'CloudEvent',
    description:
      'A CloudEvent 1.0 about a lead. Attributes that are not listed here, such as extensions, are allowed and not kept; `data_base64` is refused.',
  });
export type CloudEvent = z.infer<typeof cloudEvent>;
