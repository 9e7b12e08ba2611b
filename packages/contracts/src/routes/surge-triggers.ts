// Surge triggers: they watch the points that a lead gains in a window, and fire when these reach a threshold.
import { z } from 'zod';
import { page, score, time, wholeNumber } from '../common.js';
import { surgeScoreType } from '../records/scoring.js';
import { firingCause } from '../vocabulary/webhook.js';
import { defineRoute, editor } from './route.js';
import {
  cooldown,
  deleted,
  eventType,
  formFields,
  listQuery,
  parameters,
  read,
  shownCooldown,
  shownFields,
  window,
  write,
} from './trigger-fields.js';
import { firedEvent, firedQuery } from './trigger-firings.js';
import {
  leadOf,
  maximumListed,
  simulated,
  simulatedEvent,
  simulation,
  truncated,
} from './trigger-simulation.js';

const surgeForm = z
  .strictObject({
    ...formFields,
    event_type: eventType
      .nullable()
      .default(null)
      .describe('null: events of all types.')
      .meta({ default: null }),
    score_type: surgeScoreType.default('engagement').meta({ default: 'engagement' }),
    threshold: wholeNumber(1, 2_147_483_647).describe('Points gained.').meta({ example: 30 }),
    window_seconds: window.describe('Seconds of event time in which they are gained.'),
    cooldown_seconds: cooldown.optional().describe(`${cooldown.description ?? ''} Default: the window.`),
  })
  .meta({ id: 'SurgeTriggerForm' });

export const surgeTrigger = z
  .strictObject({
    ...shownFields,
    event_type: z.string().max(100).nullable(),
    score_type: surgeScoreType,
    threshold: score,
    window_seconds: z.int().min(1),
    cooldown_seconds: shownCooldown,
  })
  .meta({ id: 'SurgeTrigger' });
export type SurgeTriggerAnswer = z.infer<typeof surgeTrigger>;

const surgeWindow = {
  gained: score,
  from: time.describe('The first event of the window that counted.'),
  to: time.describe('The last.'),
};

export const simulatedSurges = simulated('SimulatedSurges', simulatedEvent, { score, ...surgeWindow });
export type SimulatedSurges = z.infer<typeof simulatedSurges>;

export const surgePreview = z
  .strictObject({
    data: z
      .array(z.strictObject({ lead: leadOf, score, ...surgeWindow }))
      .max(maximumListed)
      .describe('The hundred that gained most.'),
    total: z.int().min(0),
    leads_examined: z.int().min(0),
    truncated,
  })
  .meta({ id: 'SurgePreview' });
export type SurgePreview = z.infer<typeof surgePreview>;

export const surgeEvent = firedEvent('SurgeEvent', 'surge', firingCause, {
  score_type: z.literal('engagement'),
  threshold: score,
  window_seconds: z.int().min(1),
  ...surgeWindow,
  event_count: z.int().min(1),
});
export type SurgeEvent = z.infer<typeof surgeEvent>;

export const listSurgeTriggers = defineRoute({
  ...read,
  name: 'listSurgeTriggers',
  method: 'GET',
  path: '/surge-triggers',
  summary: 'Surge triggers',
  query: listQuery,
  responses: { 200: { description: 'Triggers, oldest first', schema: page(surgeTrigger) } },
  problems: [],
});

export const createSurgeTrigger = defineRoute({
  ...write,
  name: 'createSurgeTrigger',
  method: 'POST',
  path: '/surge-triggers',
  summary: 'Create a surge trigger',
  description: 'Fires when a lead gains the points of the threshold within the window.',
  body: surgeForm,
  responses: { 201: { description: 'Created', schema: surgeTrigger } },
  problems: ['notification_channel_not_found', 'limit_reached'],
});

export const getSurgeTrigger = defineRoute({
  ...read,
  name: 'getSurgeTrigger',
  method: 'GET',
  path: '/surge-triggers/{id}',
  summary: 'A surge trigger',
  parameters,
  responses: { 200: { description: 'Trigger', schema: surgeTrigger } },
  problems: ['trigger_not_found'],
});

export const replaceSurgeTrigger = defineRoute({
  ...write,
  name: 'replaceSurgeTrigger',
  method: 'PUT',
  path: '/surge-triggers/{id}',
  summary: 'Replace every field of a surge trigger',
  parameters,
  body: surgeForm,
  responses: { 200: { description: 'Updated', schema: surgeTrigger } },
  problems: ['trigger_not_found', 'notification_channel_not_found'],
});

export const deleteSurgeTrigger = defineRoute({
  ...deleted,
  name: 'deleteSurgeTrigger',
  path: '/surge-triggers/{id}',
  summary: 'Delete a surge trigger',
});

export const simulateSurgeTrigger = defineRoute({
  ...simulation,
  name: 'simulateSurgeTrigger',
  path: '/surge-triggers/{id}/simulate',
  responses: { 200: { description: 'What would have fired', schema: simulatedSurges } },
});

export const previewSurgeTrigger = defineRoute({
  ...read,
  access: editor,
  name: 'previewSurgeTrigger',
  method: 'POST',
  path: '/surge-triggers/{id}/preview',
  summary: 'Leads whose points of the last window reach the threshold now',
  parameters,
  responses: { 200: { description: 'Leads, greatest gain first', schema: surgePreview } },
  problems: ['trigger_not_found'],
});

export const listSurgeEvents = defineRoute({
  ...read,
  name: 'listSurgeEvents',
  method: 'GET',
  path: '/surge-events',
  summary: 'Firings of surge triggers, newest first',
  query: firedQuery,
  responses: { 200: { description: 'Firings', schema: page(surgeEvent) } },
  problems: [],
});
