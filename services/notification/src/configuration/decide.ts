// Decides on commands on an OU's channels and triggers. Pure: time and ids come with the command.
import { actedBy } from '@lead-scoring/contracts';
import { createChannel, deleteChannel, replaceChannel, rotateChannelSecret } from './decide-channel.js';
import { createTrigger, deleteTrigger, replaceTrigger } from './decide-trigger.js';
import type { DestinationCheck } from './destination-model.js';
import type { KnownScoring } from './scoring-names-model.js';
import type { ConfigurationCommand, ConfigurationDecision } from './messages.js';
import type { NotificationConfiguration } from './state.js';

/** A command that is repeated gives no event, and `resultOf` gives the same answer again. */
export function decideConfiguration(
  command: ConfigurationCommand,
  configuration: NotificationConfiguration,
  check: DestinationCheck,
  scoring: KnownScoring,
): ConfigurationDecision {
  const decision = decideCommand(command, configuration, check, scoring);
  if (decision.outcome === 'rejected') return decision;
  return { ...decision, events: actedBy(decision.events, command.payload) };
}

function decideCommand(
  command: ConfigurationCommand,
  configuration: NotificationConfiguration,
  check: DestinationCheck,
  scoring: KnownScoring,
): ConfigurationDecision {
  switch (command.type) {
    case 'CreateChannel':
      return createChannel(command.payload, configuration, check);
    case 'ReplaceChannel':
      return replaceChannel(command.payload, configuration, check);
    case 'DeleteChannel':
      return deleteChannel(command.payload, configuration);
    case 'RotateChannelSecret':
      return rotateChannelSecret(command.payload, configuration);
    case 'CreateTrigger':
      return createTrigger(command.payload, configuration, scoring);
    case 'ReplaceTrigger':
      return replaceTrigger(command.payload, configuration, scoring);
    case 'DeleteTrigger':
      return deleteTrigger(command.payload, configuration);
  }
}
