// Leads, their scores, and the explanations of their scores.
import { z } from 'zod';
import {
  cursorParameter,
  id,
  integerParameter,
  leadId,
  name,
  numberParameter,
  page,
  pageParameters,
  score,
  time,
  pastTimeParameter,
} from '../common.js';
import { gridCell } from '../vocabulary/grid.js';
import { alias } from '../vocabulary/identity.js';
import { adjustmentReason, levelFields } from '../records/scoring.js';
import {
  anyLeadScoreType,
  explainedAccount,
  ofLeadsOrAccounts,
  ofPresentAccounts,
} from './account-scores.js';
import { minPosition } from './events.js';
import { defineRoute, editor, viewer } from './route.js';
import { driver } from './score-drivers.js';

export const leadLevel = z
  .strictObject({ id, name: levelFields.name, color: levelFields.color })
  .meta({ id: 'LeadLevel' });
export type LeadLevel = z.infer<typeof leadLevel>;

const level = leadLevel
  .nullable()
  .describe('The engagement level that the score is in, by the levels of now; null when it is in none.');

const scores = z.strictObject({
  engagement: score,
  profile: score
    .optional()
    .describe('Absent until profile scoring is configured for the organizational unit.'),
  deal: score
    .optional()
    .describe(
      "The sum of the scores of the deals that the lead's events named. Absent until deal scoring is configured for the organizational unit.",
    ),
  account: score.optional().describe('That of the account in which the lead counts; absent without one.'),
});
const inGrid = {
  profile_level: leadLevel
    .nullable()
    .optional()
    .describe('The profile level that the profile score is in. Absent until profile scoring is configured.'),
  grid: gridCell
    .optional()
    .describe('The cell of the two scores, by the grid of now. Absent where the OU has no grid.'),
};

export const lead = z
  .strictObject({
    id,
    name: z.string().max(512).describe('Without a name in its metadata, a lead is shown by its first alias.'),
    company: z.string().max(200).optional(),
    title: z.string().max(200).optional(),
    owner: z.string().max(200).optional(),
    account_id: id
      .optional()
      .describe(
        'The account in which the score counts. Absent until account scoring is configured and an event of the lead names an account.',
      ),
    aliases: z.array(alias).max(100),
    score,
    scores,
    level,
    ...inGrid,
    rulesets: z.array(z.strictObject({ ruleset_id: id, name: z.string().max(100), score })).max(1_000),
    event_count: z.int().min(0),
    last_activity_at: time,
    created_at: time.describe("The time of the lead's first event."),
  })
  .meta({ id: 'Lead' });
export type Lead = z.infer<typeof lead>;

/** The orders of the list of leads. */
export const leadSorts = [
  'score',
  '-score',
  'last_activity_at',
  '-last_activity_at',
  'created_at',
  '-created_at',
  'name',
  '-name',
] as const;

const sort = z.enum(leadSorts).default('-score').describe('A minus in front: descending.');

const bound = numberParameter(-2_147_483_648, 2_147_483_647);

export const listLeads = defineRoute({
  name: 'listLeads',
  method: 'GET',
  path: '/leads',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: 'Leads with their scores, highest first',
  query: ofLeadsOrAccounts({
    score_type: anyLeadScoreType.describe(
      'The score that min_score, max_score, level and sort=score are about. A lead without profile points has a profile score of 0. account: the score of the account that the lead belongs to, 0 without one; of one score, leads of an account follow each other. It goes with sort=score and -score, and without level, grid, owner, filter_id and q.',
    ),
    min_score: bound.optional(),
    max_score: bound.optional(),
    level: name(100)
      .optional()
      .describe(
        'Id or name of a level of the score: leads whose score is in it, and within the other bounds.',
      ),
    grid: gridCell
      .optional()
      .describe(
        'A cell of the grid of profile by engagement: leads whose scores are in it, and within the other bounds. 404 `grid_not_found` where the OU has no grid.',
      ),
    owner: name(200).optional(),
    filter_id: id.optional().describe('A saved filter: leads that match it now, and the other parameters.'),
    q: name(200).optional().describe('Text within name, company or an alias.'),
    sort,
    ...pageParameters,
    cursor: cursorParameter,
    min_position: minPosition,
  }),
  responses: { 200: { description: 'Leads', schema: page(lead) } },
  problems: ['level_not_found', 'grid_not_found', 'filter_not_found'],
});

