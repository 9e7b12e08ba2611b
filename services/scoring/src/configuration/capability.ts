// An OU's rulesets, rules, levels, filters and decay rules as one aggregate, whose version identifies the rules of a decision.
import { aggregate, storedAsDocuments, type AggregateShape } from '@lead-scoring/capability';
import { records, type RecordDeclaration } from '@lead-scoring/contracts';
import { uuidToBinary } from '@lead-scoring/read-model';
import {
  type ConfigurationEvent,
  configurationRecords,
  emptyConfiguration,
  evolveConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { movesOf } from '../accounts/moves.js';
import { walksOf } from '../decays/walks.js';
import {
  applicationCommands,
  decideApplication,
  isApplication,
  readDrafts,
  type Application,
  type DecisionWithCommands,
  type StoredDrafts,
} from './applications.js';
import { decideConfiguration, resultOf } from './decide.js';
import {
  configurations,
  publishedConfigurations,
  toConfiguration,
  toConfigurationDocument,
  type ConfigurationDocument,
} from './documents.js';
import type { ConfigurationCommand } from './messages.js';

interface ScoringConfigurationShape extends AggregateShape {
  state: ScoringConfiguration;
  command: ConfigurationCommand | Application;
  event: ConfigurationEvent;
  /** The drafts that commands name. */
  context: StoredDrafts;
}

/** The record declarations of the commands. */
export const configurationCommands: {
  readonly [Type in ConfigurationCommand['type']]: RecordDeclaration<Type>;
} = {
  CreateRuleset: records.createRuleset,
  UpdateRuleset: records.updateRuleset,
  DeleteRuleset: records.deleteRuleset,
  CreateRule: records.createRule,
  UpdateRule: records.updateRule,
  DeleteRule: records.deleteRule,
  SetRulesActive: records.setRulesActive,
  SetEngagementLevels: records.setEngagementLevels,
  CreateProfileRule: records.createProfileRule,
  SetProfileRulesActive: records.setProfileRulesActive,
  AddProfileMapping: records.addProfileMapping,
  RemoveProfileMapping: records.removeProfileMapping,
  CreateAccountRule: records.createAccountRule,
  SetAccountRulesActive: records.setAccountRulesActive,
  SetAccountRollUp: records.setAccountRollUp,
  SetAccountLevels: records.setAccountLevels,
  MergeAccounts: records.mergeAccounts,
  ApplyConfiguration: records.applyConfiguration,
  SetProfileLevels: records.setProfileLevels,
  SetScoringGrid: records.setScoringGrid,
  CreateFilter: records.createFilter,
  UpdateFilter: records.updateFilter,
  DeleteFilter: records.deleteFilter,
  CreateDecay: records.createDecay,
  UpdateDecay: records.updateDecay,
  DeleteDecay: records.deleteDecay,
};

/** @param partitions of the system: each is told of changed decay rules */
export const scoringConfiguration = ({ partitions }: { readonly partitions: number }) =>
  aggregate<ScoringConfigurationShape>({
    name: 'scoring-configuration',
    commands: { ...configurationCommands, ...applicationCommands },
    events: configurationRecords,
    keyOf: ({ payload }) => payload.ou_id,
    initial: emptyConfiguration,
    contextOf: (commands, scope) => readDrafts(commands.filter(isApplication), scope),
    decide: (command, configuration, drafts) => {
      const decision: DecisionWithCommands = isApplication(command)
        ? decideApplication(command, drafts, configuration)
        : decideConfiguration(command, configuration);
      if (decision.outcome === 'rejected') return decision;
      return {
        ...decision,
        commands: [
          ...(decision.commands ?? []),
          ...walksOf(configuration, decision.events, partitions),
          ...movesOf(configuration, decision.events),
        ],
      };
    },
    evolve: evolveConfiguration,
    // The decision on an application has the result.
    resultOf: (command, configuration) =>
      isApplication(command) ? undefined : resultOf(command, configuration),
    stored: storedAsDocuments<ScoringConfiguration, ConfigurationDocument>({
      collection: configurations,
      idOf: uuidToBinary,
      toState: toConfiguration,
      toDocument: toConfigurationDocument,
      published: publishedConfigurations,
    }),
  });
