// Folds decisions into an account: pure. A decision that was folded before changes nothing.
import type { records } from '@lead-scoring/contracts';
import { foldAccountPoints, withProfileChanges } from '@lead-scoring/scoring-domain';
import { noScores, withScores } from './rollup-model.js';
import type { Account } from './state.js';

/** @returns null where the account has no leads any more */
export function foldAccount(
  account: Account | null,
  decision: records.AccountScored,
  offset: number,
): Account | null {
  if (account && account.offset >= offset) return account;
  const points = foldAccountPoints(account, decision);
  if (!points) return null;
  const { ou_id, account_id, account_kind, account_key } = decision;
  const { contributions, values, decided_at, configuration_version } = decision;
  const { last_activity_at = account?.last_activity_at ?? decided_at } = decision;
  return {
    id: account_id,
    ou_id,
    account_kind,
    account_key,
    ...points,
    scores: withScores(account?.scores ?? noScores, contributions),
    values: withProfileChanges(account?.values ?? [], values),
    created_at: account?.created_at ?? decided_at,
    last_activity_at,
    updated_at: decided_at,
    configuration_version,
    offset,
  };
}