export const searchLeads = defineRoute({
  name: 'searchLeads',
  method: 'GET',
  path: '/leads/search',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: 'Find leads by name, company or alias',
  description:
    'Leads that have the text as an alias come first, then those that contain it, highest score first. An e-mail address or telephone number in full finds the leads that have it, and nobody else.',
  query: z.strictObject({
    q: name(200).describe('Text within name, company or an alias.'),
    ...pageParameters,
    cursor: cursorParameter,
    min_position: minPosition,
  }),
  responses: { 200: { description: 'Leads', schema: page(lead) } },
  problems: [],
});

export const getScore = defineRoute({
  name: 'getScore',
  method: 'GET',
  path: '/score/{leadID}',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: "A lead's score",
  parameters: z.strictObject({ leadID: leadId }),
  query: z.strictObject({
    score_type: anyLeadScoreType.describe(
      'The score that score and level are of. account: that of the account that the lead belongs to, 0 without one; it has no levels.',
    ),
    min_position: minPosition,
  }),
  responses: {
    200: {
      description: 'Score',
      schema: z.strictObject({
        lead_id: id,
        score_type: z.enum(['profile', 'account']).optional().describe('Absent for the engagement score.'),
        account_id: lead.shape.account_id,
        score,
        scores,
        level,
        ...inGrid,
        rulesets: lead.shape.rulesets,
        last_activity_at: time,
      }),
    },
  },
  problems: ['lead_not_found'],
});

const adjustment = z
  .strictObject({
    reason: adjustmentReason,
    count: z
      .int()
      .min(1)
      .describe('Events for capped_by_rule and held_by_ruleset; decisions for any other reason.'),
    points: z.int().describe('Of all of them.'),
    last_at: time.describe('When the latest of them was decided.'),
    text: z
      .string()
      .max(1_000)
      .describe('The adjustment in words.')
      .meta({ example: 'Pricing: 3 of 5 counted, at most 3 a lead' }),
    label: z
      .string()
      .max(100)
      .optional()
      .describe("The rule's label, or its event type if it has none; the ruleset's name."),
    ruleset_id: id.optional(),
    rule_id: id.optional(),
    rule_version: z.int().min(1).optional().describe('The latest version that held points back.'),
    counted: z.int().min(0).optional().describe('Events that counted, in full or in part.'),
    matched: z.int().min(1).optional().describe('Events that the rule matched.'),
  })
  .meta({ id: 'ScoreAdjustment' });

/** The public form of SPEC.md, with the fields that only an authenticated reader sees. */
export const scoreExplanation = z
  .strictObject({
    lead_id: id,
    lead_name: z.string().max(512),
    score_type: z.enum(['profile', 'account']).optional().describe('Absent for the engagement score.'),
    score: score.describe('The total now, or at the moment `at` as it was known at `known_at`.'),
    level: leadLevel
      .nullable()
      .describe(
        'The engagement level that the score is in, by the levels of now, or of the moment `known_at`; null when it is in none.',
      ),
    top_drivers: z
      .array(driver)
      .max(1_000)
      .describe(
        'One for each rule and weight, sorted by absolute contribution, within the range and since the last reset. The 1,000 largest.',
      ),
    adjustments: z
      .array(adjustment)
      .max(1_000)
      .optional()
      .describe(
        'Points that no match gave, or that limits held back from matches, within the range and since the last reset, the largest first; absent when there are none. Those of limits count with their event, others with the latest event of their decision.',
      ),
    snapshot: z
      .array(z.strictObject({ event_type: z.string().max(100), weight: z.int() }))
      .max(1_000)
      .describe('Rule weights of active rules in active rulesets, now or at the moment `known_at`.'),
    decay_applied: z
      .int()
      .max(0)
      .describe('Points that decay rules took, within the range and since the last reset.'),
    decay_entries: z
      .array(
        z.strictObject({
          rule_id: id,
          rule_version: z.int().min(1),
          name: z.string().max(100).optional().describe('Of the rule, as far as it is known.'),
          ruleset_id: id.optional().describe('The ruleset whose points faded; absent: the whole score.'),
          tick: z.int().min(1).describe("Counted from the lead's last scored event."),
          timestamp: time.describe('The time of the tick.'),
          scored_at: time.describe('When it was decided.'),
          points: z.int().max(0),
          configuration_version: z.int().min(0),
          before_reset: z
            .literal(true)
            .optional()
            .describe('Taken before the last reset of the score: counts no more.'),
        }),
      )
      .max(1_000)
      .optional()
      .describe('The newest 1,000 ticks within the range that took points; absent when there are none.'),
    range_hours: z.int().min(1),
    at: time.describe('The explained moment, by the times of the events.'),
    known_at: time.optional().describe('The moment of knowledge that was asked for; absent: now.'),
    score_reset_at: time
      .optional()
      .describe('When the score was last restarted from zero; absent when it never was.'),
    unattributed: z
      .int()
      .describe('The score minus everything that counts at the moment, of all time: always 0.'),
    entries: z
      .array(
        z.strictObject({
          event_id: id,
          event_type: z.string().max(100),
          timestamp: time.describe('When the event happened.'),
          scored_at: time.describe('When the system learned of it.'),
          rule_id: id,
          rule_version: z.int().min(1),
          points: z.int(),
          counted_points: z
            .int()
            .optional()
            .describe('The points of these that counted; absent where all did.'),
          configuration_version: z.int().min(0),
          before_reset: z
            .literal(true)
            .optional()
            .describe('Given before the last reset of the score: counts no more.'),
        }),
      )
      .max(1_000)
      .describe('The newest 1,000 point entries within the range.'),
    profile_entries: z
      .array(
        z.strictObject({
          rule_id: id,
          rule_version: z.int().min(1),
          ruleset_id: id,
          points: z.int().describe('Positive where the profile began to meet a rule of positive weight.'),
          decided_at: time,
          configuration_version: z.int().min(0),
          words: z.string().max(1_000),
        }),
      )
      .max(1_000)
      .optional()
      .describe(
        'The newest 1,000 changes of the profile score within the range; absent for the engagement score.',
      ),
    entries_total: z.int().min(0).describe('Point entries within the range.'),
    account: explainedAccount
      .optional()
      .describe('Of an account score: what makes it now. Absent for other scores, and without an account.'),
  })
  .meta({ id: 'ScoreExplanation' });
