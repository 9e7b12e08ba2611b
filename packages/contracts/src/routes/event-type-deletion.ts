// The deletion of all events of a type: a job behind one answer.
import { z } from 'zod';
import { name } from '../common.js';
import { eventDeletionResult } from './event-types.js';
import { job } from './jobs.js';
import { defineRoute, editor } from './route.js';

/** How long the answer waits for the job. */
const answeredWithinMs = 10_000;

export const deleteEventTypeEvents = defineRoute({
  name: 'deleteEventTypeEvents',
  method: 'DELETE',
  path: '/settings/ou/event-types/{eventType}/events',
  owner: 'ingest',
  kind: 'command',
  access: editor,
  tag: 'Events',
  summary: 'Delete all events of a type',
  description:
    'Cannot be undone. From the answer on, no list, count, series, export or explanation has the events, and the scores of leads to which they had given points are decided without them. ' +
    'Leads stay, with all that is known of them: aliases, name and other fields, profile values, account and deals. Later events of the type count, and one with the event_id of a deleted event stays a repeat. ' +
    'A type that a rule or a trigger uses, active or not, is refused: GET /settings/ou/event-types says by what a type is protected. ' +
    'The deletion is a job. The answer is its result where it is done within 10 seconds; else it is 202 with the job, which goes on: GET /jobs/{id}.',
  parameters: z.strictObject({
    eventType: name(100).describe('Title Case or snake_case: both spellings of a type are one.'),
  }),
  responses: {
    200: { description: 'Deleted', schema: eventDeletionResult },
    202: { description: 'The job, which goes on', schema: job },
  },
  problems: ['event_type_protected'],
  waitsForJobMs: answeredWithinMs,
});
