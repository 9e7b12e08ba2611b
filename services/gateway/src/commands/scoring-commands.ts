// Commands about the configuration of scoring: rulesets, rules, levels, filters and decay rules.
import { jobNamed, records, type routes } from '@lead-scoring/contracts';
import { problem } from '../problem.js';
import {
  command,
  inUnit,
  ouOf,
  type BuiltCommand,
  type CommandBuilders,
  type CommandContext,
  type CommandInput,
} from './command-building.js';

export const scoringCommands = {
  createRuleset: (input) =>
    command(records.createRuleset, ouOf(input), {
      ...inUnit(input),
      ruleset_id: input.commandId,
      ...input.body,
    }),

  updateRuleset: (input) =>
    command(records.updateRuleset, ouOf(input), {
      ...inUnit(input),
      ruleset_id: input.parameters.id,
      ...input.body,
    }),

  createRule: (input) => {
    const { body } = input;
    const common = { ...inUnit(input), rule_id: input.commandId };
    return 'conditions' in body
      ? command(records.createProfileRule, ouOf(input), { ...common, ...body })
      : command(records.createRule, ouOf(input), { ...common, ...body });
  },

  createEngagementRule: (input) =>
    command(records.createRule, ouOf(input), { ...inUnit(input), rule_id: input.commandId, ...input.body }),

  setRulesActive: (input) => command(records.setRulesActive, ouOf(input), switchOf(input)),

  setProfileRulesActive: (input) => command(records.setProfileRulesActive, ouOf(input), switchOf(input)),

  createAccountRule: (input) =>
    command(records.createAccountRule, ouOf(input), {
      ...inUnit(input),
      rule_id: input.commandId,
      ...input.body,
      ruleset_id: input.body.ruleset_id.toLowerCase(),
    }),

  setAccountRulesActive: (input) => command(records.setAccountRulesActive, ouOf(input), switchOf(input)),

  setAccountRollUp: (input) =>
    command(records.setAccountRollUp, ouOf(input), { ...inUnit(input), roll_up: input.body.roll_up }),

  mergeAccounts: (input) =>
    command(records.mergeAccounts, ouOf(input), {
      ...inUnit(input),
      ...lookedUp(input.lookedUp.accountMerge),
    }),

  addProfileMapping: (input) =>
    command(records.addProfileMapping, ouOf(input), {
      ...inUnit(input),
      mapping_id: input.commandId,
      ...input.body,
    }),

  removeProfileMapping: (input) =>
    command(records.removeProfileMapping, ouOf(input), {
      ...inUnit(input),
      mapping_id: input.parameters.id,
    }),

  putConfiguration: (input) => applyDocument(input, input.body),

  restoreConfiguration: (input) => applyDocument(input, lookedUp(input.lookedUp.earlierConfiguration)),

  startWhatIf: (input) =>
    command(records.startWhatIf, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      ...input.body,
    }),

  startSuggestion: (input) =>
    command(records.startSuggestion, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      ...input.body,
    }),

  applyWhatIf: (input) =>
    command(records.applyWhatIf, ouOf(input), {
      ...inUnit(input),
      job_id: jobNamed(input.parameters.job).id,
    }),

  startChallenger: (input) =>
    command(records.startChallenger, ouOf(input), {
      ...inUnit(input),
      challenger_id: input.commandId,
      ...input.body,
    }),

  applyChallenger: (input) =>
    command(records.applyChallenger, ouOf(input), {
      ...inUnit(input),
      challenger_id: input.parameters.id.toLowerCase(),
      dry_run: input.query.dry_run === 'true',
    }),

  endChallenger: (input) =>
    command(records.endChallenger, ouOf(input), {
      ...inUnit(input),
      challenger_id: input.parameters.id.toLowerCase(),
    }),

  scoreNow: (input) => {
    const { dimension, id } = input.parameters;
    return rescoring(input, { score_type: dimension, ruleset_id: id.toLowerCase() });
  },

  backfillScores: (input) => rescoring(input, { score_type: 'engagement' }),

  backfillProfiles: (input) => rescoring(input, { score_type: 'profile' }),

  backfillAccounts: (input) =>
    command(records.startAccountBackfill, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      dry_run: input.query.dry_run === 'true',
      fire_triggers: input.query.fire_triggers === 'true',
    }),

  backfillLevels: (input) =>
    command(records.startLevelBackfill, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      dry_run: input.query.dry_run === 'true',
    }),

  setAccountLevels: (input) =>
    command(records.setAccountLevels, ouOf(input), { ...inUnit(input), levels: input.body.levels }),

  setEngagementLevels: (input) =>
    command(records.setEngagementLevels, ouOf(input), { ...inUnit(input), levels: input.body.levels }),

  setProfileLevels: (input) =>
    command(records.setProfileLevels, ouOf(input), { ...inUnit(input), levels: input.body.levels }),

  setScoringGrid: (input) =>
    command(records.setScoringGrid, ouOf(input), { ...inUnit(input), grid: input.body.grid }),

  createFilter: (input) =>
    command(records.createFilter, ouOf(input), {
      ...inUnit(input),
      filter_id: input.commandId,
      ...input.body,
    }),

  updateFilter: (input) =>
    command(records.updateFilter, ouOf(input), {
      ...inUnit(input),
      filter_id: input.parameters.id,
      ...input.body,
    }),

  deleteFilter: (input) =>
    command(records.deleteFilter, ouOf(input), { ...inUnit(input), filter_id: input.parameters.id }),

  createDecay: (input) =>
    command(records.createDecay, ouOf(input), {
      ...inUnit(input),
      decay_id: input.commandId,
      ...input.body,
    }),

  updateDecay: (input) =>
    command(records.updateDecay, ouOf(input), {
      ...inUnit(input),
      decay_id: input.parameters.id,
      ...input.body,
    }),

  deleteDecay: (input) =>
    command(records.deleteDecay, ouOf(input), { ...inUnit(input), decay_id: input.parameters.id }),
} satisfies Partial<CommandBuilders>;

