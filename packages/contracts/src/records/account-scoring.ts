// Commands and events of account scoring: rules over accounts and the roll-up of an OU, what leads contribute, and the decisions
// on the scores of accounts.
import { z } from 'zod';
import { id, score, time } from '../common.js';
import { accountIdentity, accountValues, accountReference, rollUp } from '../vocabulary/accounts.js';
import { happened, requested } from '../vocabulary/actor.js';
import { createProfileRule, profileRuleCreated } from './profile-scoring.js';
import { defineRecord, type PayloadOf } from './record.js';
import {
  engagementLevelsSet,
  rulesActivationChanged,
  setEngagementLevels,
  setRulesActive,
} from './scoring.js';

export const createAccountRule = defineRecord({
  type: 'CreateAccountRule',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Create a rule over accounts.',
  schema: createProfileRule.schema,
});
export type CreateAccountRule = PayloadOf<typeof createAccountRule>;

export const setAccountRulesActive = defineRecord({
  type: 'SetAccountRulesActive',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Switch many account rules on or off: all of them or, when one is unknown, none.',
  schema: setRulesActive.schema,
});
export type SetAccountRulesActive = PayloadOf<typeof setAccountRulesActive>;

export const setAccountRollUp = defineRecord({
  type: 'SetAccountRollUp',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: "Choose how the leads' scores make points of their account.",
  schema: z.strictObject({ ou_id: id, roll_up: rollUp, ...requested }),
});
export type SetAccountRollUp = PayloadOf<typeof setAccountRollUp>;

export const setAccountLevels = defineRecord({
  type: 'SetAccountLevels',
  topic: 'scoring.commands',
  key: 'ou_id',
  description:
    "Replace the OU's account levels. A level without an id keeps that of the level of its name, or gets one.",
  schema: setEngagementLevels.schema,
});
export type SetAccountLevels = PayloadOf<typeof setAccountLevels>;

/** The numbers of leads and deals that a merge moves, as of the request: the leads of the source, and the deals that they have named. */
const reassigned = {
  leads_reassigned: z.int().min(0),
  deals_reassigned: z.int().min(0),
};

export const mergeAccounts = defineRecord({
  type: 'MergeAccounts',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Make two accounts one: whatever belongs to the source, now or later, belongs to the target.',
  schema: z.strictObject({
    ou_id: id,
    source: accountReference,
    target: accountReference,
    ...reassigned,
    ...requested,
  }),
});
export type MergeAccounts = PayloadOf<typeof mergeAccounts>;

/** Leads of a merged account in one step of moving them. */
export const maximumMovedLeads = 500;

export const moveAccountLeads = defineRecord({
  type: 'MoveAccountLeads',
  topic: 'scoring.commands',
  key: 'account_id',
  description:
    'One step of moving the leads of a merged account: at most 500 of them are told where they belong now. Ends by sending itself the next step.',
  schema: z.strictObject({
    ou_id: id,
    account_id: id,
    version: z.int().min(1).describe('The version of the configuration that has the merge.'),
    after: id.nullable().describe('The lead after which to begin; null: at the first.'),
    until: time.describe('How long a step waits for the publication of that version.'),
  }),
});
export type MoveAccountLeads = PayloadOf<typeof moveAccountLeads>;

export const moveLeadToAccount = defineRecord({
  type: 'MoveLeadToAccount',
  topic: 'scoring.commands',
  key: 'lead_id',
  description:
    'The lead counts in another account now, if it is still in the one that was merged. Sent by the partition of that account.',
  mayWait: true,
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    from: id.describe('The merged account.'),
    to: accountReference,
    decided_at: time,
  }),
});
export type MoveLeadToAccount = PayloadOf<typeof moveLeadToAccount>;

export const accountsMerged = defineRecord({
  type: 'AccountsMerged',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'Two accounts are one: the leads of the source count in the target from now on, each with a LeadContributed of its own that follows.',
  schema: z.strictObject({
    ou_id: id,
    source: accountReference,
    target: accountReference,
    ...reassigned,
    ...happened,
  }),
});
export type AccountsMerged = PayloadOf<typeof accountsMerged>;

/** What the decision on a lead tells the account's partition; one for each lead and batch. */
export const contributeToAccount = defineRecord({
  type: 'ContributeToAccount',
  topic: 'scoring.commands',
  key: 'account_id',
  description:
    "A lead's score counts in an account with this value from now on. Sent by the partition of the lead, in the transaction of its decision.",
  mayWait: true,
  schema: z.strictObject({
    ou_id: id,
    account_id: id,
    ...accountIdentity,
    lead_id: id,
    score: score.nullable().describe('null: the lead belongs to the account no more.'),
    values: accountValues.optional().describe("Values of the account's fields that the lead's events gave."),
    last_activity_at: time.optional().describe("The time of the lead's latest event."),
    decided_at: time,
    fire_triggers: z.boolean(),
  }),
});
export type ContributeToAccount = PayloadOf<typeof contributeToAccount>;

export const accountRuleCreated = defineRecord({
  type: 'AccountRuleCreated',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'An account rule exists; it counts for an account from the next event of any of its leads on.',
  schema: profileRuleCreated.schema,
});
export type AccountRuleCreated = PayloadOf<typeof accountRuleCreated>;

