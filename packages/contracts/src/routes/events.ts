// Reading events.
import { z } from 'zod';
import {
  cursorParameter,
  id,
  inOrder,
  leadId,
  name,
  ofMergedLead,
  page,
  pageParameters,
  text,
  time,
  timeParameter,
} from '../common.js';
import { alias } from '../vocabulary/identity.js';
import { metadataObject } from '../vocabulary/metadata.js';
import { positionForm } from '../vocabulary/position.js';
import { defineRoute, viewer } from './route.js';

export const minPosition = text(2_000)
  .regex(positionForm, "must be the position of a 202's body")
  .optional()
  .describe('The position of a 202: waits (at most 10 s, else 503) until everything up to it is visible.')
  .meta({ format: 'position' });

export const storedEvent = z
  .strictObject({
    id,
    event_id: z.string().max(128).optional().describe("The sender's own id."),
    lead_id: id,
    alias,
    event_type: z.string().max(100),
    timestamp: time,
    received_at: time,
    source: z.enum(['ingest', 'import']),
    batch_id: id,
    metadata: metadataObject,
  })
  .meta({ id: 'Event' });
export type StoredEvent = z.infer<typeof storedEvent>;

/** The filters of a list of events. */
export const eventFilters = {
  event_type: name(100).optional().describe('Either spelling of the type.'),
  from: timeParameter.optional(),
  to: timeParameter.optional().describe('Exclusive.'),
};

export const eventAlias = z
  .string()
  .min(1)
  .max(512)
  .optional()
  .describe('Events that came under this alias, of any kind.');

export const listEvents = defineRoute({
  name: 'listEvents',
  method: 'GET',
  path: '/events',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Events, newest first',
  query: inOrder({
    ...eventFilters,
    lead_id: leadId.optional(),
    alias: eventAlias,
    ...pageParameters,
    cursor: cursorParameter,
    min_position: minPosition,
  }),
  responses: { 200: { description: 'Events', schema: page(storedEvent) } },
  problems: [],
});

export const listLeadEvents = defineRoute({
  name: 'listLeadEvents',
  method: 'GET',
  path: '/events/{leadID}',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: "A lead's events, newest first",
  parameters: z.strictObject({ leadID: leadId }),
  query: inOrder({
    ...eventFilters,
    ...pageParameters,
    cursor: cursorParameter,
    min_position: minPosition,
  }),
  responses: { 200: { description: 'Events', schema: page(storedEvent).extend(ofMergedLead) } },
  problems: ['lead_not_found'],
});
