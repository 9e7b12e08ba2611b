// What triggers of all kinds have in common: the fields of their forms and answers, and parts of their routes.
import { z } from 'zod';
import { id, name, pageParameters, time, wholeNumber } from '../common.js';
import { actor } from '../vocabulary/actor.js';
import { editor, viewer } from './route.js';

/** Maximum number of triggers of all kinds in an OU. */
export const maximumTriggers = 1_000;

const day = 86_400;
const own = { owner: 'notification', tag: 'Triggers' } as const;
export const write = { ...own, kind: 'command', access: editor } as const;
export const read = { ...own, kind: 'query', access: viewer } as const;
export const parameters = z.strictObject({ id });
const idList = (description: string) =>
  z.array(id).max(20, 'must be at most 20 channels').default([]).describe(description).meta({ default: [] });

export const formFields = {
  name: name(100).meta({ example: 'Hot lead' }),
  channel_ids: idList('Channels that are told. Without one, firings are recorded only.'),
  active: z.boolean().default(true).meta({ default: true }),
};
export const eventType = name(100).meta({ example: 'Page View' });
export const window = wholeNumber(1, 90 * day)
  .describe('Seconds, at most 90 days.')
  .meta({ example: 3_600 });
export const cooldown = wholeNumber(0, 366 * day).describe(
  'Seconds after a firing in which the trigger does not fire for the same lead or account again.',
);

export const shownFields = {
  id,
  name: z.string().max(100),
  channel_ids: z.array(id).max(20),
  has_destination: z.boolean().describe('False when no channel is told, such as after its deletion.'),
  active: z.boolean(),
  version: z.int().min(1),
  created_at: time,
  updated_at: time,
  changed_by: actor.optional().describe('Who made the latest change, where it is known.'),
  suppressed: z
    .strictObject({ leads: z.int().min(1), until: time })
    .optional()
    .describe(
      'Leads, or accounts of a trigger by account score, for which it fired too often and is silent for now, as when a notification causes itself.',
    ),
};
export const shownCooldown = z.int().min(0);

export const listQuery = z.strictObject({
  ...pageParameters,
  channel_id: id.optional().describe('Triggers that tell this channel.'),
});

export const deleted = {
  ...write,
  method: 'DELETE',
  parameters,
  responses: { 204: { description: 'Deleted; what it fired stays on record' } },
  problems: ['trigger_not_found'],
} as const;
