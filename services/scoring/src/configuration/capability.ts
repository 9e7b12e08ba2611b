// An OU's rulesets, rules, levels, filters and decay rules as one aggregate, whose version identifies the rules of a decision.
import {
  aggregate,
  findJob,
  storedAsDocuments,
  type AggregateShape,
  type Job,
} from '@lead-scoring/capability';
import { actedBy, records, type RecordDeclaration } from '@lead-scoring/contracts';
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
import { applyWhatIf, type WhatIfToApply } from '../what-if/apply-model.js';
import { decideConfiguration, resultOf } from './decide.js';
import {
  configurations,
  publishedConfigurations,
  toConfiguration,
  toConfigurationDocument,
  type ConfigurationDocument,
} from './documents.js';
import type { ConfigurationCommand, ConfigurationDecision } from './messages.js';

interface ScoringConfigurationShape extends AggregateShape {
  state: ScoringConfiguration;
  command: ConfigurationCommand | ApplyWhatIf;
  event: ConfigurationEvent;
  /** The what-ifs that commands name, by id. */
  context: ReadonlyMap<string, WhatIfToApply>;
}

/** Names a draft that the service's jobs have stored. */
interface ApplyWhatIf {
  type: 'ApplyWhatIf';
  payload: records.ApplyWhatIf;
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
    commands: { ...configurationCommands, ApplyWhatIf: records.applyWhatIf },
    events: configurationRecords,
    keyOf: ({ payload }) => payload.ou_id,
    initial: emptyConfiguration,
    contextOf: async (commands, { readModel }) => {
      const asked = commands.flatMap(({ type, payload }) => (type === 'ApplyWhatIf' ? [payload] : []));
      const found = await Promise.all(asked.map(({ ou_id, job_id }) => findJob(readModel, ou_id, job_id)));
      return new Map(found.flatMap((job) => (job && isWhatIf(job) ? [[job.job_id, job]] : [])));
    },
    decide: (command, configuration, whatIfs) => {
      const decision =
        command.type === 'ApplyWhatIf'
          ? decideApplication(command.payload, whatIfs, configuration)
          : decideConfiguration(command, configuration);
      if (decision.outcome === 'rejected') return decision;
      return {
        ...decision,
        commands: [
          ...walksOf(configuration, decision.events, partitions),
          ...movesOf(configuration, decision.events),
        ],
      };
    },
    evolve: evolveConfiguration,
    // The decision on ApplyWhatIf has the result.
    resultOf: (command, configuration) =>
      command.type === 'ApplyWhatIf' ? undefined : resultOf(command, configuration),
    stored: storedAsDocuments<ScoringConfiguration, ConfigurationDocument>({
      collection: configurations,
      idOf: uuidToBinary,
      toState: toConfiguration,
      toDocument: toConfigurationDocument,
      published: publishedConfigurations,
    }),
  });

function isWhatIf(job: Job<{ readonly kind: string }>): job is Job<records.WhatIfWork> {
  return job.work.kind === 'what-if';
}

function decideApplication(
  command: records.ApplyWhatIf,
  whatIfs: ReadonlyMap<string, WhatIfToApply>,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const decision = applyWhatIf(command, whatIfs.get(command.job_id) ?? null, configuration);
  return decision.outcome === 'rejected'
    ? decision
    : { ...decision, events: actedBy(decision.events, command) };
}
