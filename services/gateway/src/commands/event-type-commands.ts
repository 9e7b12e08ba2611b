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
  deleteEventTypeEvents: (input) =>
    command(records.deleteEventsOfType, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      event_type: input.parameters.eventType,
    }),
  backfillEventTypes: (input) =>
    command(records.startEventTypeBackfill, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      dry_run: input.query.dry_run === 'true',
    }),
} satisfies Partial<CommandBuilders>;
