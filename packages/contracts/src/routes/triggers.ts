// Triggers: the conditions that cause notifications. Milestones watch a score, sequences watch events, and surges watch
// the points gained in a window.
import { z } from 'zod';
import {
  cursorParameter,
  id,
  inOrder,
  leadId,
  name,
  page,
  pageParameters,
  score,
  time,
  timeParameter,
  wholeNumber,
} from '../common.js';
import { actor } from '../domain/actor.js';
import { attributeFilter } from '../domain/filters.js';
import { attributeFilterForms } from '../domain/filter-forms.js';
import {
  firingCause,
  firingFields,
  sequenceSteps,
  thresholdLevel,
  type TriggerKind,
} from '../domain/webhook.js';
import { scoreType } from '../records/scoring.js';
import { deliveryStatus } from './deliveries.js';
import { defineRoute, editor, viewer } from './route.js';

/** Maximum number of triggers of all kinds in an OU. */
export const maximumTriggers = 1_000;

const day = 86_400;
const own = { owner: 'notification', tag: 'Triggers' } as const;
const write = { ...own, kind: 'command', access: editor } as const;
const read = { ...own, kind: 'query', access: viewer } as const;
const parameters = z.strictObject({ id });
const idList = (description: string) =>
  z.array(id).max(20, 'must be at most 20 channels').default([]).describe(description).meta({ default: [] });

const formFields = {
  name: name(100).meta({ example: 'Hot lead' }),
  channel_ids: idList('Channels that are told. Without one, firings are recorded only.'),
  active: z.boolean().default(true).meta({ default: true }),
};
const eventType = name(100).meta({ example: 'Page View' });
const window = wholeNumber(1, 90 * day)
  .describe('Seconds, at most 90 days.')
  .meta({ example: 3_600 });
const cooldown = wholeNumber(0, 366 * day).describe(
  'Seconds after a firing in which the trigger does not fire for the same lead again.',
);

const isAbove = (one: number | undefined, other: number | undefined) =>
  one !== undefined && other !== undefined && one > other;

const milestoneForm = z
  .strictObject({
    ...formFields,
    event_type: name(100)
      .optional()
      .describe('Only crossings that an event of this type brings about. Default: any.'),
    score_type: scoreType.default('engagement').meta({ default: 'engagement' }),
    score_threshold: score.optional().describe('Either this or level.').meta({ example: 50 }),
    level: name(100)
      .optional()
      .describe(
        'Either this or score_threshold: the name of an engagement level, in any case. Its min_score is the threshold, also when the levels change; a change of the levels alone makes nothing fire. A score that jumps over several levels reaches each of them.',
      )
      .meta({ example: 'Hot' }),
    direction: z
      .enum(['up', 'down'])
      .default('up')
      .describe(
        'up: fires when the score comes from below to the threshold or above; down: when it falls below it.',
      )
      .meta({ default: 'up' }),
    rearm: z
      .strictObject({
        below: score
          .optional()
          .describe(
            'Direction up: fires again only once the score has been below this. Default: the threshold.',
          ),
        above: score
          .optional()
          .describe(
            'Direction down: fires again only once the score has been at this or above. Default: the threshold.',
          ),
        cooldown_seconds: cooldown.default(0).meta({ default: 0 }),
      })
      .prefault({}),
  })
  .refine(({ direction, rearm }) => direction === 'up' || rearm.below === undefined, {
    path: ['rearm', 'below'],
    error: 'is for direction up; use above',
  })
  .refine(({ direction, rearm }) => direction === 'down' || rearm.above === undefined, {
    path: ['rearm', 'above'],
    error: 'is for direction down; use below',
  })
  .refine(({ rearm, score_threshold }) => !isAbove(rearm.below, score_threshold), {
    path: ['rearm', 'below'],
    error: 'must not be above score_threshold',
  })
  .refine(({ rearm, score_threshold }) => !isAbove(score_threshold, rearm.above), {
    path: ['rearm', 'above'],
    error: 'must not be below score_threshold',
  })
  .refine(({ score_threshold, level }) => (score_threshold === undefined) !== (level === undefined), {
    path: ['score_threshold'],
    error: 'must be given, or level in its place: one of the two and not both',
  })
  .meta({
    id: 'MilestoneTriggerForm',
    oneOf: [{ required: ['score_threshold'] }, { required: ['level'] }],
    example: { name: 'Hot lead', score_threshold: 50 },
  });

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

