// Accounts: the companies that leads belong to. Their ids, the roll-up of their leads' scores, and the values that events give.
import { z } from 'zod';
import { id, wholeNumber } from '../common.js';
import { nameBasedId } from './identity.js';
import { profileChange } from './profile.js';

export const accountLimits = {
  /** Characters of an account's key. */
  key: 200,
  /** Fields with values of an account. */
  fields: 50,
  /** The most leads of `top`: so many scores are added up. */
  top: 10,
};

export const accountKinds = ['domain', 'named'] as const;
export type AccountKind = (typeof accountKinds)[number];

/** What an account's id is made of. */
export const accountIdentity = {
  account_kind: z
    .enum(accountKinds)
    .describe('domain: found by the domain of an e-mail address, or named by it. named: by another key.'),
  account_key: z.string().min(1).max(accountLimits.key).describe('The domain, or the key that events give.'),
};
export interface AccountIdentity {
  readonly account_kind: AccountKind;
  readonly account_key: string;
}

/** An account's id: name-based on its OU and key, so that leads find it without a look-up. */
export function accountIdOf(ouId: string, { account_kind, account_key }: AccountIdentity): string {
  return nameBasedId(ouId, `account:${account_kind}:${account_key}`);
}

/** An account in records: its id beside what it is made of. */
export const accountReference = z.strictObject({ account_id: id, ...accountIdentity });
export type AccountReference = z.infer<typeof accountReference>;

/** The most merges of accounts in an OU: their table is looked up whenever a lead names an account. */
export const maximumAccountMerges = 5_000;

export const rollUpMethods = ['none', 'sum', 'mean', 'max', 'top'] as const;

/** How the scores of an account's leads make points of the account. */
export const rollUp = z
  .strictObject({
    method: z
      .enum(rollUpMethods)
      .describe(
        'sum, mean (rounded) or max of the engagement scores of all leads; top: the sum of the `leads` highest; none: only rules give points.',
      ),
    leads: wholeNumber(1, accountLimits.top)
      .optional()
      .describe(`For top alone: how many leads count, 1 to ${String(accountLimits.top)}.`),
  })
  .meta({ id: 'AccountRollUp', example: { method: 'top', leads: 3 } });
export type RollUp = z.infer<typeof rollUp>;

/** Values of an account's fields that a lead's events gave. */
export const accountValues = z.array(profileChange).min(1).max(accountLimits.fields);
