// Decides on changes of an OU's mappings and profile rules: pure; time and ids come with the command.
import {
  leadFieldNames,
  nearestName,
  profileLimits,
  type records,
  type Warning,
} from '@lead-scoring/contracts';
import { noProfile, type ProfileMapping, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { done, identicalConditionRule, limitReached } from '../configuration/decision-model.js';
import { switchRules } from '../configuration/decide-switch.js';
import type { ConfigurationDecision, Refusal } from '../configuration/messages.js';
import type { ProfileCommand } from './messages.js';

/** A repeated command that took effect before gives no event. */
export function decideProfileConfiguration(
  command: ProfileCommand,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  switch (command.type) {
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

/** Warnings of a profile rule: it does what another one does, or has conditions on fields that no mapping feeds. */
export function profileRuleWarnings(
  ruleId: string,
  { profile = noProfile }: ScoringConfiguration,
): Warning[] {
  const rule = profile.rules.get(ruleId);
  if (!rule) return [];
  const warnings = identicalConditionRule(ruleId, profile.rules, 'profiles');
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
