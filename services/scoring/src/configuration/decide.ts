// Decides on changes of an OU's rulesets, rules, levels and decay rules: pure; time and ids come with the command.
import {
  actedBy,
  eventTypeKey,
  nameBasedId,
  type JsonObject,
  type JsonValue,
  type records,
  type Warning,
} from '@lead-scoring/contracts';
import {
  conditionRuleOf,
  filterAnswer,
  isDeletedRule,
  noAccounts,
  noDeals,
  ruleLimitsOf,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import {
  accountLevelsResult,
  decideAccountConfiguration,
  mergeResult,
  rollUpResult,
} from '../accounts/decide-configuration.js';
import { applyConfiguration } from '../configuration-file/decide.js';
import { decideDecayCommand } from '../decays/decide-rules.js';
import { createFilter, deleteFilter, updateFilter } from '../filters/decide.js';
import { setEngagementLevels } from '../levels/decide.js';
import { decideGridCommand, gridResultOf } from '../levels/decide-grid.js';
import { decideProfileConfiguration, profileRuleWarnings } from '../profile/decide-configuration.js';
import {
  alreadyDeleted,
  done,
  hasName,
  identicalConditionRule,
  identicalRule,
  nameTaken,
  neverCounts,
  rulesetNotFound,
  tooLarge,
  tooManyActiveRules,
  tooManyActiveRulesets,
  tooManyKept,
} from './decision-model.js';
import {
  hasSameRulesetLimits,
  rulesetLimitsAfter,
  senselessRuleLimits,
  senselessRulesetLimits,
} from './decide-limits.js';
import type { CommandResult, ConfigurationCommand, ConfigurationDecision } from './messages.js';
import { createAccountRule, createConditionRule, deleteRule, updateRule } from './decide-rule.js';
import { switchRules } from './decide-switch.js';
import { deleteRuleset } from './decide-ruleset.js';
import { defaultRulesetOf, type Rule, type Ruleset } from './state.js';

/** A repeated command that took effect before gives no event, and resultOf gives the same answer. */
export function decideConfiguration(
  command: ConfigurationCommand,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const decision = decideCommand(command, configuration);
  if (decision.outcome === 'rejected') return decision;
  return { ...decision, events: actedBy(decision.events, command.payload) };
}

function decideCommand(
  command: ConfigurationCommand,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  switch (command.type) {
    case 'CreateRuleset':
      return createRuleset(command.payload, configuration);
    case 'UpdateRuleset':
      return updateRuleset(command.payload, configuration);
    case 'DeleteRuleset':
      return deleteRuleset(command.payload, configuration);
    case 'CreateRule':
      return createRule(command.payload, configuration);
    case 'UpdateRule':
      return updateRule(command.payload, configuration);
    case 'DeleteRule':
      return deleteRule(command.payload, configuration);
    case 'SetRulesActive':
      return switchRules(command.payload, configuration, {
        rules: configuration.rules,
        noun: 'rule',
        event: 'RulesActivationChanged',
      });
    case 'SetEngagementLevels':
      return setEngagementLevels(command.payload, configuration);
    case 'CreateProfileRule':
      return createConditionRule(command.payload, configuration);
    case 'CreateAccountRule':
      return createAccountRule(command.payload, configuration);
    case 'SetProfileRulesActive':
    case 'AddProfileMapping':
    case 'RemoveProfileMapping':
      return decideProfileConfiguration(command, configuration);
    case 'SetAccountRulesActive':
    case 'SetAccountRollUp':
    case 'SetAccountLevels':
    case 'MergeAccounts':
      return decideAccountConfiguration(command, configuration);
    case 'ApplyConfiguration':
      return applyConfiguration(command.payload, configuration);
    case 'SetProfileLevels':
    case 'SetScoringGrid':
      return decideGridCommand(command, configuration);
    case 'CreateFilter':
      return createFilter(command.payload, configuration);
    case 'UpdateFilter':
      return updateFilter(command.payload, configuration);
    case 'DeleteFilter':
      return deleteFilter(command.payload, configuration);
    case 'CreateDecay':
    case 'UpdateDecay':
    case 'DeleteDecay':
      return decideDecayCommand(command, configuration);
  }
}

/** The answer of the command's route, once its events are folded; undefined for routes without a body. */
export function resultOf(
  command: ConfigurationCommand,
  configuration: ScoringConfiguration,
): CommandResult | undefined {
  switch (command.type) {
    case 'CreateRuleset':
    case 'UpdateRuleset':
      return asResult(configuration.rulesets.get(command.payload.ruleset_id));
    case 'DeleteRuleset':
    case 'DeleteRule':
    case 'ApplyConfiguration':
      // The decision on ApplyConfiguration has the result; a deletion has none.
      return undefined;
    case 'CreateRule':
    case 'CreateProfileRule':
    case 'CreateAccountRule':
    case 'UpdateRule':
      return ruleResult(command.payload.rule_id, configuration);
    case 'SetAccountRollUp':
      return rollUpResult(configuration);
    case 'SetAccountLevels':
      return accountLevelsResult(configuration);
    case 'MergeAccounts':
      return mergeResult(command.payload, configuration);
    case 'AddProfileMapping':
      return asResult(configuration.profile?.mappings.get(command.payload.mapping_id));
    case 'RemoveProfileMapping':
      return null;
    case 'SetProfileLevels':
    case 'SetScoringGrid':
      return gridResultOf(command, configuration);
    case 'SetProfileRulesActive':
    case 'SetAccountRulesActive':
    case 'SetRulesActive': {
      const ids = [...new Set(command.payload.rule_ids.map((id) => id.toLowerCase()))];
      return { updated_count: ids.length, updated_rules: ids };
    }
    case 'SetEngagementLevels':
      return { levels: configuration.levels.map((level) => ({ ...level })) };
    case 'CreateFilter':
    case 'UpdateFilter': {
      const filter = configuration.filters.get(command.payload.filter_id.toLowerCase());
      return asResult(filter && filterAnswer(filter, configuration));
    }
    case 'CreateDecay':
    case 'UpdateDecay':
      return asResult(configuration.decays?.rules.get(command.payload.decay_id.toLowerCase()));
    case 'DeleteFilter':
    case 'DeleteDecay':
      return null;
  }
}

function warningsField(warnings: Warning[]): { warnings?: Warning[] } {
  return warnings.length === 0 ? {} : { warnings };
}

/** A rule of any kind, with what its author may not have meant. */
function ruleResult(ruleId: string, configuration: ScoringConfiguration): CommandResult {
  const rule = configuration.rules.get(ruleId);
  if (rule) return { ...asResult(rule), ...warningsField(ruleWarnings(rule, configuration)) };
  return {
    ...asResult(conditionRuleOf(configuration, ruleId)),
    ...warningsField([
      ...profileRuleWarnings(ruleId, configuration),
      ...identicalConditionRule(ruleId, (configuration.accounts ?? noAccounts).rules, 'accounts'),
      ...identicalConditionRule(ruleId, (configuration.deals ?? noDeals).rules, 'deals'),
    ]),
  };
}

function ruleWarnings(own: Rule, { rules }: ScoringConfiguration): Warning[] {
  const same = [...rules.values()].find((other) => other.id !== own.id && doesTheSame(own, other));
  return same ? [identicalRule(same, 'events')] : [];
}

/** Whether two active rules give the same events the same points, whatever their rulesets and labels are. */
function doesTheSame(one: Rule, other: Rule): boolean {
  const ofRule = (rule: Rule) => {
    const { event_type, weight, attribute_filters, active, starts_at, ends_at } = rule;
    return JSON.stringify([
      eventTypeKey(event_type),
      weight,
      attribute_filters.map((filter) => JSON.stringify(filter)).sort(),
      active,
      starts_at,
      ends_at,
      ruleLimitsOf(rule),
    ]);
  };
  return one.active && ofRule(one) === ofRule(other);
}

/** The id of the first ruleset for rules that name none. */
export function defaultRulesetIdOf(ouId: string): string {
  return nameBasedId(ouId, 'ruleset:default');
}

/** The id of the next default ruleset: that of a deleted one is not used again. */
function nextDefaultRulesetId({ ou_id, version, former_rulesets }: ScoringConfiguration): string {
  const first = defaultRulesetIdOf(ou_id);
  return former_rulesets.has(first) ? nameBasedId(ou_id, `ruleset:default:${String(version)}`) : first;
}

function createRuleset(
  command: records.CreateRuleset,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  if (configuration.rulesets.has(command.ruleset_id)) return done();
  if (configuration.former_rulesets.has(command.ruleset_id)) return alreadyDeleted('ruleset');
  const taken = refusalOfName(configuration, command.name);
  if (taken) return taken;
  const limits = rulesetLimitsAfter({}, command);
  const senseless = senselessRulesetLimits(limits);
  if (senseless) return senseless;
  const { ou_id, ruleset_id, name, score_type, active, requested_at } = command;
  const tooMany =
    (active ? tooManyActiveRulesets(configuration) : null) ?? tooManyKept(configuration, 'rulesets');
  if (tooMany) return tooMany;
  return done({
    type: 'RulesetCreated',
    payload: {
      ou_id,
      ruleset_id,
      name,
      score_type,
      active,
      is_default: false,
      ...limits,
      version: 1,
      at: requested_at,
    },
  });
}

function updateRuleset(
  command: records.UpdateRuleset,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const known = configuration.rulesets.get(command.ruleset_id);
  if (!known) return rulesetNotFound();
  const name = command.name ?? known.name;
  const active = command.active ?? known.active;
  const limits = rulesetLimitsAfter(known, command);
  if (name === known.name && active === known.active && hasSameRulesetLimits(known, limits)) return done();
  const taken = refusalOfName(configuration, name, known);
  if (taken) return taken;
  const tooMany = active && !known.active ? tooManyActiveRulesets(configuration) : null;
  if (tooMany) return tooMany;
  const senseless = senselessRulesetLimits(limits);
  if (senseless) return senseless;
  return done({
    type: 'RulesetUpdated',
    payload: {
      ou_id: command.ou_id,
      ruleset_id: command.ruleset_id,
      name,
      active,
      ...limits,
      version: known.version + 1,
      at: command.requested_at,
    },
  });
}

function createRule(command: records.CreateRule, configuration: ScoringConfiguration): ConfigurationDecision {
  if (configuration.rules.has(command.rule_id)) return done();
  if (isDeletedRule(configuration, command.rule_id)) return alreadyDeleted('rule');
  const ruleset = command.ruleset_id === undefined ? null : configuration.rulesets.get(command.ruleset_id);
  if (ruleset === undefined) return rulesetNotFound();
  if (ruleset && ruleset.score_type !== 'engagement') return otherScoreType(ruleset);
  const { requested_at, ...fields } = command;
  const active = command.active ?? true;
  const refusal =
    neverCounts(command) ??
    senselessRuleLimits(command) ??
    tooManyActiveRules(configuration, active ? 1 : 0) ??
    tooManyKept(configuration, 'rules');
  if (refusal) return refusal;
  const events: ConfigurationEvent[] = [];
  let rulesetId = command.ruleset_id ?? defaultRulesetOf(configuration)?.id;
  if (rulesetId === undefined) {
    const tooMany = tooManyActiveRulesets(configuration) ?? tooManyKept(configuration, 'rulesets');
    if (tooMany) return tooMany;
    const created = defaultRuleset(configuration, command.requested_at);
    events.push(created);
    rulesetId = created.payload.ruleset_id;
  }
  const created = {
    type: 'RuleCreated',
    payload: {
      ...fields,
      ruleset_id: rulesetId,
      attribute_filters: command.attribute_filters ?? [],
      active,
      version: 1,
      at: requested_at,
    },
  } as const;
  return tooLarge(configuration, created.payload) ?? done(...events, created);
}

/** The ruleset for rules that name none. */
export function defaultRuleset(
  configuration: ScoringConfiguration,
  at: string,
): Extract<ConfigurationEvent, { type: 'RulesetCreated' }> {
  let name = 'Default';
  for (let number = 2; hasName(configuration.rulesets.values(), name); number += 1)
    name = `Default ${String(number)}`;
  return {
    type: 'RulesetCreated',
    payload: {
      ou_id: configuration.ou_id,
      ruleset_id: nextDefaultRulesetId(configuration),
      name,
      score_type: 'engagement',
      active: true,
      is_default: true,
      version: 1,
      at,
    },
  };
}

/** The refusal of a name that another ruleset has. */
function refusalOfName(
  { rulesets }: ScoringConfiguration,
  name: string,
  besides?: Ruleset,
): ConfigurationDecision | null {
  return nameTaken(
    'ruleset',
    name,
    [...rulesets.values()].filter((ruleset) => ruleset !== besides),
  );
}

function otherScoreType({ name, score_type }: Ruleset): ConfigurationDecision {
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: `The ruleset "${name}" holds ${score_type} rules, which have conditions in place of an event_type. Choose a ruleset with score_type engagement: GET /engagement-scoring/rulesets lists them.`,
    errors: [{ path: 'body.ruleset_id', message: 'must be a ruleset with score_type engagement' }],
  };
}

/** The resource as JSON: optional fields without a value are absent, not undefined. */
function asResult(resource: object | undefined): JsonObject {
  if (!resource) throw new Error('a decided resource is not in the state');
  return Object.fromEntries<JsonValue>(
    Object.entries(resource as JsonObject).filter(([, value]) => (value as unknown) !== undefined),
  );
}
