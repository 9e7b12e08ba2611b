// Decides on changes of an OU's account rules and of its roll-up: pure; time and ids come with the command.
import type { records } from '@lead-scoring/contracts';
import {
  defaultRollUp,
  isDeletedRule,
  noAccounts,
  type ConditionRule,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { contentOf } from '../configuration/content-model.js';
import {
  alreadyDeleted,
  done,
  rulesetNotFound,
  tooLarge,
  tooManyActiveRules,
  tooManyKept,
} from '../configuration/decision-model.js';
import { switchRules } from '../configuration/decide-switch.js';
import type { ConfigurationDecision, Refusal } from '../configuration/messages.js';
import type { AccountConfigurationCommand } from './messages.js';

/** A repeated command that took effect before gives no event. */
export function decideAccountConfiguration(
  { type, payload }: AccountConfigurationCommand,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  switch (type) {
    case 'CreateAccountRule':
      return createAccountRule(payload, configuration);
    case 'SetAccountRulesActive':
      return switchRules(payload, configuration, {
        rules: (configuration.accounts ?? noAccounts).rules,
        noun: 'account rule',
        event: 'AccountRulesActivationChanged',
      });
    case 'SetAccountRollUp':
      return setRollUp(payload, configuration);
  }
}

/** Whether a command that creates a rule with conditions is about an account rule: its ruleset says so. */
export function isOfAccounts(
  { rule_id, ruleset_id }: Pick<records.CreateAccountRule, 'rule_id' | 'ruleset_id'>,
  { accounts = noAccounts, rulesets }: ScoringConfiguration,
): boolean {
  return accounts.rules.has(rule_id) || rulesets.get(ruleset_id)?.score_type === 'account';
}

export function createAccountRule(
  command: records.CreateAccountRule,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const { accounts = noAccounts } = configuration;
  if (accounts.rules.has(command.rule_id)) return done();
  if (isDeletedRule(configuration, command.rule_id)) return alreadyDeleted('rule');
  const refused = refusalOfRuleset(command.ruleset_id, configuration);
  if (refused) return refused;
  const { requested_at: at, ...fields } = command;
  const payload = { ...fields, active: command.active ?? true, version: 1, at };
  return (
    tooManyActiveRules(configuration, payload.active ? 1 : 0) ??
    tooManyKept(configuration, 'rules') ??
    tooLarge(configuration, payload) ??
    done({ type: 'AccountRuleCreated', payload })
  );
}

/** The fields of a change that an account rule has. */
const changeable = ['conditions', 'weight', 'label', 'active', 'ruleset_id'] as const;
/** Fields of a command that are no content of a rule. */
const besidesChange = new Set<string>(['ou_id', 'rule_id', 'requested_at', 'actor', ...changeable]);

/** Absent fields stay, and null removes the label. A change that changes nothing makes no version. */
export function updateAccountRule(
  command: records.UpdateRule,
  known: ConditionRule,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const strange = contentOf(command).flatMap(([field]) => (besidesChange.has(field) ? [] : [field]));
  if (strange.length > 0) return noSuchFields(strange);
  const { ou_id, rule_id, requested_at: at } = command;
  const ruleset_id = command.ruleset_id ?? known.ruleset_id;
  const label = command.label === undefined ? known.label : (command.label ?? undefined);
  const content = {
    ruleset_id,
    conditions: command.conditions ?? known.conditions,
    weight: command.weight ?? known.weight,
    active: command.active ?? known.active,
    ...(label !== undefined && { label }),
  };
  const isSame = Object.entries({ ...content, label }).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(known[field as keyof ConditionRule]),
  );
  if (isSame) return done();
  const payload = { ou_id, rule_id, ...content, version: known.version + 1, at };
  return (
    (ruleset_id === known.ruleset_id ? null : refusalOfRuleset(ruleset_id, configuration)) ??
    tooManyActiveRules(configuration, content.active && !known.active ? 1 : 0) ??
    tooLarge(configuration, payload) ??
    done({ type: 'AccountRuleUpdated', payload })
  );
}

function noSuchFields(fields: readonly string[]): Refusal {
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: `This is an account rule, which has no ${fields.join(', ')}. It takes ${changeable.join(', ')}.`,
    errors: fields.map((field) => ({
      path: `body.${field}`,
      message: 'must be left out for an account rule',
    })),
  };
}

function refusalOfRuleset(
  rulesetId: string,
  { rulesets }: ScoringConfiguration,
): ConfigurationDecision | null {
  const ruleset = rulesets.get(rulesetId);
  if (!ruleset) return rulesetNotFound();
  if (ruleset.score_type === 'account') return null;
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: `The ruleset "${ruleset.name}" holds ${ruleset.score_type} rules. Choose a ruleset with score_type account: GET /account-scoring/rulesets lists them.`,
    errors: [{ path: 'body.ruleset_id', message: 'must be a ruleset with score_type account' }],
  };
}

function setRollUp(
  { ou_id, roll_up, requested_at: at }: records.SetAccountRollUp,
  { accounts = noAccounts }: ScoringConfiguration,
): ConfigurationDecision {
  const known = accounts.roll_up;
  if (known && known.method === roll_up.method && known.leads === roll_up.leads) return done();
  return done({ type: 'AccountRollUpSet', payload: { ou_id, roll_up, at } });
}

/** The answer of the route that sets the roll-up. */
export function rollUpResult({ accounts = noAccounts }: ScoringConfiguration) {
  const { method, leads } = accounts.roll_up ?? defaultRollUp;
  return { roll_up: { method, ...(leads !== undefined && { leads }) } };
}
