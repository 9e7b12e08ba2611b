// Tests of engagement rules on sample events: what the rules in force, and drafts beside them, would give.
import { z } from 'zod';
import { id, inOrder, moment, name, score, time } from '../common.js';
import { adjustment } from '../records/scoring.js';
import { sentMetadata } from './intake.js';
import { leadLevel } from './leads.js';
import { defineRoute, viewer } from './route.js';
import { ruleForm } from './scoring-configuration.js';

export const ruleTestLimits = {
  events: 100,
  drafts: 100,
  /** Rules listed in one answer, divided among its events. */
  rules: 2_000,
};

const sampleEvent = z
  .strictObject({
    event_type: name(100)
      .describe('Title Case or snake_case: both spellings of a type are one.')
      .meta({ example: 'Page View' }),
    timestamp: moment
      .optional()
      .describe('When the event happened; default now. Also a future time, to test rules that begin later.'),
    metadata: sentMetadata.optional(),
  })
  .meta({ id: 'SampleEvent' });

const draftRule = inOrder({
  ruleset_id: id.optional().describe("Default: the OU's default ruleset."),
  replaces: id.optional().describe('The rule in whose place the draft is tested.'),
  ...ruleForm,
}).meta({ id: 'DraftEngagementRule' });

const testedRule = z
  .strictObject({
    rule_id: id.nullable().describe('null for a draft.'),
    draft: z.int().min(0).optional().describe('The index of the draft in the request.'),
    ruleset_id: id,
    label: z.string().max(100).optional(),
    weight: z.int(),
    matched: z.boolean().describe("Whether the event has the rule's type and time and meets its filters."),
    points: z.int().describe('0 where the rule does not match, or where it or its ruleset is switched off.'),
    counted_points: z
      .int()
      .optional()
      .describe(
        'The points of these that count; absent where all do. A limit of the rule holds the others back.',
      ),
    why: z.string().max(1_000).describe('Why it matches, or why it does not, with the values of the event.'),
  })
  .meta({ id: 'TestedEngagementRule' });

const testedEvent = z
  .strictObject({
    event_type: z.string().max(100),
    timestamp: time,
    points: z.int().describe('By how much the event changes the score.'),
    score: score.describe('The score after the event.'),
    adjustments: z
      .array(adjustment)
      .max(2_000)
      .optional()
      .describe('Points that no match gives, such as those that hold the score within its range.'),
    rules: z
      .array(testedRule)
      .max(ruleTestLimits.rules)
      .describe(
        `Rules that match, then the other rules of the event's type, then those of other types; in the order of their creation, drafts last. An answer lists at most ${String(ruleTestLimits.rules)}, in equal shares for its events.`,
      ),
    rules_matched: z.int().min(0),
    rules_total: z.int().min(0).describe('All rules and drafts, listed or not.'),
  })
  .meta({ id: 'TestedEvent' });

export const testEngagementRules = defineRoute({
  name: 'testEngagementRules',
  method: 'POST',
  path: '/engagement-scoring/test',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Scoring configuration',
  summary: 'Test the engagement rules on sample events',
  description:
    'Decides on the events one after the other, as if they came now: by the rules in force, and by drafts beside them. Says for each event what it would give, and for each rule whether it matches and why. Nothing is stored, and no trigger fires. To try the events of a lead again, take them from GET /events/{leadID}.',
  body: z
    .strictObject({
      lead_id: id
        .optional()
        .describe('The events come to this lead; default: to a new lead with a score of 0.'),
      events: z
        .array(sampleEvent)
        .min(1, 'must hold at least one event')
        .max(ruleTestLimits.events, `must be at most ${String(ruleTestLimits.events)} events`)
        .describe('In the order in which they come.'),
      rules: z
        .array(draftRule)
        .max(ruleTestLimits.drafts, `must be at most ${String(ruleTestLimits.drafts)} drafts`)
        .optional()
        .describe('Drafts, in the form of POST /engagement-scoring/rules.'),
    })
    .meta({
      id: 'EngagementTestForm',
      example: {
        events: [
          { event_type: 'Page View', metadata: { path: '/pricing' } },
          { event_type: 'Page View', metadata: { path: '/blog' } },
        ],
        rules: [
          {
            event_type: 'Page View',
            weight: 15,
            label: 'Pricing',
            attribute_filters: [{ field: 'path', operator: 'contains', value: '/pricing' }],
          },
        ],
      },
    }),
  responses: {
    200: {
      description: 'The points of each event, and each rule with the reason',
      schema: z
        .strictObject({
          previous_score: score,
          points: z.int().describe('Of all events.'),
          score: score.describe('After the last event.'),
          level: leadLevel.nullable().describe('The engagement level of the score, by the levels of now.'),
          events: z.array(testedEvent).max(ruleTestLimits.events).describe('In the order of the request.'),
        })
        .meta({ id: 'EngagementTest' }),
    },
  },
  problems: ['lead_not_found', 'ruleset_not_found', 'rule_not_found'],
});
export type EngagementTestForm = z.output<(typeof testEngagementRules)['body']>;
export type EngagementTest = z.infer<(typeof testEngagementRules)['responses'][200]['schema']>;
