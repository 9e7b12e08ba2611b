// Who asked for a change: what a command carries, and what every event of a changed configuration records for good.
import { z } from 'zod';
import { time } from '../common.js';

export const actor = z.strictObject({
  kind: z
    .enum(['token', 'service_account', 'trigger', 'system'])
    .describe('trigger: a firing asked for it; system: the system itself, at its start.'),
  id: z
    .string()
    .min(1)
    .max(100)
    .describe('Of the credential or trigger; of the system, the part that asked.'),
  name: z.string().max(100).optional().describe('As it was then.'),
});
export type Actor = z.infer<typeof actor>;

/** When a command was asked for and by whom. Commands of before have no actor, and neither have the events that they caused. */
export const requested = { requested_at: time, actor: actor.optional() };

/** When an event that somebody asked for happened, and who asked. */
export const happened = { at: time, actor: actor.optional() };

/** The events with who asked for them: said in one place, so that no command of a decider forgets it. */
export function actedBy<Event extends { payload: { actor?: Actor | undefined } }>(
  events: readonly Event[],
  { actor: by }: { actor?: Actor | undefined },
): Event[] {
  return by === undefined
    ? [...events]
    : events.map((event) => ({ ...event, payload: { ...event.payload, actor: by } }));
}
