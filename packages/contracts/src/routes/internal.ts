// Routes between the gateway and the services. They are on the internal query port only and in no public document.
import { z } from 'zod';
import { id } from '../common.js';
import { defineRoute, viewer } from './route.js';

/** Asks ingest which lead an id means now: the lead itself, or the lead that its alias was linked to. */
export const findNamedLead = defineRoute({
  name: 'findNamedLead',
  method: 'GET',
  path: '/internal/named-lead/{leadID}',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: 'The lead that an id names',
  parameters: z.strictObject({ leadID: id }),
  responses: {
    200: {
      description:
        'The lead itself, or the one that its alias was linked to when it has no events of its own',
      schema: z.strictObject({ lead_id: id }),
    },
  },
  problems: [],
});

/** Waits until a position is visible in ingest, and answers the positions that scoring must have reached for it. */
export const awaitVisible = defineRoute({
  name: 'awaitVisible',
  method: 'GET',
  path: '/internal/visible',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Waits until a position is visible in the event store, at most 10 s (503 position_not_reached)',
  query: z.strictObject({ position: z.string().min(1).max(2_000) }),
  responses: {
    200: {
      description: 'Visible',
      schema: z.strictObject({
        positions: z
          .string()
          .max(20_000)
          .describe(
            'What the position became in ingest.events: the value of x-min-positions for reads of scoring.',
          ),
      }),
    },
  },
  problems: ['position_unknown', 'position_not_reached'],
});
