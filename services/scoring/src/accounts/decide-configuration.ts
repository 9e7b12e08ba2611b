// Decides on the roll-up and the levels of an OU's accounts, and on switching its account rules: pure; time and ids come with the command.
import type { records, RollUp } from '@lead-scoring/contracts';
import { defaultRollUp, noAccounts, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { done } from '../configuration/decision-model.js';
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
  }
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
