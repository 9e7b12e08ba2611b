// The definitions of triggers from their request bodies, with defaults for omitted fields.
import type { records, routes } from '@lead-scoring/contracts';
import type { z } from 'zod';
import { distinctIds } from './command-building.js';

type BodyOf<Route extends { body: z.ZodType }> = z.output<Route['body']>;

export function milestoneOf(body: BodyOf<typeof routes.createTrigger>): records.MilestoneDefinition {
  const { event_type, rearm, channel_ids, ...rest } = body;
  const { below, above, cooldown_seconds } = rearm;
  return {
    kind: 'milestone',
    ...rest,
    ...(event_type !== undefined && { event_type }),
    rearm: {
      ...(below !== undefined && { below }),
      ...(above !== undefined && { above }),
      cooldown_seconds,
    },
    channel_ids: distinctIds(channel_ids),
  };
}

export function sequenceOf(body: BodyOf<typeof routes.createSequence>): records.SequenceDefinition {
  const { event_types = [], steps, channel_ids, ...rest } = body;
  return {
    kind: 'sequence',
    ...rest,
    steps: steps
      ? steps.map(({ event_type, attribute_filters = [] }) => ({ event_type, attribute_filters }))
      : event_types.map((event_type) => ({ event_type, attribute_filters: [] })),
    channel_ids: distinctIds(channel_ids),
  };
}

export function surgeOf(body: BodyOf<typeof routes.createSurgeTrigger>): records.SurgeDefinition {
  const { cooldown_seconds = body.window_seconds, channel_ids, ...rest } = body;
  return { kind: 'surge', ...rest, cooldown_seconds, channel_ids: distinctIds(channel_ids) };
}
