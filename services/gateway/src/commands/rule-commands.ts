// Commands that change and delete rules and rulesets that exist.
import { records } from '@lead-scoring/contracts';
import { command, inUnit, ouOf, type CommandBuilders } from './command-building.js';

export const ruleCommands = {
  updateRule: (input) => {
    const { ruleset_id, ...changes } = input.body;
    return command(records.updateRule, ouOf(input), {
      ...inUnit(input),
      rule_id: input.parameters.id.toLowerCase(),
      ...(ruleset_id !== undefined && { ruleset_id: ruleset_id.toLowerCase() }),
      ...changes,
    });
  },

  deleteRule: (input) =>
    command(records.deleteRule, ouOf(input), {
      ...inUnit(input),
      rule_id: input.parameters.id.toLowerCase(),
    }),

  deleteRuleset: (input) =>
    command(records.deleteRuleset, ouOf(input), {
      ...inUnit(input),
      ruleset_id: input.parameters.id.toLowerCase(),
    }),
} satisfies Partial<CommandBuilders>;
