// Events of triggers by account score: firings, and what a trigger must remember of the account before it fires again.
import { z } from 'zod';
import { id, score, time } from '../common.js';
import { accountCause, accountFiringFields } from '../vocabulary/webhook.js';
import { causingRecord } from './notification-firings.js';
import { defineRecord, type PayloadOf } from './record.js';

/** Fields of every event of an account: the version of the OU's configuration that decided, and the record that caused it. */
const decisionFields = {
  ou_id: id,
  account_id: id,
  configuration_version: z
    .int()
    .min(0)
    .describe("The version of the OU's channels and triggers that decided."),
  source: causingRecord.describe('The decision on the account that caused it.'),
};

const name = z.string().max(100);

export const accountMilestoneFired = defineRecord({
  type: 'AccountMilestoneFired',
  topic: 'notification.events',
  key: 'account_id',
  description: "An account's score crossed the threshold of a milestone trigger.",
  schema: z.strictObject({
    ...decisionFields,
    firing_id: id,
    fired_at: time.describe('When the decision on the account was made.'),
    trigger: z.strictObject({ id, name, kind: z.literal('milestone') }),
    ...accountFiringFields,
    cause: accountCause,
    channel_ids: z.array(id).max(20).describe('Channels that are told.'),
  }),
});
export type AccountMilestoneFired = PayloadOf<typeof accountMilestoneFired>;

export const accountTriggerRearmed = defineRecord({
  type: 'AccountTriggerRearmed',
  topic: 'notification.events',
  key: 'account_id',
  description: 'A milestone trigger that has fired for the account may fire for it again.',
  schema: z.strictObject({ ...decisionFields, trigger_id: id, score, at: time }),
});
export type AccountTriggerRearmed = PayloadOf<typeof accountTriggerRearmed>;

export const accountTriggerSuppressed = defineRecord({
  type: 'AccountTriggerSuppressed',
  topic: 'notification.events',
  key: 'account_id',
  description: 'A trigger fired too often for an account: until a time it does not fire for it any more.',
  schema: z.strictObject({
    ...decisionFields,
    trigger: z.strictObject({ id, name, kind: z.literal('milestone') }),
    firings: z.int().min(1),
    window_seconds: z.int().min(1).describe('In which it fired so often.'),
    at: time,
    until: time,
  }),
});
export type AccountTriggerSuppressed = PayloadOf<typeof accountTriggerSuppressed>;

export const accountForgotten = defineRecord({
  type: 'AccountForgotten',
  topic: 'notification.events',
  key: 'account_id',
  description:
    'The last lead of the account was deleted or moved, so the account is gone: all that was recorded of it because of earlier decisions is forgotten. What is recorded because of later ones is of a new account.',
  schema: z.strictObject({
    ou_id: id,
    account_id: id,
    source: causingRecord.describe('The decision that left the account without leads.'),
    at: time,
  }),
});
export type AccountForgotten = PayloadOf<typeof accountForgotten>;

export const notificationAccountFiringRecords = [
  accountMilestoneFired,
  accountTriggerRearmed,
  accountTriggerSuppressed,
  accountForgotten,
] as const;
