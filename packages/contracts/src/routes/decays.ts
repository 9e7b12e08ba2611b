// Decay rules: how scores fall when a lead does nothing.
import { z } from 'zod';
import { id, name, page, pageParameters, someField, time } from '../common.js';
import { actor } from '../vocabulary/actor.js';
import { decayChanges, decayForm, decaySettings } from '../vocabulary/decay.js';
import { defineRoute, editor, viewer } from './route.js';

const own = { owner: 'scoring', tag: 'Scoring configuration' } as const;
const read = { ...own, kind: 'query', access: viewer } as const;
const write = { ...own, kind: 'command', access: editor } as const;
const parameters = z.strictObject({ id });

export const decay = z
  .strictObject({
    id,
    name: z.string().max(100),
    ...decaySettings,
    active: z.boolean(),
    version: z.int().min(1),
    counts_from: time.describe(
      'The rule has the ticks after this moment: of its creation, or of its latest change but of the name.',
    ),
    created_at: time,
    updated_at: time,
    changed_by: actor.optional().describe('Who made the latest change, where it is known.'),
  })
  .meta({ id: 'Decay' });
export type Decay = z.infer<typeof decay>;

export const listDecays = defineRoute({
  ...read,
  name: 'listDecays',
  method: 'GET',
  path: '/decays',
  summary: 'Decay rules, oldest first',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Decay rules', schema: page(decay) } },
  problems: [],
});

export const createDecay = defineRoute({
  ...write,
  name: 'createDecay',
  method: 'POST',
  path: '/decays',
  summary: 'Let scores fade while leads do nothing',
  description:
    'A tick comes `interval_days` after the last scored event of a lead, and again after each further interval, until the next scored event. Each tick takes `points` (mode inactivity_points), `percent` of the score (percent_interval), or so much that half is left after `half_life_days` (half_life); never below `floor`. Points are whole: a share of a point is carried on to the next tick. Ticks before the creation of the rule take nothing, and an event that is imported now fades from now on.',
  body: z.strictObject({ name: name(100), ...decayForm }).meta({
    id: 'DecayCreation',
    example: { name: 'Two quiet weeks', mode: 'inactivity_points', points: -5, interval_days: 14 },
  }),
  responses: { 201: { description: 'Created', schema: decay } },
  problems: ['duplicate_name', 'limit_reached', 'ruleset_not_found', 'already_deleted'],
});

export const getDecay = defineRoute({
  ...read,
  name: 'getDecay',
  method: 'GET',
  path: '/decays/{id}',
  summary: 'A decay rule',
  parameters,
  responses: { 200: { description: 'Decay rule', schema: decay } },
  problems: ['decay_not_found'],
});

export const updateDecay = defineRoute({
  ...write,
  name: 'updateDecay',
  method: 'PATCH',
  path: '/decays/{id}',
  summary: 'Change, pause or resume a decay rule',
  description:
    'Counts for ticks from now on. What the rule took stays taken; a paused rule has no ticks, and after it is resumed none are made up for. Another `mode` needs its own amount.',
  parameters,
  body: z
    .strictObject({ name: name(100).optional(), ...decayChanges })
    .refine(...someField)
    .meta({ id: 'DecayChange', minProperties: 1 }),
  responses: { 200: { description: 'Updated', schema: decay } },
  problems: ['decay_not_found', 'duplicate_name', 'ruleset_not_found'],
});

export const deleteDecay = defineRoute({
  ...write,
  name: 'deleteDecay',
  method: 'DELETE',
  path: '/decays/{id}',
  summary: 'Delete a decay rule',
  description: 'What it took stays taken.',
  parameters,
  responses: { 204: { description: 'Deleted' } },
  problems: ['decay_not_found'],
});
