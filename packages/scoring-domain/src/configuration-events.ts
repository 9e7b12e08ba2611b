// The events of scoring that make an OU's configuration.
import { eventOf, records, type RecordDeclaration, type RecordedEvent } from '@lead-scoring/contracts';
import type { DealConfigurationEvent } from './deal-configuration.js';
import type { AccountConfigurationEvent } from './account-configuration.js';
import type { ProfileConfigurationEvent } from './profile-configuration.js';
import type { DecayEvent } from './decays/decay-configuration.js';
import type { FilterEvent } from './filters/saved-filter.js';

export type ConfigurationEvent =
  | { type: 'RulesetCreated'; payload: records.RulesetCreated }
  | { type: 'RulesetUpdated'; payload: records.RulesetUpdated }
  | { type: 'RuleCreated'; payload: records.RuleCreated }
  | { type: 'RuleUpdated'; payload: records.RuleUpdated }
  | { type: 'RuleDeleted'; payload: records.RuleDeleted }
  | { type: 'RulesetDeleted'; payload: records.RulesetDeleted }
  | { type: 'RulesActivationChanged'; payload: records.RulesActivationChanged }
  | { type: 'EngagementLevelsSet'; payload: records.EngagementLevelsSet }
  | ProfileConfigurationEvent
  | DealConfigurationEvent
  | AccountConfigurationEvent
  | { type: 'ProfileLevelsSet'; payload: records.ProfileLevelsSet }
  | { type: 'ScoringGridSet'; payload: records.ScoringGridSet }
  | FilterEvent
  | DecayEvent;

/** The record declaration of each configuration event. */
export const configurationRecords: {
  readonly [Type in ConfigurationEvent['type']]: RecordDeclaration<Type>;
} = {
  RulesetCreated: records.rulesetCreated,
  RulesetUpdated: records.rulesetUpdated,
  RuleCreated: records.ruleCreated,
  RuleUpdated: records.ruleUpdated,
  RuleDeleted: records.ruleDeleted,
  RulesetDeleted: records.rulesetDeleted,
  RulesActivationChanged: records.rulesActivationChanged,
  EngagementLevelsSet: records.engagementLevelsSet,
  ProfileRuleCreated: records.profileRuleCreated,
  ProfileRuleUpdated: records.profileRuleUpdated,
  ProfileRulesActivationChanged: records.profileRulesActivationChanged,
  ProfileMappingAdded: records.profileMappingAdded,
  ProfileMappingRemoved: records.profileMappingRemoved,
  DealRuleCreated: records.dealRuleCreated,
  DealRuleUpdated: records.dealRuleUpdated,
  AccountRuleCreated: records.accountRuleCreated,
  AccountRuleUpdated: records.accountRuleUpdated,
  AccountRulesActivationChanged: records.accountRulesActivationChanged,
  AccountRollUpSet: records.accountRollUpSet,
  AccountLevelsSet: records.accountLevelsSet,
  AccountsMerged: records.accountsMerged,
  ProfileLevelsSet: records.profileLevelsSet,
  ScoringGridSet: records.scoringGridSet,
  FilterCreated: records.filterCreated,
  FilterUpdated: records.filterUpdated,
  FilterDeleted: records.filterDeleted,
  DecayCreated: records.decayCreated,
  DecayUpdated: records.decayUpdated,
  DecayDeleted: records.decayDeleted,
};

/** The configuration event in a record; null for any other record. */
export function configurationEventOf(record: RecordedEvent): ConfigurationEvent | null {
  return eventOf<ConfigurationEvent>(configurationRecords, record);
}
