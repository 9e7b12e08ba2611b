// Sequence triggers: they watch events, and fire when events of a lead satisfy all steps within a window.
import { z } from 'zod';
import { name, page } from '../common.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { attributeFilterForms } from '../vocabulary/filter-forms.js';
import { firingCause, sequenceSteps } from '../vocabulary/webhook.js';
import { defineRoute } from './route.js';
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
import { simulated, simulatedEvent, simulation } from './trigger-simulation.js';

const sequenceForm = z
  .strictObject({
    ...formFields,
    event_types: z
      .array(name(100))
      .min(2, 'must be at least 2')
      .max(10, 'must be at most 10')
      .optional()
      .describe('Steps without filters. Either this or steps.')
      .meta({ example: ['Page View', 'Form Submit'] }),
    steps: z
      .array(
        z.strictObject({
          event_type: eventType,
          attribute_filters: attributeFilterForms.optional(),
        }),
      )
      .min(2, 'must be at least 2')
      .max(10, 'must be at most 10')
      .optional()
      .describe('Either this or event_types.'),
    ordered: z
      .boolean()
      .default(false)
      .describe('Whether the events must come in the order of the steps.')
      .meta({ default: false }),
    window_seconds: window,
    cooldown_seconds: cooldown.default(0).meta({ default: 0 }),
  })
  .refine(({ event_types, steps }) => (event_types === undefined) !== (steps === undefined), {
    path: ['steps'],
    error: 'must be given, or event_types in its place: one of the two and not both',
  })
  .meta({
    id: 'SequenceForm',
    oneOf: [{ required: ['event_types'] }, { required: ['steps'] }],
    example: {
      name: 'From interest to trial',
      event_types: ['Page View', 'Form Submit'],
      ordered: true,
      window_seconds: 604_800,
    },
  });

export const sequenceTrigger = z
  .strictObject({
    ...shownFields,
    event_types: z.array(z.string().max(100)).max(10),
    steps: z
      .array(
        z.strictObject({
          event_type: z.string().max(100),
          attribute_filters: z.array(attributeFilter).max(20),
          filter_label: z.string().max(50_000).optional(),
        }),
      )
      .max(10),
    ordered: z.boolean(),
    window_seconds: z.int().min(1),
    cooldown_seconds: shownCooldown,
  })
  .meta({ id: 'Sequence' });
export type SequenceTriggerAnswer = z.infer<typeof sequenceTrigger>;

export const simulatedSequences = simulated('SimulatedSequences', simulatedEvent, { steps: sequenceSteps });
export type SimulatedSequences = z.infer<typeof simulatedSequences>;

export const sequenceEvent = firedEvent('SequenceEvent', 'sequence', firingCause, { steps: sequenceSteps });
export type SequenceEvent = z.infer<typeof sequenceEvent>;

export const listSequences = defineRoute({
  ...read,
  name: 'listSequences',
  method: 'GET',
  path: '/sequences',
  summary: 'Sequence triggers',
  query: listQuery,
  responses: { 200: { description: 'Triggers, oldest first', schema: page(sequenceTrigger) } },
  problems: [],
});

export const createSequence = defineRoute({
  ...write,
  name: 'createSequence',
  method: 'POST',
  path: '/sequences',
  summary: 'Create a sequence trigger',
  description:
    'Fires when events of a lead satisfy all steps within the window. Times are those of the events: one that comes late still counts where it belongs. An event is used for one firing.',
  body: sequenceForm,
  responses: { 201: { description: 'Created', schema: sequenceTrigger } },
  problems: ['notification_channel_not_found', 'limit_reached'],
});

export const getSequence = defineRoute({
  ...read,
  name: 'getSequence',
  method: 'GET',
  path: '/sequences/{id}',
  summary: 'A sequence trigger',
  parameters,
  responses: { 200: { description: 'Trigger', schema: sequenceTrigger } },
  problems: ['trigger_not_found'],
});

export const replaceSequence = defineRoute({
  ...write,
  name: 'replaceSequence',
  method: 'PUT',
  path: '/sequences/{id}',
  summary: 'Replace every field of a sequence trigger',
  description: 'What leads have done of the sequence until then is forgotten.',
  parameters,
  body: sequenceForm,
  responses: { 200: { description: 'Updated', schema: sequenceTrigger } },
  problems: ['trigger_not_found', 'notification_channel_not_found'],
});

export const deleteSequence = defineRoute({
  ...deleted,
  name: 'deleteSequence',
  path: '/sequences/{id}',
  summary: 'Delete a sequence trigger',
});

export const simulateSequence = defineRoute({
  ...simulation,
  name: 'simulateSequence',
  path: '/sequences/{id}/simulate',
  responses: { 200: { description: 'What would have fired', schema: simulatedSequences } },
});

export const listSequenceEvents = defineRoute({
  ...read,
  name: 'listSequenceEvents',
  method: 'GET',
  path: '/sequence-events',
  summary: 'Firings of sequence triggers, newest first',
  query: firedQuery,
  responses: { 200: { description: 'Firings', schema: page(sequenceEvent) } },
  problems: [],
});
