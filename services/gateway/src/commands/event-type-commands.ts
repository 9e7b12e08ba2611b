// Commands about the event types of an organizational unit.
import { records } from '@lead-scoring/contracts';
import { command, inUnit, ouOf, type CommandBuilders } from './command-building.js';

export const eventTypeCommands = {
  setEventTypeSettings: (input) =>
    command(records.setEventTypeHidden, ouOf(input), {
      ...inUnit(input),
      event_type: input.parameters.eventType,
      hidden: input.body.hidden,
    }),
} satisfies Partial<CommandBuilders>;
