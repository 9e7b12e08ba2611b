// Routes between the gateway and the services: on the internal query port only, in no public document.
import { z } from 'zod';
import { defineRoute, viewer } from './route.js';

/** Ingest tells how far scoring must have come for a position to be visible there. */
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
  problems: [400, 503],
});
