// Decides on changes of an OU's rulesets, rules and levels: pure; time and ids come with the command.
import {
  actedBy,
  eventTypeKey,
  nameBasedId,
  type JsonObject,
  type JsonValue,
  type records,
  type Warning,
} from '@lead-scoring/contracts';
import type { ConfigurationEvent, ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { setEngagementLevels } from '../levels/decide.js';
import { decideProfileConfiguration, profileRuleWarnings } from '../profile/decide-configuration.js';
import type { CommandResult, ConfigurationCommand, ConfigurationDecision } from './messages.js';
import { defaultRulesetOf, type Rule, type Ruleset } from './state.js';

export const configurationLimits = {
  rules: 1_000,
  rulesets: 200,
  /** The size of all rules as JSON, so that a configuration fits into one document. */
  bytes: 8_000_000,
};

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
    case 'CreateRule':
      return createRule(command.payload, configuration);
    case 'SetRulesActive':
      return setRulesActive(command.payload, configuration);
    case 'SetEngagementLevels':
      return setEngagementLevels(command.payload, configuration);
    case 'CreateProfileRule':
    case 'SetProfileRulesActive':
    case 'AddProfileMapping':
    case 'RemoveProfileMapping':
      return decideProfileConfiguration(command, configuration, configurationLimits);
  }
}

/** The answer of the command's route, once its events are folded. */
export function resultOf(command: ConfigurationCommand, configuration: ScoringConfiguration): CommandResult {
  switch (command.type) {
    case 'CreateRuleset':
    case 'UpdateRuleset':
      return asResult(configuration.rulesets.get(command.payload.ruleset_id));
    case 'CreateRule':
      return withWarnings(asResult(configuration.rules.get(command.payload.rule_id)), command, configuration);
    case 'CreateProfileRule':
      return {
        ...asResult(configuration.profile?.rules.get(command.payload.rule_id)),
        ...warningsField(profileRuleWarnings(command.payload.rule_id, configuration)),
      };
    case 'AddProfileMapping':
      return asResult(configuration.profile?.mappings.get(command.payload.mapping_id));
    case 'RemoveProfileMapping':
      return null;
    case 'SetProfileRulesActive':
    case 'SetRulesActive': {
      const ids = [...new Set(command.payload.rule_ids.map((id) => id.toLowerCase()))];
      return { updated_count: ids.length, updated_rules: ids };
    }
    case 'SetEngagementLevels':
      return { levels: configuration.levels.map((level) => ({ ...level })) };
  }
}

function warningsField(warnings: Warning[]): { warnings?: Warning[] } {
  return warnings.length === 0 ? {} : { warnings };
}

function withWarnings(
  result: CommandResult,
  { payload }: Extract<ConfigurationCommand, { type: 'CreateRule' }>,
  { rules }: ScoringConfiguration,
): CommandResult {
  const own = rules.get(payload.rule_id);
  const same = own && [...rules.values()].find((other) => other.id !== own.id && doesTheSame(own, other));
  if (!same) return result;
  const warning: Warning = {
    code: 'identical_rule',
    message: `The rule ${same.id}${same.label === undefined ? '' : ` ("${same.label}")`} gives the same points for the same events: both count. If this is not intended, deactivate one of them.`,
  };
  return { ...(result as JsonObject), warnings: [warning] };
}

/** Whether two active rules give the same events the same points, whatever their rulesets and labels are. */
function doesTheSame(one: Rule, other: Rule): boolean {
  const ofRule = ({ event_type, weight, attribute_filters, active, starts_at, ends_at }: Rule) =>
    JSON.stringify([
      eventTypeKey(event_type),
      weight,
      attribute_filters.map((filter) => JSON.stringify(filter)).sort(),
      active,
      starts_at,
      ends_at,
    ]);
  return one.active && ofRule(one) === ofRule(other);
}

/** The id of the ruleset for rules that name none. */
export function defaultRulesetIdOf(ouId: string): string {
  return nameBasedId(ouId, 'ruleset:default');
}

