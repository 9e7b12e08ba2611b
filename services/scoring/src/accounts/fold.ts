// Folds decisions into an account: pure. A decision that was folded before changes nothing.
import type { records } from '@lead-scoring/contracts';
import { withProfileChanges } from '@lead-scoring/scoring-domain';
import { withHeldChanges, type HeldPoints } from '../condition-rules/limits-model.js';
import { withPointChanges, type GivenPoints } from '../condition-rules/points-model.js';
import { noScores, withScores } from './rollup-model.js';
import type { Account } from './state.js';

/** @returns null where the account has no leads any more */
export function foldAccount(
  account: Account | null,
  decision: records.AccountScored,
  offset: number,
): Account | null {
  if (account && account.offset >= offset) return account;
  if (decision.leads === 0) return null;
  const { ou_id, account_id, account_kind, account_key, score, leads, roll_up } = decision;
  const { contributions, adjustments, values, decided_at, configuration_version } = decision;
  return {
    id: account_id,
    ou_id,
    account_kind,
    account_key,
    score,
    leads,
    scores: withScores(account?.scores ?? noScores, contributions),
    leads_points: adjustments.reduce(
      (sum, { reason, points }) => (reason === 'leads' ? sum + points : sum),
      account?.leads_points ?? 0,
    ),
    roll_up,
    given: withPointChanges(account?.given ?? [], ruleChangesIn(adjustments)),
    held: withHeldChanges(account?.held ?? [], heldChangesIn(adjustments)),
    values: withProfileChanges(account?.values ?? [], values),
    created_at: account?.created_at ?? decided_at,
    updated_at: decided_at,
    configuration_version,
    offset,
  };
}

function ruleChangesIn(adjustments: records.AccountScored['adjustments']): GivenPoints[] {
  return adjustments.flatMap(({ reason, rule_id, rule_version, ruleset_id, points }) =>
    reason === 'account_rule' &&
    rule_id !== undefined &&
    rule_version !== undefined &&
    ruleset_id !== undefined
      ? [{ rule_id, rule_version, ruleset_id, points }]
      : [],
  );
}

function heldChangesIn(adjustments: records.AccountScored['adjustments']): HeldPoints[] {
  return adjustments.flatMap(({ reason, ruleset_id, points }) =>
    reason === 'held_by_ruleset' && ruleset_id !== undefined ? [{ ruleset_id, points }] : [],
  );
}
