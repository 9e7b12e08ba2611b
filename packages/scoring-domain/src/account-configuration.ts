// The account part of an OU's scoring configuration: rules over accounts and the roll-up, folded from their events. Pure.
import type { AccountReference, records, RollUp, routeDeclarations } from '@lead-scoring/contracts';
import { withChangedRule, withNewRule, withRulesActive, type ConditionRule } from './condition-rules.js';

/** The text in an explanation at the place of an event type, for an account rule. */
export const accountEventType = 'Account';

/** A merged account, and where it belongs now. */
export type MergedAccount = Pick<
  records.AccountsMerged,
  'source' | 'leads_reassigned' | 'deals_reassigned'
> & {
  /** The account into which it was merged or, where that was merged later, the one at the end. */
  readonly target: AccountReference;
};

export interface AccountConfiguration {
  /** In the order of their creation. */
  readonly rules: ReadonlyMap<string, ConditionRule>;
  /** null until it is set for the first time. */
  readonly roll_up: RollUp | null;
  /** In the order in which they were set. */
  readonly levels: readonly routeDeclarations.EngagementLevel[];
  /** By the id of the merged account. No target is merged itself. */
  readonly merged: ReadonlyMap<string, MergedAccount>;
}

export const noAccounts: AccountConfiguration = {
  rules: new Map(),
  roll_up: null,
  levels: [],
  merged: new Map(),
};

/** The roll-up where none was set. */
export const defaultRollUp: RollUp = { method: 'sum' };

export type AccountConfigurationEvent =
  | { type: 'AccountRuleCreated'; payload: records.AccountRuleCreated }
  | { type: 'AccountRuleUpdated'; payload: records.AccountRuleUpdated }
  | { type: 'AccountRulesActivationChanged'; payload: records.AccountRulesActivationChanged }
  | { type: 'AccountRollUpSet'; payload: records.AccountRollUpSet }
  | { type: 'AccountLevelsSet'; payload: records.AccountLevelsSet }
  | { type: 'AccountsMerged'; payload: records.AccountsMerged };

/** Folds an event. The state before is not changed. */
export function evolveAccounts(
  accounts: AccountConfiguration,
  { type, payload }: AccountConfigurationEvent,
): AccountConfiguration {
  switch (type) {
    case 'AccountRuleCreated':
      return { ...accounts, rules: withNewRule(accounts.rules, payload) };
    case 'AccountRuleUpdated':
      return { ...accounts, rules: withChangedRule(accounts.rules, payload) };
    case 'AccountRulesActivationChanged':
      return { ...accounts, rules: withRulesActive(accounts.rules, payload) };
    case 'AccountRollUpSet':
      return { ...accounts, roll_up: payload.roll_up };
    case 'AccountLevelsSet':
      return { ...accounts, levels: payload.levels };
    case 'AccountsMerged':
      return { ...accounts, merged: withMerge(accounts.merged, payload) };
  }
}

function withMerge(
  merged: AccountConfiguration['merged'],
  { source, target, leads_reassigned, deals_reassigned }: records.AccountsMerged,
): AccountConfiguration['merged'] {
  const after = new Map<string, MergedAccount>();
  for (const [id, merge] of merged)
    after.set(id, merge.target.account_id === source.account_id ? { ...merge, target } : merge);
  return after.set(source.account_id, { source, target, leads_reassigned, deals_reassigned });
}

/** The account part as it is stored in JSON. */
export interface PackedAccounts {
  rules: ConditionRule[];
  roll_up: RollUp | null;
  /** Absent where there are none. */
  levels?: routeDeclarations.EngagementLevel[];
  /** Absent where no account was merged. */
  merged?: MergedAccount[];
}

export function packedAccounts({ rules, roll_up, levels, merged }: AccountConfiguration): PackedAccounts {
  return {
    rules: [...rules.values()],
    roll_up,
    ...(levels.length > 0 && { levels: [...levels] }),
    ...(merged.size > 0 && { merged: [...merged.values()] }),
  };
}

export function unpackedAccounts({
  rules,
  roll_up,
  levels = [],
  merged = [],
}: PackedAccounts): AccountConfiguration {
  return {
    rules: new Map(rules.map((rule) => [rule.id, rule])),
    roll_up,
    levels,
    merged: new Map(merged.map((merge) => [merge.source.account_id, merge])),
  };
}