export type ScoreExplanation = z.infer<typeof scoreExplanation>;

export const explainScore = defineRoute({
  name: 'explainScore',
  method: 'GET',
  path: '/lead/{leadID}/score-explain',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: 'Why a lead has its score, now or at a past moment',
  description:
    'A past moment is named on one of two clocks. `at` is the clock of the events: an event counts from its own time on, also one of an imported history, and at the latest from when it was scored. `known_at` is the clock of the system: what this answer was then, under the rules and levels of then. Both together: the score as of `at`, as the system knew it at `known_at`. Neither: the score now.',
  parameters: z.strictObject({ leadID: leadId }),
  query: ofPresentAccounts({
    score_type: anyLeadScoreType.describe(
      'account: what makes the score of the account that the lead belongs to, as it is now; its past is not kept, so at and known_at must be absent. profile: the changes of the profile score, each in words. Both clocks then are that of its decisions, and drivers are the rules that give points, whenever they began to.',
    ),
    range_hours: integerParameter(1, 876_000)
      .default(720)
      .describe('Event times that drivers, adjustments and entries cover, back from `at`.'),
    at: pastTimeParameter
      .optional()
      .describe(
        'The score as of this moment by the times of the events, with what was imported or arrived later. Default `known_at`, else now.',
      )
      .meta({ example: '2026-01-31T09:30:00Z' }),
    known_at: pastTimeParameter
      .optional()
      .describe(
        'What the system would have said at this moment, under the rules and levels of then: events that it scored later do not count. Default now.',
      )
      .meta({ example: '2026-02-28T00:00:00Z' }),
    min_position: minPosition,
  }),
  responses: { 200: { description: 'Explanation', schema: scoreExplanation } },
  problems: ['lead_not_found'],
});

export const deleteLead = defineRoute({
  name: 'deleteLead',
  method: 'DELETE',
  path: '/lead/{leadID}',
  owner: 'ingest',
  kind: 'command',
  access: editor,
  tag: 'Leads',
  summary: 'Delete a lead',
  description:
    'The lead is deleted with its events, scores, aliases, share links and notifications, and so are leads whose aliases were linked to it. An id whose alias was linked to another lead names that lead. Events are gone when this is answered; scores, share links and notifications follow within moments, and what waits to be sent is not sent. A later event of any of the aliases starts a new lead with a score of 0; an event that had been counted is not counted again. Irreversible.',
  parameters: z.strictObject({ leadID: leadId }),
  responses: { 204: { description: 'Deleted' } },
  problems: ['lead_not_found'],
});
