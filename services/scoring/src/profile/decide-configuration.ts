// Decides on changes of an OU's mappings and profile rules: pure; time and ids come with the command.
import {
  leadFieldNames,
  nearestName,
  profileLimits,
  type records,
  type Warning,
} from '@lead-scoring/contracts';
import {
  conditionRuleOf,
  isDeletedRule,
  noProfile,
  type ProfileMapping,
  type ProfileRule,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import {
  alreadyDeleted,
  done,
  limitReached,
  tooLarge,
  tooManyActiveRules,
  tooManyKept,
} from '../configuration/decision-model.js';
import { createDealRule } from '../deals/decide-rule.js';
import { switchRules } from '../configuration/decide-switch.js';
import type { ConfigurationDecision, Refusal } from '../configuration/messages.js';
import type { ProfileCommand } from './messages.js';

/** A repeated command that took effect before gives no event. */
export function decideProfileConfiguration(
  command: ProfileCommand,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  switch (command.type) {
    case 'CreateProfileRule':
      return createConditionRule(command.payload, configuration);
    case 'SetProfileRulesActive':
      return switchRules(command.payload, configuration, {
        rules: (configuration.profile ?? noProfile).rules,
        noun: 'profile rule',
        event: 'ProfileRulesActivationChanged',
      });
    case 'AddProfileMapping':
      return addMapping(command.payload, configuration);
    case 'RemoveProfileMapping':
      return removeMapping(command.payload, configuration);
  }
}

/** Of the kind that the ruleset has. */
function createConditionRule(
  command: records.CreateProfileRule,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const { rulesets } = configuration;
  if (conditionRuleOf(configuration, command.rule_id)) return done();
  if (isDeletedRule(configuration, command.rule_id)) return alreadyDeleted('rule');
  const ruleset = rulesets.get(command.ruleset_id);
  if (!ruleset)
    return {
      outcome: 'rejected',
      code: 'ruleset_not_found',
      message:
        'No ruleset of this organizational unit has this id. GET /rulesets?score_type=profile lists those of profile rules, score_type=deal those of deal rules.',
    };
  if (ruleset.score_type === 'engagement')
    return {
      outcome: 'rejected',
      code: 'invalid_request',
      message: `The ruleset "${ruleset.name}" holds engagement rules, which have an event_type. Choose a ruleset with score_type profile or deal: GET /rulesets?score_type=profile lists those of profile rules, score_type=deal those of deal rules.`,
      errors: [{ path: 'body.ruleset_id', message: 'must be a ruleset with score_type profile or deal' }],
    };
  const { requested_at: at, ...fields } = command;
  const payload = { ...fields, active: command.active ?? true, version: 1, at };
  return (
    tooManyActiveRules(configuration, payload.active ? 1 : 0) ??
    tooManyKept(configuration, 'rules') ??
    tooLarge(configuration, payload) ??
    (ruleset.score_type === 'deal' ? createDealRule(payload) : done({ type: 'ProfileRuleCreated', payload }))
  );
}

function addMapping(
  { requested_at, ...mapping }: records.AddProfileMapping,
  { profile = noProfile }: ScoringConfiguration,
): ConfigurationDecision {
  if (profile.mappings.has(mapping.mapping_id)) return done();
  const same = [...profile.mappings.values()].find((known) => readsTheSame(known, mapping));
  if (same) return duplicateMapping(same);
  if (profile.mappings.size >= profileLimits.mappings) return tooManyMappings();
  return done({ type: 'ProfileMappingAdded', payload: { ...mapping, at: requested_at } });
}

/** @param same the mapping that there is; in a document it has no id */
export function duplicateMapping({
  id,
  field,
  source,
}: Pick<ProfileMapping, 'field' | 'source'> & { id?: string }): Refusal {
  return {
    outcome: 'rejected',
    code: 'duplicate_mapping',
    message: `${id === undefined ? 'Another mapping' : `The mapping ${id}`} feeds ${field} from ${source} already. Remove it before adding it with another transform.`,
    errors: [{ path: 'body.source', message: 'must not be a source that feeds the field already' }],
  };
}

export function tooManyMappings(): Refusal {
  return limitReached(
    `An organizational unit has at most ${String(profileLimits.mappings)} mappings. Remove one that no rule needs.`,
  );
}

/** Whether two mappings feed one field from one place. The prefix `metadata.` makes no difference. */
export function readsTheSame(
  one: Pick<ProfileMapping, 'field' | 'source'>,
  other: Pick<ProfileMapping, 'field' | 'source'>,
): boolean {
  const placeOf = ({ source }: Pick<ProfileMapping, 'source'>) => source.replace(/^metadata\./, '');
  return one.field === other.field && placeOf(one) === placeOf(other);
}

function removeMapping(
  { ou_id, mapping_id, requested_at }: records.RemoveProfileMapping,
  { profile = noProfile }: ScoringConfiguration,
): ConfigurationDecision {
  const id = mapping_id.toLowerCase();
  if (!profile.mappings.has(id))
    return {
      outcome: 'rejected',
      code: 'mapping_not_found',
      message:
        'No mapping of this organizational unit has this id. GET /profile-scoring/mappings lists them.',
    };
  return done({ type: 'ProfileMappingRemoved', payload: { ou_id, mapping_id: id, at: requested_at } });
}

/** What a caller may not have meant by a new rule. */
export function profileRuleWarnings(
  ruleId: string,
  { profile = noProfile }: ScoringConfiguration,
): Warning[] {
  const rule = profile.rules.get(ruleId);
  if (!rule) return [];
  const warnings: Warning[] = [];
  const same = [...profile.rules.values()].find((other) => other.id !== ruleId && doesTheSame(rule, other));
  if (same)
    warnings.push({
      code: 'identical_rule',
      message: `The rule ${same.id}${same.label === undefined ? '' : ` ("${same.label}")`} gives the same points for the same profiles: both count. If this is not intended, deactivate one of them.`,
    });
  const known = [...knownFields, ...new Set([...profile.mappings.values()].map(({ field }) => field))];
  const strange = rule.conditions.map(({ field }) => field).filter((field) => !known.includes(field));
  for (const field of [...new Set(strange)].slice(0, 5)) {
    const meant = nearestName(field, known);
    warnings.push({
      code: 'profile_field_not_fed',
      message: `No mapping feeds the profile field "${field}"${meant === undefined ? '.' : `; did you mean "${meant}"?`} POST /profile-scoring/mappings adds one.`,
    });
  }
  return warnings;
}

/** The fields of every profile, besides those that mappings feed. */
const knownFields: readonly string[] = [...leadFieldNames, 'email_domain'];

function doesTheSame(one: ProfileRule, other: ProfileRule): boolean {
  const ofRule = ({ conditions, weight, active }: ProfileRule) =>
    JSON.stringify([conditions.map((condition) => JSON.stringify(condition)).sort(), weight, active]);
  return one.active && ofRule(one) === ofRule(other);
}
