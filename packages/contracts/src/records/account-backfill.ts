// The job that counts all leads of an organizational unit in their accounts, by their recorded history, and what it tells each lead.
import { z } from 'zod';
import { id, time } from '../common.js';
import { accountIdentity, accountLimits } from '../vocabulary/accounts.js';
import { requested } from '../vocabulary/actor.js';
import { profileChange } from '../vocabulary/profile.js';
import { defineRecord, type PayloadOf } from './record.js';
import { replayedPartitions } from './what-if.js';

const asked = {
  dry_run: z.boolean().describe('Only say what would change.'),
  fire_triggers: z.boolean().describe('Whether triggers by account score may fire on what changes.'),
};

export const startAccountBackfill = defineRecord({
  type: 'StartAccountBackfill',
  topic: 'scoring.commands',
  key: 'ou_id',
  description:
    'Count all leads of an organizational unit in their accounts, by their recorded history, as a job.',
  schema: z.strictObject({ ou_id: id, job_id: id, ...asked, ...requested }),
});
export type StartAccountBackfill = PayloadOf<typeof startAccountBackfill>;

export const accountBackfillWork = z.strictObject({
  kind: z.literal('account-backfill'),
  ...asked,
  partitions: replayedPartitions,
});
export type AccountBackfillWork = z.infer<typeof accountBackfillWork>;

const count = z.int().min(0);

export const accountBackfillFound = z.strictObject({
  joining: count,
  moving: count,
  refreshed: count,
  unchanged: count,
  without_account: count,
});
export type AccountBackfillFound = z.infer<typeof accountBackfillFound>;

/** Accounts that a lead's events named, as far as a command tells of them. */
export const maximumNamedAccounts = 20;

const namedAccounts = z
  .array(
    z.strictObject({
      ...accountIdentity,
      at: time.describe('The time of the last event that named it.'),
      values: z
        .array(profileChange)
        .max(accountLimits.fields)
        .describe("Values of the account's fields that events gave."),
    }),
  )
  .max(maximumNamedAccounts)
  .describe('The accounts that events of the lead have named, the one that counts first.');
export type NamedAccounts = z.infer<typeof namedAccounts>;

export const contributeLead = defineRecord({
  type: 'ContributeLead',
  topic: 'scoring.commands',
  key: 'lead_id',
  description:
    'The lead counts in its account, by what its recorded events have named. It takes effect once, however often it comes.',
  mayWait: true,
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    named: namedAccounts,
    decided_at: time,
    fire_triggers: z.boolean(),
  }),
});
export type ContributeLead = PayloadOf<typeof contributeLead>;

export const accountBackfillRecords = [startAccountBackfill, contributeLead] as const;
