// Accounts as queries answer them. Pure.
import type { JsonObject, routeDeclarations } from '@lead-scoring/contracts';
import {
  accountRuleWords,
  heldWords,
  levelOf,
  noAccounts,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { sumOfPoints, type GivenPoints } from '../condition-rules/points-model.js';
import type { ShownAccount } from './documents.js';
import { accountFields, accountNameOf, type Account } from './state.js';

/** The fields of an account for tests of rules. */
export function conditionFieldsOf(account: Account): JsonObject {
  return accountFields(account, { leads: account.leads, leads_score: account.leads_points });
}

export function accountAnswer(
  account: Omit<ShownAccount, '_id' | 'rank'> & { readonly id: string },
  levels: readonly routeDeclarations.EngagementLevel[],
): routeDeclarations.Account {
  const { id, account_kind, account_key, score, leads } = account;
  const { created_at, last_activity_at, updated_at } = account;
  return {
    id,
    name: accountNameOf(account),
    account_kind,
    account_key,
    score,
    level: levelOf(levels, score),
    leads,
    created_at,
    last_activity_at,
    updated_at,
  };
}

/** The score of an account with what makes it. */
export function reasonsOf(
  account: Account,
  configuration: ScoringConfiguration,
): Omit<routeDeclarations.AccountWithReasons, 'top_leads'> {
  const { score, leads_points, given, held, configuration_version } = account;
  return {
    ...accountAnswer(account, (configuration.accounts ?? noAccounts).levels),
    fields: Object.fromEntries(account.values.map(({ field, value }) => [field, value])),
    roll_up: { ...account.roll_up, points: leads_points },
    rules: given.map((points) => ruleAnswer(points, configuration)),
    ...(held.length > 0 && {
      held: held.map((one) => ({ ...one, why: heldWords(one, configuration, 'an account') })),
    }),
    unattributed: score - leads_points - sumOfPoints(given) - sumOfPoints(held),
    configuration_version,
  };
}

function ruleAnswer(
  given: GivenPoints,
  configuration: ScoringConfiguration,
): routeDeclarations.AccountWithReasons['rules'][number] {
  const { rule_id, rule_version, ruleset_id, points } = given;
  const { label, filter_label } = accountRuleWords(given, configuration) ?? {};
  return {
    rule_id,
    rule_version,
    ruleset_id,
    ...(label !== undefined && { label }),
    ...(filter_label !== undefined && { filter_label }),
    points,
  };
}