export const accountRuleUpdated = defineRecord({
  type: 'AccountRuleUpdated',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'An account rule has these fields and no others; they count for an account from the next event of any of its leads on.',
  schema: profileRuleCreated.schema,
});
export type AccountRuleUpdated = PayloadOf<typeof accountRuleUpdated>;

export const accountRulesActivationChanged = defineRecord({
  type: 'AccountRulesActivationChanged',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'Account rules were switched on or off together. An account gets or loses their points with the next event of any of its leads.',
  schema: rulesActivationChanged.schema,
});
export type AccountRulesActivationChanged = PayloadOf<typeof accountRulesActivationChanged>;

export const accountRollUpSet = defineRecord({
  type: 'AccountRollUpSet',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    "The OU's accounts get their points of leads in this way, each from the next event of any of its leads on.",
  schema: z.strictObject({
    ou_id: id,
    roll_up: rollUp
      .nullable()
      .describe('null: as if it had never been set; a document of the configuration says so.'),
    ...happened,
  }),
});
export type AccountRollUpSet = PayloadOf<typeof accountRollUpSet>;

export const accountLevelsSet = defineRecord({
  type: 'AccountLevelsSet',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'The OU has these account levels and no others. What the score of an account is called follows from them; scores stay.',
  schema: engagementLevelsSet.schema,
});
export type AccountLevelsSet = PayloadOf<typeof accountLevelsSet>;

export const leadContributed = defineRecord({
  type: 'LeadContributed',
  topic: 'scoring.events',
  key: 'lead_id',
  description:
    "The lead belongs to this account, and its engagement score counts there with this value: at most one for each lead and batch of decisions. The account's own decision is AccountScored.",
  mayWait: true,
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    account_id: id,
    ...accountIdentity,
    named_at: time
      .optional()
      .describe('The time of the event that named the account; absent where an e-mail address did.'),
    score,
    configuration_version: z.int().min(0),
    decided_at: time,
  }),
});
export type LeadContributed = PayloadOf<typeof leadContributed>;

/** A reason for a change of an account's score. Each has the optional fields that it needs. */
const accountAdjustment = z.strictObject({
  reason: z
    .enum(['leads', 'account_rule', 'held_by_ruleset'])
    .describe(
      'leads: the roll-up of the scores of the leads came to another value. account_rule: the account began to meet a rule, or the rule gives no points any more; then counted is 0, and matched is 1 where the account still meets the rule. held_by_ruleset: min_score or max_score of a ruleset holds other points than before.',
    ),
  points: z.int(),
  rule_id: id.optional(),
  rule_version: z.int().min(1).optional(),
  ruleset_id: id.optional(),
  counted: z.int().min(0).optional(),
  matched: z.int().min(0).optional(),
});

/** The most contributions of leads in one decision; more are divided among consecutive decisions. */
export const maximumContributions = 1_000;

export const accountScored = defineRecord({
  type: 'AccountScored',
  topic: 'scoring.events',
  key: 'account_id',
  description:
    'The decision on contributions to an account: its score before and after, and why. ' +
    'An account without leads is gone: its last decision has leads 0 and score 0, and a later one of the same id is of a new account.',
  mayWait: true,
  schema: z.strictObject({
    ou_id: id,
    account_id: id,
    ...accountIdentity,
    new_account: z.boolean().optional().describe('True where the account was not there before.'),
    account_name: z
      .string()
      .max(512)
      .optional()
      .describe('The name that events gave the account, as of this decision; absent: its key is its name.'),
    previous_score: score,
    score,
    leads: z.int().min(0).describe('Leads of the account after the decision.'),
    configuration_version: z.int().min(0).describe("The version of the OU's configuration that decided."),
    contributions: z
      .array(
        z.strictObject({
          lead_id: id,
          previous_score: score.nullable().describe('null: the lead did not belong to the account.'),
          score: score.nullable().describe('null: the lead belongs to the account no more.'),
        }),
      )
      .max(maximumContributions),
    values: accountValues.optional(),
    roll_up: rollUp.describe('The way in which the leads gave their points.'),
    adjustments: z
      .array(accountAdjustment)
      .max(2_501)
      .describe('previous_score and these make score. Empty where the decision leaves the score as it was.'),
    last_activity_at: time
      .optional()
      .describe(
        'The time of the latest event of the leads, where it is later than that of earlier decisions.',
      ),
    decided_at: time.describe('The moment from which the score counts.'),
    fire_triggers: z.boolean(),
  }),
});
export type AccountScored = PayloadOf<typeof accountScored>;

export const accountScoringRecords = [
  createAccountRule,
  setAccountRulesActive,
  setAccountRollUp,
  setAccountLevels,
  mergeAccounts,
  moveAccountLeads,
  moveLeadToAccount,
  accountsMerged,
  contributeToAccount,
  accountRuleCreated,
  accountRuleUpdated,
  accountRulesActivationChanged,
  accountRollUpSet,
  accountLevelsSet,
  leadContributed,
  accountScored,
] as const;
