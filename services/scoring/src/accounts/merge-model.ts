// Where a merged account belongs. Pure.
import { accountIdOf, type AccountIdentity, type AccountReference } from '@lead-scoring/contracts';
import type { AccountConfiguration } from '@lead-scoring/scoring-domain';

export type MergedAccounts = AccountConfiguration['merged'];

/** The account that an identity means: itself, or the account into which it was merged. */
export function accountMeant(
  ouId: string,
  { account_kind, account_key }: AccountIdentity,
  merged: MergedAccounts,
): AccountReference {
  const account_id = accountIdOf(ouId, { account_kind, account_key });
  return merged.get(account_id)?.target ?? { account_id, account_kind, account_key };
}

/** The id of the account that an id means. */
export function accountIdMeant(accountId: string, merged: MergedAccounts): string {
  const id = accountId.toLowerCase();
  return merged.get(id)?.target.account_id ?? id;
}
