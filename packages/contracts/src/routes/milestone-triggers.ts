// Milestone triggers: they watch a score, and fire when it crosses a threshold or the lower bound of a level.
import { z } from 'zod';
import { id, name, page, score, time } from '../common.js';
import { anyScoreTypes, leadScoreTypes } from '../vocabulary/score-types.js';
import { accountCause, milestoneCause, previousLevel, thresholdLevel } from '../vocabulary/webhook.js';
import { milestoneScoreType } from '../records/scoring.js';
import { defineRoute } from './route.js';
import {
  cooldown,
  deleted,
  formFields,
  listQuery,
  parameters,
  read,
  shownCooldown,
  shownFields,
  write,
} from './trigger-fields.js';
import { accountMilestoneEvent, firedEvent, firedMilestonesQuery } from './trigger-firings.js';
import { accountOf, examined, listed, simulatedFiring, simulation } from './trigger-simulation.js';

const isAbove = (one: number | undefined, other: number | undefined) =>
  one !== undefined && other !== undefined && one > other;

const milestoneForm = z
  .strictObject({
    ...formFields,
    event_type: name(100)
      .optional()
      .describe(
        'Only crossings that an event of this type brings about. Default: any. With score_type engagement alone: events give no other score its points.',
      ),
    score_type: milestoneScoreType
      .default('engagement')
      .describe(
        'profile: the score of how well the lead fits. It changes when values of the lead change or, after a change of a profile rule, with the next event of the lead. deal: the sum of the scores of the deals that the lead named; it changes when one of them does. Deal scores have no levels. account: the score of the account that leads belong to. The trigger fires once for an account, whatever the number of its leads, and its firings name the account and no lead. It takes score_threshold, and neither a level nor a filter. Webhooks get `account.milestone.fired`.',
      )
      .meta({ default: 'engagement' }),
    score_threshold: score.optional().describe('Either this or level.').meta({ example: 50 }),
    level: name(100)
      .optional()
      .describe(
        'Either this or score_threshold: the name of a level of the score (GET /engagement-scoring/levels or /profile-scoring/levels), in any case. Its min_score is the threshold, also when the levels change; a change of the levels alone makes nothing fire. A score that jumps over several levels reaches each of them. Webhooks get `lead.level_changed` in place of `trigger.milestone.fired`.',
      )
      .meta({ example: 'Hot' }),
    filter_id: id
      .optional()
      .describe(
        'A saved filter (GET /filters): fires only for leads that match it at the crossing. A lead that does not match then is asked again at its next crossing. Default: all leads.',
      ),
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
  .refine(({ score_type, event_type }) => score_type === 'engagement' || event_type === undefined, {
    path: ['event_type'],
    error: 'must be absent for any score_type but engagement: events give no other score its points',
  })
  .refine(
    ({ score_type, level }) => (score_type !== 'deal' && score_type !== 'account') || level === undefined,
    {
      path: ['level'],
      error: 'must be absent for score_type deal and account: use score_threshold',
    },
  )
  .refine(({ score_type, filter_id }) => score_type !== 'account' || filter_id === undefined, {
    path: ['filter_id'],
    error: 'must be absent for score_type account: a filter is a question about a lead',
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

export const milestoneTrigger = z
  .strictObject({
    ...shownFields,
    event_type: z.string().max(100).optional(),
    score_type: z.enum(anyScoreTypes),
    score_threshold: score.optional(),
    level: z.string().max(100).optional().describe('Of a trigger by level, in place of score_threshold.'),
    level_missing: z
      .boolean()
      .optional()
      .describe(
        'Of a trigger by level: true while no level of this name with a min_score is there, such as after its removal. The trigger does not fire then.',
      ),
    filter_id: id.optional(),
    filter_missing: z
      .boolean()
      .optional()
      .describe('Of a trigger with a filter: true after its deletion. The trigger does not fire then.'),
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

const scores = { score, previous_score: score };

export const simulatedMilestones = z
  .strictObject({
    data: listed(
      z.union([
        simulatedFiring(milestoneCause.omit({ rule_ids: true }), scores),
        z.strictObject({
          account: accountOf,
          at: time,
          cause: accountCause.omit({ rule_ids: true }),
          ...scores,
        }),
      ]),
    ),
    ...examined,
    accounts: z
      .int()
      .min(0)
      .optional()
      .describe(
        'Of a trigger by account score: accounts for which it would have fired. leads and leads_examined are 0 then, and events_examined counts decisions on accounts.',
      ),
    accounts_examined: z.int().min(0).optional().describe('Of a trigger by account score.'),
  })
  .meta({ id: 'SimulatedMilestones' });
export type SimulatedMilestones = z.infer<typeof simulatedMilestones>;

const leadMilestoneEvent = firedEvent('LeadMilestoneEvent', 'milestone', milestoneCause, {
  score_type: z.enum(leadScoreTypes),
  threshold: score,
  threshold_level: thresholdLevel,
  previous_level: previousLevel.optional(),
  direction: z.enum(['up', 'down']),
});
export type LeadMilestoneEvent = z.infer<typeof leadMilestoneEvent>;

export const milestoneEvent = z
  .union([leadMilestoneEvent, accountMilestoneEvent])
  .describe('Of a lead, or of an account where score_type is account.')
  .meta({ id: 'MilestoneEvent' });
export type MilestoneEvent = z.infer<typeof milestoneEvent>;

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
    'Fires when a score crosses the threshold, or the lower bound of the level, not while it is beyond; again only when re-armed. A level that the OU does not have is 404 `level_not_found`, with the names that there are; a filter that it does not have is 404 `filter_not_found`. A change of the filter counts for crossings from then on, and fires nothing by itself. Events sent with POST /import do not make it fire.',
  body: milestoneForm,
  responses: { 201: { description: 'Created', schema: milestoneTrigger } },
  problems: [
    'level_not_found',
    'filter_not_found',
    'notification_channel_not_found',
    'position_not_reached',
    'limit_reached',
  ],
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
    'filter_not_found',
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
  query: firedMilestonesQuery,
  responses: { 200: { description: 'Firings', schema: page(milestoneEvent) } },
  problems: [],
});