const surgeForm = z
  .strictObject({
    ...formFields,
    event_type: eventType
      .nullable()
      .default(null)
      .describe('null: events of all types.')
      .meta({ default: null }),
    score_type: scoreType.default('engagement').meta({ default: 'engagement' }),
    threshold: wholeNumber(1, 2_147_483_647).describe('Points gained.').meta({ example: 30 }),
    window_seconds: window.describe('Seconds of event time in which they are gained.'),
    cooldown_seconds: cooldown.optional().describe(`${cooldown.description ?? ''} Default: the window.`),
  })
  .meta({ id: 'SurgeTriggerForm' });

const shownFields = {
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
      'Leads for which it fired too often and is silent for now, as when a notification causes itself.',
    ),
};
const shownScoreType = z.literal('engagement');
const shownCooldown = z.int().min(0);

export const milestoneTrigger = z
  .strictObject({
    ...shownFields,
    event_type: z.string().max(100).optional(),
    score_type: shownScoreType,
    score_threshold: score.optional(),
    level: z.string().max(100).optional().describe('Of a trigger by level, in place of score_threshold.'),
    level_missing: z
      .boolean()
      .optional()
      .describe(
        'Of a trigger by level: true while no level of this name with a min_score is there, such as after its removal. The trigger does not fire then.',
      ),
    direction: z.enum(['up', 'down']),
    rearm: z.strictObject({
      below: score.optional(),
      above: score.optional(),
      cooldown_seconds: shownCooldown,
    }),
  })
  .meta({
    id: 'MilestoneTrigger',
    oneOf: [{ required: ['score_threshold'] }, { required: ['level', 'level_missing'] }],
  });
export type MilestoneTriggerAnswer = z.infer<typeof milestoneTrigger>;

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

export const surgeTrigger = z
  .strictObject({
    ...shownFields,
    event_type: z.string().max(100).nullable(),
    score_type: shownScoreType,
    threshold: score,
    window_seconds: z.int().min(1),
    cooldown_seconds: shownCooldown,
  })
  .meta({ id: 'SurgeTrigger' });
export type SurgeTriggerAnswer = z.infer<typeof surgeTrigger>;

const listQuery = z.strictObject({
  ...pageParameters,
  channel_id: id.optional().describe('Triggers that tell this channel.'),
});

const simulationForm = inOrder({
  from: timeParameter.optional().describe('Default: 30 days before `to`.').meta({ example: '2026-01-01' }),
  to: timeParameter.optional().describe('Exclusive. Default: now.'),
}).meta({ id: 'Simulation' });

const eventOf = z.strictObject({ event_id: id, event_type: z.string().max(100), timestamp: time });
const leadOf = z.strictObject({ id, name: z.string().max(512) });
const truncated = z.boolean().describe('Not everything could be looked at: total is then the least.');
const maximumListed = 100;

const surgeWindow = {
  gained: score,
  from: time.describe('The first event of the window that counted.'),
  to: time.describe('The last.'),
};

const simulated = <Values extends z.ZodRawShape>(name: string, values: Values) =>
  z
    .strictObject({
      data: z
        .array(z.strictObject({ lead: leadOf, at: time, cause: eventOf, ...values }))
        .max(maximumListed)
        .describe('The newest hundred, newest first.'),
      total: z.int().min(0),
      leads: z.int().min(0).describe('Leads for which it would have fired.'),
      leads_examined: z.int().min(0),
      events_examined: z.int().min(0),
      truncated,
    })
    .meta({ id: name });

export const simulatedMilestones = simulated('SimulatedMilestones', {
  score,
  previous_score: score,
});
export type SimulatedMilestones = z.infer<typeof simulatedMilestones>;
export const simulatedSequences = simulated('SimulatedSequences', { steps: sequenceSteps });
export type SimulatedSequences = z.infer<typeof simulatedSequences>;
export const simulatedSurges = simulated('SimulatedSurges', { score, ...surgeWindow });
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

const simulation = {
  ...read,
  access: editor,
  method: 'POST',
  parameters,
  body: simulationForm,
  summary: 'When and for whom the trigger would have fired',
  description:
    'Over the history that is there, with the trigger as it is now and the scores as they were. Sends nothing and records nothing.',
  problems: ['trigger_not_found'],
} as const;

