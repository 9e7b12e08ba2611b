// The configuration capability: an aggregate of an OU's channels and triggers.
import { aggregate, storedAsDocuments, type AggregateShape } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { uuidToBinary } from '@lead-scoring/read-model';
import type { ScoringReader } from '../levels/reader.js';
import { decideConfiguration } from './decide.js';
import type { DestinationCheck } from './destination-model.js';
import {
  configurations,
  publishedConfigurations,
  toConfiguration,
  toDocument,
  type ConfigurationDocument,
} from './documents.js';
import { evolveConfiguration } from './evolve.js';
import { scoringNamedIn, type ScoringOf } from './known-scoring.js';
import type { ConfigurationCommand, ConfigurationEvent } from './messages.js';
import { resultOf } from './result-model.js';
import { emptyNotificationConfiguration, type NotificationConfiguration } from './state.js';

export interface ConfigurationShape extends AggregateShape {
  state: NotificationConfiguration;
  command: ConfigurationCommand;
  event: ConfigurationEvent;
  /** The OUs' levels and filters, for commands on triggers that name one. */
  context: ScoringOf;
}

export interface ConfigurationDependencies {
  destinations: DestinationCheck;
  scoring: Pick<ScoringReader, 'upToDate'>;
}

export function configurationCapability({ destinations, scoring }: ConfigurationDependencies) {
  return aggregate<ConfigurationShape>({
    name: 'configuration',
    commands: {
      CreateChannel: records.createChannel,
      ReplaceChannel: records.replaceChannel,
      DeleteChannel: records.deleteChannel,
      RotateChannelSecret: records.rotateChannelSecret,
      CreateTrigger: records.createTrigger,
      ReplaceTrigger: records.replaceTrigger,
      DeleteTrigger: records.deleteTrigger,
    },
    events: {
      ChannelCreated: records.channelCreated,
      ChannelReplaced: records.channelReplaced,
      ChannelSecretRotated: records.channelSecretRotated,
      ChannelResealed: records.channelResealed,
      ChannelDeleted: records.channelDeleted,
      TriggerCreated: records.triggerCreated,
      TriggerReplaced: records.triggerReplaced,
      TriggerDeleted: records.triggerDeleted,
    },
    keyOf: ({ payload }) => payload.ou_id,
    initial: emptyNotificationConfiguration,
    contextOf: (commands) => scoringNamedIn(commands, scoring),
    decide: (command, configuration, scoringOf) =>
      decideConfiguration(command, configuration, destinations, scoringOf(command.payload.ou_id)),
    evolve: evolveConfiguration,
    resultOf: (command, after, scoringOf) =>
      resultOf(command, after, scoringOf(command.payload.ou_id), destinations),
    commandsOf: toChannelOf,
    stored: storedAsDocuments<NotificationConfiguration, ConfigurationDocument>({
      collection: configurations,
      published: publishedConfigurations,
      idOf: uuidToBinary,
      toState: toConfiguration,
      toDocument,
    }),
  });
}

/**
 * Resumes a replaced channel in its own partition, also when the replacement changed nothing: a caller that replaces a paused
 * channel wants it to deliver again. For a deleted channel the command cancels its pending notifications.
 */
function toChannelOf(command: ConfigurationCommand, after: NotificationConfiguration): OutgoingRecord[] {
  if (command.type !== 'ReplaceChannel' && command.type !== 'DeleteChannel') return [];
  const { ou_id, channel_id, requested_at, actor } = command.payload;
  const configuration_version = after.version;
  return [
    outgoing(records.resumeChannel, {
      key: channel_id,
      payload: { ou_id, channel_id, cause: 'replacement', configuration_version, requested_at, actor },
    }),
  ];
}