function createRuleset(
  command: records.CreateRuleset,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  if (configuration.rulesets.has(command.ruleset_id)) return done();
  if (isNameTaken(configuration, command.name)) return duplicateName(command.name);
  if (configuration.rulesets.size >= configurationLimits.rulesets) return tooManyRulesets();
  const { ou_id, ruleset_id, name, score_type, active, requested_at } = command;
  return done({
    type: 'RulesetCreated',
    payload: { ou_id, ruleset_id, name, score_type, active, is_default: false, version: 1, at: requested_at },
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
  if (name === known.name && active === known.active) return done();
  if (isNameTaken(configuration, name, known)) return duplicateName(name);
  return done({
    type: 'RulesetUpdated',
    payload: {
      ou_id: command.ou_id,
      ruleset_id: command.ruleset_id,
      name,
      active,
      version: known.version + 1,
      at: command.requested_at,
    },
  });
}

function createRule(command: records.CreateRule, configuration: ScoringConfiguration): ConfigurationDecision {
  if (configuration.rules.has(command.rule_id)) return done();
  const ruleset = command.ruleset_id === undefined ? null : configuration.rulesets.get(command.ruleset_id);
  if (ruleset === undefined) return rulesetNotFound();
  if (ruleset && ruleset.score_type !== 'engagement') return otherScoreType(ruleset);
  if (
    command.starts_at !== undefined &&
    command.ends_at !== undefined &&
    command.ends_at <= command.starts_at
  )
    return {
      outcome: 'rejected',
      code: 'invalid_request',
      message: 'ends_at must be after starts_at: the rule would never give points.',
      errors: [{ path: 'body.ends_at', message: 'must be after starts_at' }],
    };
  if (configuration.rules.size + (configuration.profile?.rules.size ?? 0) >= configurationLimits.rules)
    return limitReached(
      `An organizational unit holds at most ${String(configurationLimits.rules)} rules. Use another organizational unit, or fewer rules with the operator "in".`,
    );
  const events: ConfigurationEvent[] = [];
  let rulesetId = command.ruleset_id ?? defaultRulesetOf(configuration)?.id;
  if (rulesetId === undefined) {
    if (configuration.rulesets.size >= configurationLimits.rulesets) return tooManyRulesets();
    const created = defaultRuleset(command, configuration);
    events.push(created);
    rulesetId = created.payload.ruleset_id;
  }
  const { requested_at, ...fields } = command;
  const created: ConfigurationEvent = {
    type: 'RuleCreated',
    payload: {
      ...fields,
      ruleset_id: rulesetId,
      attribute_filters: command.attribute_filters ?? [],
      active: command.active ?? true,
      version: 1,
      at: requested_at,
    },
  };
  if (bytesOf(configuration) + JSON.stringify(created.payload).length > configurationLimits.bytes)
    return limitReached(
      `The rules of an organizational unit may take ${String(configurationLimits.bytes / 1_000_000)} MB in all. Use shorter lists of values in attribute_filters.`,
    );
  return done(...events, created);
}

function defaultRuleset(
  { ou_id, requested_at }: records.CreateRule,
  configuration: ScoringConfiguration,
): Extract<ConfigurationEvent, { type: 'RulesetCreated' }> {
  let name = 'Default';
  for (let number = 2; isNameTaken(configuration, name); number += 1) name = `Default ${String(number)}`;
  return {
    type: 'RulesetCreated',
    payload: {
      ou_id,
      ruleset_id: defaultRulesetIdOf(ou_id),
      name,
      score_type: 'engagement',
      active: true,
      is_default: true,
      version: 1,
      at: requested_at,
    },
  };
}

/** All of the rules or none (SPEC.md, Bulk rule updates). */
function setRulesActive(
  command: records.SetRulesActive,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const unknown = command.rule_ids.flatMap((id, index) =>
    configuration.rules.has(id.toLowerCase())
      ? []
      : [{ path: `body.rule_ids[${String(index)}]`, message: 'is not a rule of this organizational unit' }],
  );
  if (unknown.length > 0)
    return {
      outcome: 'rejected',
      code: 'rule_not_found',
      message: `${String(unknown.length)} of the rule_ids are not rules of this organizational unit, so no rule was changed. Leave them out.`,
      errors: unknown.slice(0, 100),
    };
  const { active } = command;
  if (active === undefined) return done();
  const changed = [...new Set(command.rule_ids.map((id) => id.toLowerCase()))].flatMap((id) => {
    const rule = configuration.rules.get(id);
    return rule && rule.active !== active ? [{ rule_id: id, version: rule.version + 1 }] : [];
  });
  if (changed.length === 0) return done();
  return done({
    type: 'RulesActivationChanged',
    payload: { ou_id: command.ou_id, active, rules: changed, at: command.requested_at },
  });
}

function isNameTaken(configuration: ScoringConfiguration, name: string, besides?: Ruleset): boolean {
  const wanted = name.toLowerCase();
  for (const ruleset of configuration.rulesets.values())
    if (ruleset !== besides && ruleset.name.toLowerCase() === wanted) return true;
  return false;
}

function bytesOf(configuration: ScoringConfiguration): number {
  return JSON.stringify([...configuration.rules.values(), ...(configuration.profile?.rules.values() ?? [])])
    .length;
}

function done(...events: ConfigurationEvent[]): ConfigurationDecision {
  return { outcome: 'done', events };
}

function duplicateName(name: string): ConfigurationDecision {
  return {
    outcome: 'rejected',
    code: 'duplicate_name',
    message: `There is a ruleset named "${name}" already. Choose another name.`,
    errors: [{ path: 'body.name', message: 'must not be the name of another ruleset' }],
  };
}

function tooManyRulesets(): ConfigurationDecision {
  return limitReached(
    `An organizational unit holds at most ${String(configurationLimits.rulesets)} rulesets. Put the rule into one that exists.`,
  );
}

function limitReached(message: string): ConfigurationDecision {
  return { outcome: 'rejected', code: 'limit_reached', message };
}

function otherScoreType({ name, score_type }: Ruleset): ConfigurationDecision {
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: `The ruleset "${name}" holds ${score_type} rules, which have conditions in place of an event_type. Choose a ruleset with score_type engagement: GET /engagement-scoring/rulesets lists them.`,
    errors: [{ path: 'body.ruleset_id', message: 'must be a ruleset with score_type engagement' }],
  };
}

function rulesetNotFound(): ConfigurationDecision {
  return {
    outcome: 'rejected',
    code: 'ruleset_not_found',
    message:
      'No ruleset of this organizational unit has this id. GET /engagement-scoring/rulesets lists them.',
  };
}

/** The resource as JSON: optional fields without a value are absent, not undefined. */
function asResult(resource: object | undefined): JsonObject {
  if (!resource) throw new Error('a decided resource is not in the state');
  return Object.fromEntries<JsonValue>(
    Object.entries(resource as JsonObject).filter(([, value]) => (value as unknown) !== undefined),
  );
}
