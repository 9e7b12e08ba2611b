// Commands about the configuration of scoring: rulesets, rules, levels and filters.
import { records } from '@lead-scoring/contracts';
import { problem } from '../problem.js';
import { command, inUnit, ouOf, type CommandBuilders } from './command-building.js';

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

  setRulesActive: (input) => {
    const { rule_ids, updates } = input.body;
    refuseOtherUpdates(input.rawBody);
    return command(records.setRulesActive, ouOf(input), {
      ...inUnit(input),
      rule_ids,
      ...(updates.active !== undefined && { active: updates.active }),
    });
  },

  setProfileRulesActive: (input) => {
    const { rule_ids, updates } = input.body;
    refuseOtherUpdates(input.rawBody);
    return command(records.setProfileRulesActive, ouOf(input), {
      ...inUnit(input),
      rule_ids,
      ...(updates.active !== undefined && { active: updates.active }),
    });
  },

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

  putConfiguration: (input) =>
    command(records.applyConfiguration, ouOf(input), {
      ...inUnit(input),
      change_id: input.commandId,
      configuration: input.body,
      dry_run: input.query.dry_run === 'true',
      ...(input.expectedVersion !== undefined && { expected_version: input.expectedVersion }),
    }),

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
} satisfies Partial<CommandBuilders>;

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
