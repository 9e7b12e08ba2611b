// Commands about triggers, of each of their kinds.
import { records } from '@lead-scoring/contracts';
import { milestoneOf, sequenceOf, surgeOf } from './triggers.js';
import {
  command,
  inUnit,
  ouOf,
  type BuiltCommand,
  type CommandBuilders,
  type CommandContext,
} from './command-building.js';

export const triggerCommands = {
  createTrigger: (input) => newTrigger(input, milestoneOf(input.body)),

  replaceTrigger: (input) => replacedTrigger(input, milestoneOf(input.body)),

  deleteTrigger: (input) => deletedTrigger(input, 'milestone'),

  createSequence: (input) => newTrigger(input, sequenceOf(input.body)),

  replaceSequence: (input) => replacedTrigger(input, sequenceOf(input.body)),

  deleteSequence: (input) => deletedTrigger(input, 'sequence'),

  createSurgeTrigger: (input) => newTrigger(input, surgeOf(input.body)),

  replaceSurgeTrigger: (input) => replacedTrigger(input, surgeOf(input.body)),

  deleteSurgeTrigger: (input) => deletedTrigger(input, 'surge'),
} satisfies Partial<CommandBuilders>;

function newTrigger(input: CommandContext, definition: records.TriggerDefinition): BuiltCommand {
  return command(records.createTrigger, ouOf(input), {
    ...inUnit(input),
    trigger_id: input.commandId,
    definition,
  });
}

function replacedTrigger(
  input: CommandContext & { parameters: { id: string } },
  definition: records.TriggerDefinition,
): BuiltCommand {
  return command(records.replaceTrigger, ouOf(input), {
    ...inUnit(input),
    trigger_id: input.parameters.id.toLowerCase(),
    definition,
  });
}

function deletedTrigger(
  input: CommandContext & { parameters: { id: string } },
  kind: records.DeleteTrigger['kind'],
): BuiltCommand {
  return command(records.deleteTrigger, ouOf(input), {
    ...inUnit(input),
    trigger_id: input.parameters.id.toLowerCase(),
    kind,
  });
}
