// The actor: the credential, trigger or part of the system that asked for a change. Commands carry it, and every event
// of a changed configuration records it.
import { z } from 'zod';
import { time } from '../common.js';

export const actor = z.strictObject({
  kind: z
    .enum(['token', 'service_account', 'trigger', 'system', 'member'])
    .describe(
      'member: a person who signed in with OpenID Connect; trigger: a firing asked for it; system: the system itself, at its start.',
    ),
  id: z
    .string()
    .min(1)
    .max(100)
    .describe('Of the credential or trigger; of the system, the part that asked.'),
  name: z.string().max(100).optional().describe('As it was then.'),
});
export type Actor = z.infer<typeof actor>;

/** The time and the actor of a command. Commands written before actors existed have none, nor have their events. */
export const requested = { requested_at: time, actor: actor.optional() };

/** The time of an event that an actor asked for, and the actor. */
export const happened = { at: time, actor: actor.optional() };

/**
 * Adds the actor of a command to the events that it caused. Deciders call it once for all their commands, so that no
 * command can omit the actor.
 */
export function actedBy<Event extends { payload: { actor?: Actor | undefined } }>(
  events: readonly Event[],
  { actor: by }: { actor?: Actor | undefined },
): Event[] {
  return by === undefined
    ? [...events]
    : events.map((event) => ({ ...event, payload: { ...event.payload, actor: by } }));
}
