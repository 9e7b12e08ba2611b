// Reading events, event types and their properties.
import { z } from 'zod';
import {
  cursorParameter,
  id,
  inOrder,
  leadId,
  name,
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

/** What narrows a list of events. */
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
  responses: { 200: { description: 'Events', schema: page(storedEvent) } },
  problems: ['lead_not_found'],
});

/** Maximum number of batches in one GET /event-stats: their ids must fit into an address. */
export const maximumBatchesAsked = 50;

export const getEventStats = defineRoute({
  name: 'getEventStats',
  method: 'GET',
  path: '/event-stats',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'How many events of batches were repeats, and aliases not linked',
  description:
    'Repeats and aliases are counted when they are decided: with the position of the 202 as min_position the count is of all events of the batch, but for those of an alias that was just being linked to another lead.',
  query: z.strictObject({
    batch_id: text(maximumBatchesAsked * 37, { minimum: 1 })
      .refine(
        (batches) => batches.split(',').every((one) => id.safeParse(one).success),
        'must be the batch_id of a 202, or several with commas between them',
      )
      .describe(`The batch_id of a 202; up to ${String(maximumBatchesAsked)}, with commas, are added up.`)
      .meta({ example: '11111111-1111-4111-8111-111111111111' }),
    min_position: minPosition,
  }),
  responses: {
    200: {
      description: 'Counts',
      schema: z
        .strictObject({
          repeats: z
            .int()
            .min(0)
            .describe('Events that had come before, told by their event_id, and were dropped.'),
          differing: z
            .int()
            .min(0)
            .describe(
              'Repeats whose event_type, timestamp or metadata is another than that of the event stored under their event_id, which stays as it was. A timestamp that is left out differs from none.',
            ),
          aliases_refused: z
            .int()
            .min(0)
            .describe(
              'Further aliases that were not linked, since the organizational unit has as many as it may have. The events that named them count for the lead of their first alias, and such an alias stays a lead of its own until an event names it again while there is room.',
            ),
        })
        .meta({ id: 'EventStats' }),
    },
  },
  problems: [],
});

export const listEventTypes = defineRoute({
  name: 'listEventTypes',
  method: 'GET',
  path: '/event-types',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Event types of the OU, in alphabetical order',
  query: z.strictObject({ min_position: minPosition }),
  responses: { 200: { description: 'Names', schema: z.array(z.string().max(100)) } },
  problems: [],
});

export const listEventTypeProperties = defineRoute({
  name: 'listEventTypeProperties',
  method: 'GET',
  path: '/event-types/{eventType}/properties',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Metadata keys seen with an event type',
  parameters: z.strictObject({ eventType: name(100) }),
  query: z.strictObject({ min_position: minPosition }),
  responses: {
    200: {
      description: 'Keys',
      schema: z.strictObject({ event_type: z.string().max(100), properties: z.array(z.string()).max(2_000) }),
    },
  },
  problems: ['event_type_not_found'],
});