function rescoring(
  input: CommandContext & Pick<CommandInput<typeof routes.backfillScores>, 'query'>,
  rescored: Pick<records.StartRescoring, 'score_type' | 'ruleset_id'>,
): BuiltCommand {
  return command(records.startRescoring, ouOf(input), {
    ...inUnit(input),
    job_id: input.commandId,
    ...rescored,
    dry_run: input.query.dry_run === 'true',
    fire_triggers: input.query.fire_triggers === 'true',
  });
}

/** Makes the configuration equal to a document. */
function applyDocument(
  input: CommandContext & Pick<CommandInput<typeof routes.restoreConfiguration>, 'query' | 'expectedVersion'>,
  configuration: records.ConfigurationFile,
) {
  return command(records.applyConfiguration, ouOf(input), {
    ...inUnit(input),
    change_id: input.commandId,
    configuration,
    dry_run: input.query.dry_run === 'true',
    ...(input.expectedVersion !== undefined && { expected_version: input.expectedVersion }),
  });
}

function lookedUp<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('the command is built without what was to be looked up for it');
  return part;
}

/** The rules that a bulk update switches on or off. */
function switchOf(input: CommandContext & Pick<CommandInput<typeof routes.setRulesActive>, 'body'>) {
  const { rule_ids, updates } = input.body;
  refuseOtherUpdates(input.rawBody);
  return { ...inUnit(input), rule_ids, ...(updates.active !== undefined && { active: updates.active }) };
}

/** Refuses fields that validation has dropped from the raw body, so that they are not ignored silently. */
function refuseOtherUpdates(rawBody: unknown): void {
  const { updates } = rawBody as { updates: object };
  const others = Object.keys(updates).filter((field) => field !== 'active');
  if (others.length === 0) return;
  const named = others.slice(0, 100);
  throw problem(
    'field_not_allowed',
    `updates may hold only active; leave out ${named.slice(0, 5).join(', ')}.`,
    {
      errors: named.map((field) => ({ path: `body.updates.${field}`, message: 'may not be changed here' })),
    },
  );
}
