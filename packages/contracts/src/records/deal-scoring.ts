// Commands and events of deal scoring: rules over deals, what events of leads say of deals, and the decisions on their scores.
import { z } from 'zod';
import { id, score, text, time } from '../common.js';
import { dealChange, dealLimits } from '../vocabulary/deals.js';
import { profileRuleCreated } from './profile-scoring.js';
import { defineRecord, type PayloadOf } from './record.js';
import { adjustment } from './scoring.js';

/** A deal in records: the key follows from the OU and the sender's id. */
const dealIdentity = {
  ou_id: id,
  deal_key: id.describe('Name-based on the OU and deal_id.'),
  deal_id: text(200, { minimum: 1 }).describe("The sender's id of the deal."),
};

export const recordDeal = defineRecord({
  type: 'RecordDeal',
  topic: 'scoring.commands',
  key: 'deal_key',
  description:
    'Events of one lead named a deal. Sent by the partition of the lead, in the transaction of the decision on the events.',
  mayWait: true,
  schema: z.strictObject({
    ...dealIdentity,
    lead_id: id.optional().describe('Absent where the lead has as many deals as it may have.'),
    changes: z
      .array(dealChange)
      .max(4)
      .describe('At most one for each field: the latest by the times of the events.'),
    decided_at: time,
    fire_triggers: z.boolean(),
  }),
});
export type RecordDeal = PayloadOf<typeof recordDeal>;

export const forgetDealLead = defineRecord({
  type: 'ForgetDealLead',
  topic: 'scoring.commands',
  key: 'deal_key',
  description: 'A lead that named the deal was deleted. Sent by the partition of the lead.',
  schema: z.strictObject({ ou_id: id, deal_key: id, lead_id: id, deletion_id: id, removed_at: time }),
});
export type ForgetDealLead = PayloadOf<typeof forgetDealLead>;

export const dealRuleCreated = defineRecord({
  type: 'DealRuleCreated',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A deal rule exists; it counts for a deal from the next event that names the deal.',
  schema: profileRuleCreated.schema,
});
export type DealRuleCreated = PayloadOf<typeof dealRuleCreated>;

export const dealRuleUpdated = defineRecord({
  type: 'DealRuleUpdated',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'A deal rule has these fields and no others; they count for a deal from the next event that names the deal.',
  schema: profileRuleCreated.schema,
});
export type DealRuleUpdated = PayloadOf<typeof dealRuleUpdated>;

/** A reason for a change of a deal's score. */
export const dealAdjustment = adjustment
  .pick({ points: true, rule_id: true, rule_version: true, counted: true, matched: true })
  .extend({
    reason: z
      .enum(['deal_rule', 'held_by_ruleset'])
      .describe(
        'deal_rule: the deal began to meet a rule, or the rule gives no points any more; then counted is 0, and matched is 1 where the deal still meets the rule. held_by_ruleset: min_score or max_score of a ruleset holds other points than before.',
      ),
    ruleset_id: id,
  });
export type DealAdjustment = z.infer<typeof dealAdjustment>;

export const dealScored = defineRecord({
  type: 'DealScored',
  topic: 'scoring.events',
  key: 'deal_key',
  description:
    'The decision on what events say of a deal: its changed fields, its score before and after, and why. Also sent when no rule matched, so that the deal is known.',
  mayWait: true,
  schema: z.strictObject({
    ...dealIdentity,
    new_deal: z.literal(true).optional().describe('The deal was not there before.'),
    lead_id: id.optional().describe('A lead that named the deal for the first time.'),
    changes: z
      .array(dealChange)
      .min(1)
      .max(4)
      .optional()
      .describe('Fields with another value, or with the same value at a later time.'),
    previous_score: score,
    score,
    score_sent: z
      .literal(true)
      .optional()
      .describe(
        'The first decision that sends the score to the leads of the deal. With the same score before and after: the deal was scored before leads had deal scores.',
      ),
    configuration_version: z.int().min(0).describe("The version of the OU's rules that decided."),
    adjustments: z
      .array(dealAdjustment)
      .min(1)
      .max(2_500)
      .optional()
      .describe('previous_score and these make score.'),
    decided_at: time.describe('The moment from which the score counts.'),
    fire_triggers: z.boolean(),
  }),
});
export type DealScored = PayloadOf<typeof dealScored>;

/** The most adjustments that a `RecordDealScore` names for one change of a deal. With more, the deal counts as a whole. */
export const maximumSentAdjustments = 50;

export const recordDealScore = defineRecord({
  type: 'RecordDealScore',
  topic: 'scoring.commands',
  key: 'lead_id',
  description:
    "A deal that the lead named has another score, or one that the lead was not sent yet. Sent by the partition of the deal, in the transaction of the deal's decision, to each of its leads.",
  mayWait: true,
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    deal_key: dealIdentity.deal_key,
    deal_id: dealIdentity.deal_id,
    previous_score: score.describe('The score that the lead was sent before.'),
    score: score.nullable().describe('null: the deal counts for the lead no more.'),
    configuration_version: z.int().min(0).describe("The version of the OU's rules that decided."),
    adjustments: z
      .array(dealAdjustment)
      .min(1)
      .max(maximumSentAdjustments)
      .optional()
      .describe('previous_score and these make score.'),
    decided_at: time,
    fire_triggers: z.boolean(),
  }),
});
export type RecordDealScore = PayloadOf<typeof recordDealScore>;

const removed = { ou_id: id, deal_key: id, lead_id: id, deletion_id: id, removed_at: time };

export const dealLeadRemoved = defineRecord({
  type: 'DealLeadRemoved',
  topic: 'scoring.events',
  key: 'deal_key',
  description: 'A lead of the deal was deleted. The deal stays, because other leads named it.',
  schema: z.strictObject(removed),
});
export type DealLeadRemoved = PayloadOf<typeof dealLeadRemoved>;

export const dealRemoved = defineRecord({
  type: 'DealRemoved',
  topic: 'scoring.events',
  key: 'deal_key',
  description:
    'The last lead of the deal was deleted, and the deal with it. A decision of the same key that follows is of a new deal.',
  schema: z.strictObject({ ...removed, previous_score: score.describe('The score that it had.') }),
});
export type DealRemoved = PayloadOf<typeof dealRemoved>;

export const dealsIgnored = defineRecord({
  type: 'DealsIgnored',
  topic: 'scoring.events',
  key: 'lead_id',
  description:
    'Events had a metadata.deal that is no deal, and it was ignored. The events count, and so do further deals of theirs.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    count: z.int().min(1).describe('Ignored deals; the first are listed.'),
    deals: z
      .array(
        z.strictObject({
          event_id: id,
          path: z.string().max(40).meta({ example: 'metadata.deal.amount' }),
          problem: z.string().max(200).describe('What to change.'),
        }),
      )
      .min(1)
      .max(dealLimits.ignored),
    decided_at: time,
  }),
});
export type DealsIgnored = PayloadOf<typeof dealsIgnored>;

export const dealScoringRecords = [
  recordDeal,
  forgetDealLead,
  dealRuleCreated,
  dealRuleUpdated,
  dealScored,
  dealLeadRemoved,
  dealRemoved,
  dealsIgnored,
  recordDealScore,
] as const;
