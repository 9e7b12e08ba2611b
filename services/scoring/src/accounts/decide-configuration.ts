// Decides on the roll-up and the levels of an OU's accounts, on merges of accounts, and on switching account rules: pure; time and ids come
// with the command.
import { maximumAccountMerges, type records, type RollUp } from '@lead-scoring/contracts';
import { defaultRollUp, noAccounts, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { done, limitReached } from '../configuration/decision-model.js';
import { switchRules } from '../configuration/decide-switch.js';
import type { ConfigurationDecision } from '../configuration/messages.js';
import { decideLevels } from '../levels/decide.js';
import type { AccountConfigurationCommand } from './messages.js';

/** A repeated command that took effect before gives no event. */
export function decideAccountConfiguration(
  { type, payload }: AccountConfigurationCommand,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  switch (type) {
    case 'SetAccountRulesActive':
      return switchRules(payload, configuration, {
        rules: (configuration.accounts ?? noAccounts).rules,
        noun: 'account rule',
        event: 'AccountRulesActivationChanged',
      });
    case 'SetAccountRollUp':
      return setRollUp(payload, configuration);
    case 'SetAccountLevels':
      return decideLevels(payload, configuration, {
        known: (configuration.accounts ?? noAccounts).levels,
        kind: 'account-level',
        event: (set) => ({ type: 'AccountLevelsSet', payload: set }),
      });
    case 'MergeAccounts':
      return mergeAccounts(payload, configuration);
  }
}

/** The target of the event is the account into which the target was merged itself, where it was. */
function mergeAccounts(
  { ou_id, source, target, leads_reassigned, deals_reassigned, requested_at: at }: records.MergeAccounts,
  { accounts: { merged } = noAccounts }: ScoringConfiguration,
): ConfigurationDecision {
  const known = merged.get(source.account_id);
  const meant = merged.get(target.account_id)?.target ?? target;
  if (known && known.target.account_id === meant.account_id) return done();
  if (known)
    return alreadyMerged(
      `The account was merged into the account ${known.target.account_id}, and is no account any more. Merge that one.`,
    );
  if (meant.account_id === source.account_id)
    return alreadyMerged('The two accounts are one already. Choose another account as target_id.');
  if (merged.size >= maximumAccountMerges)
    return limitReached(
      `At most ${String(maximumAccountMerges)} accounts of an organizational unit can be merged into others.`,
    );
  return done({
    type: 'AccountsMerged',
    payload: { ou_id, source, target: meant, leads_reassigned, deals_reassigned, at },
  });
}

function alreadyMerged(message: string): ConfigurationDecision {
  return { outcome: 'rejected', code: 'already_merged', message };
}

/** The answer of the route that merges accounts: that of the first time. */
export function mergeResult(
  { source }: Pick<records.MergeAccounts, 'source'>,
  { accounts: { merged } = noAccounts }: ScoringConfiguration,
) {
  const known = merged.get(source.account_id);
  if (!known) throw new Error('a decided merge is not in the state');
  const { leads_reassigned, deals_reassigned } = known;
  return { leads_reassigned, deals_reassigned };
}

function setRollUp(
  { ou_id, roll_up, requested_at: at }: records.SetAccountRollUp,
  { accounts = noAccounts }: ScoringConfiguration,
): ConfigurationDecision {
  if (isSameRollUp(roll_up, accounts.roll_up)) return done();
  return done({ type: 'AccountRollUpSet', payload: { ou_id, roll_up, at } });
}

/** @param one null: it was never set */
export function isSameRollUp(one: RollUp | null, other: RollUp | null): boolean {
  return one?.method === other?.method && one?.leads === other?.leads;
}

/** The answer of the route that sets the roll-up. */
export function rollUpResult({ accounts = noAccounts }: ScoringConfiguration) {
  const { method, leads } = accounts.roll_up ?? defaultRollUp;
  return { roll_up: { method, ...(leads !== undefined && { leads }) } };
}

/** The answer of the route that sets the levels. */
export function accountLevelsResult({ accounts = noAccounts }: ScoringConfiguration) {
  return { levels: accounts.levels.map((level) => ({ ...level })) };
}
