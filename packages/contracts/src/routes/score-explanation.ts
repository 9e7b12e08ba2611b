// The explanation of a lead's score: drivers, adjustments and entries, now or at a past moment.
import { z } from 'zod';
import { id, integerParameter, leadId, ofMergedLead, pastTimeParameter, score, time } from '../common.js';
import { jobId } from '../records/job-id.js';
import { adjustmentReason } from '../records/scoring.js';
import { anyLeadScoreType, explainedAccount, ofPresentAccounts } from './account-scores.js';
import { minPosition } from './events.js';
import { leadLevel } from './leads.js';
import { defineRoute, viewer } from './route.js';
import { driver } from './score-drivers.js';

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
    ...ofMergedLead,
    lead_name: z.string().max(512),
    score_type: z
      .enum(['profile', 'deal', 'account'])
      .optional()
      .describe('Absent for the engagement score.'),
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
        'One for each rule and weight, sorted by absolute contribution, within the range and since the last reset or rescoring. The 1,000 largest.',
      ),
    adjustments: z
      .array(adjustment)
      .max(1_000)
      .optional()
      .describe(
        'Points that no match gave, or that limits held back from matches, within the range and since the last reset or rescoring, the largest first; absent when there are none. Those of limits count with their event, others with the latest event of their decision.',
      ),
    snapshot: z
      .array(z.strictObject({ event_type: z.string().max(100), weight: z.int() }))
      .max(1_000)
      .describe('Rule weights of active rules in active rulesets, now or at the moment `known_at`.'),
    decay_applied: z
      .int()
      .max(0)
      .describe('Points that decay rules took, within the range and since the last reset or rescoring.'),
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
          replaced_by: jobId
            .optional()
            .describe('The rescoring that has computed the score anew since: counts no more.'),
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
    rescored: z
      .strictObject({ job_id: jobId, at: time })
      .optional()
      .describe(
        'The last rescoring that counts since the last reset, and when its score came into force: drivers and adjustments begin with what it found, which counts from then on. Absent: there was none.',
      ),
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
          replaced_by: jobId
            .optional()
            .describe('The rescoring that has computed the score anew since: counts no more.'),
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
          rescored_by: jobId.optional().describe('The rescoring that has made it.'),
          words: z.string().max(1_000),
        }),
      )
      .max(1_000)
      .optional()
      .describe('The newest 1,000 changes of the profile score within the range; absent for other scores.'),
    deal_entries: z
      .array(
        z.strictObject({
          deal_id: z.string().max(200).optional().describe('Absent where points are of no one deal.'),
          reason: adjustmentReason,
          rule_id: id.optional(),
          rule_version: z.int().min(1).optional(),
          ruleset_id: id.optional(),
          points: z.int().describe('Positive where the deal began to meet a rule of positive weight.'),
          decided_at: time,
          configuration_version: z.int().min(0),
          words: z.string().max(1_000),
        }),
      )
      .max(1_000)
      .optional()
      .describe('The newest 1,000 changes of the deal score within the range; absent for other scores.'),
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
      'account: what makes the score of the account that the lead belongs to, as it is now; its past is not kept, so at and known_at must be absent. profile, deal: the changes of the profile or deal score, each in words. Both clocks then are that of its decisions, and drivers are the rules that give points, whenever they began to.',
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
