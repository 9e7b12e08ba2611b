// The actor: the credential, trigger or part of the system that asked for a change. Commands carry it, and every event
// of a changed configuration records it.
import { z } from 'zod';
import { text, time } from '../common.js';

const fields = {
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
};

/**
 * An actor as answers show it to everybody who may read the resource: without an address. The type refuses a recorded actor, so that
 * the compiler names every place that would show the address of a client by mistake.
 */
export interface Actor {
  kind: 'token' | 'service_account' | 'trigger' | 'system' | 'member';
  id: string;
  name?: string | undefined;
  address?: never;
}
export const actor: z.ZodType<Actor, Actor> = z.strictObject(fields);

/** The longest text of an IP address: IPv6 with an embedded IPv4 address. */
export const maximumAddress = 45;

/** An actor in commands and events: with the address of the client, which only GET /audit shows. */
export const recordedActor = z.strictObject({
  ...fields,
  address: text(maximumAddress)
    .optional()
    .describe('The IP address of the client; absent where no client asked, and in records from before.'),
});
export type RecordedActor = z.infer<typeof recordedActor>;

/** The actor without the address; undefined where none is recorded. */
export function shownActor(recorded: RecordedActor | undefined): Actor | undefined {
  if (recorded === undefined) return undefined;
  const { kind, id, name } = recorded;
  return { kind, id, ...(name !== undefined && { name }) };
}

/** The time and the actor of a command. Commands written before actors existed have none, nor have their events. */
export const requested = { requested_at: time, actor: recordedActor.optional() };

/** The time of an event that an actor asked for, and the actor. */
export const happened = { at: time, actor: recordedActor.optional() };

/**
 * Adds the actor of a command to the events that it caused. Deciders call it once for all their commands, so that no
 * command can omit the actor.
 */
export function actedBy<Event extends { payload: { actor?: RecordedActor | undefined } }>(
  events: readonly Event[],
  { actor: by }: { actor?: RecordedActor | undefined },
): Event[] {
  return by === undefined
    ? [...events]
    : events.map((event) => ({ ...event, payload: { ...event.payload, actor: by } }));
}