const deleted = {
  ...write,
  method: 'DELETE',
  parameters,
  responses: { 204: { description: 'Deleted; what it fired stays on record' } },
  problems: ['trigger_not_found'],
} as const;

const firedQuery = inOrder({
  trigger_id: id.optional(),
  lead_id: leadId.optional(),
  from: timeParameter.optional(),
  to: timeParameter.optional().describe('Exclusive.'),
  ...pageParameters,
  cursor: cursorParameter,
});

const firedEvent = <const Kind extends TriggerKind, Values extends z.ZodRawShape>(
  name: string,
  kind: Kind,
  values: Values,
) =>
  z
    .strictObject({
      id,
      trigger: z.strictObject({ id, name: z.string().max(100), kind: z.literal(kind) }),
      ...firingFields,
      cause: firingCause,
      fired_at: time,
      deliveries: z
        .array(z.strictObject({ id, channel_id: id, status: deliveryStatus }))
        .max(20)
        .describe('One for each channel that is told.'),
      ...values,
    })
    .meta({ id: name });

export const milestoneEvent = firedEvent('MilestoneEvent', 'milestone', {
  score_type: z.literal('engagement'),
  threshold: score,
  threshold_level: thresholdLevel,
  direction: z.enum(['up', 'down']),
});
export type MilestoneEvent = z.infer<typeof milestoneEvent>;
export const sequenceEvent = firedEvent('SequenceEvent', 'sequence', { steps: sequenceSteps });
export type SequenceEvent = z.infer<typeof sequenceEvent>;
export const surgeEvent = firedEvent('SurgeEvent', 'surge', {
  score_type: z.literal('engagement'),
  threshold: score,
  window_seconds: z.int().min(1),
  ...surgeWindow,
  event_count: z.int().min(1),
});
export type SurgeEvent = z.infer<typeof surgeEvent>;

export const listTriggers = defineRoute({
  ...read,
  name: 'listTriggers',
  method: 'GET',
  path: '/triggers',
  summary: 'Milestone triggers',
  query: listQuery,
  responses: { 200: { description: 'Triggers, oldest first', schema: page(milestoneTrigger) } },
  problems: [],
});

export const createTrigger = defineRoute({
  ...write,
  name: 'createTrigger',
  method: 'POST',
  path: '/triggers',
  summary: 'Create a milestone trigger',
  description:
    'Fires when a score crosses the threshold, or the lower bound of the level, not while it is beyond; again only when re-armed. A level that the OU does not have is 404 `level_not_found`, with the names that there are. Events sent with POST /import do not make it fire.',
  body: milestoneForm,
  responses: { 201: { description: 'Created', schema: milestoneTrigger } },
  problems: ['level_not_found', 'notification_channel_not_found', 'position_not_reached', 'limit_reached'],
});

export const getTrigger = defineRoute({
  ...read,
  name: 'getTrigger',
  method: 'GET',
  path: '/triggers/{id}',
  summary: 'A milestone trigger',
  parameters,
  responses: { 200: { description: 'Trigger', schema: milestoneTrigger } },
  problems: ['trigger_not_found'],
});

export const replaceTrigger = defineRoute({
  ...write,
  name: 'replaceTrigger',
  method: 'PUT',
  path: '/triggers/{id}',
  summary: 'Replace every field of a milestone trigger',
  parameters,
  body: milestoneForm,
  responses: { 200: { description: 'Updated', schema: milestoneTrigger } },
  problems: [
    'trigger_not_found',
    'level_not_found',
    'notification_channel_not_found',
    'position_not_reached',
  ],
});

export const deleteTrigger = defineRoute({
  ...deleted,
  name: 'deleteTrigger',
  path: '/triggers/{id}',
  summary: 'Delete a milestone trigger',
});

export const simulateTrigger = defineRoute({
  ...simulation,
  name: 'simulateTrigger',
  path: '/triggers/{id}/simulate',
  responses: { 200: { description: 'What would have fired', schema: simulatedMilestones } },
});

export const listMilestoneEvents = defineRoute({
  ...read,
  name: 'listMilestoneEvents',
  method: 'GET',
  path: '/milestone-events',
  summary: 'Firings of milestone triggers, newest first',
  query: firedQuery,
  responses: { 200: { description: 'Firings', schema: page(milestoneEvent) } },
  problems: [],
});

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
