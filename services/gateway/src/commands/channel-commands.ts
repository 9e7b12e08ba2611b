// Commands about notification channels and the notifications sent through them.
import { records } from '@lead-scoring/contracts';
import { destinationOf, newSigningSecret, shownSigningSecret } from './channels.js';
import { command, inUnit, ouOf, type CommandBuilders } from './command-building.js';

export const channelCommands = {
  createChannel: (input) => {
    const { name } = input.body;
    const built = command(records.createChannel, ouOf(input), {
      ...inUnit(input),
      channel_id: input.commandId,
      name,
      destination: destinationOf(input.body, input.commandId, input.sealing),
      ...newSigningSecret(input),
    });
    return input.body.type === 'webhook' ? { ...built, shown: shownSigningSecret(input) } : built;
  },

  replaceChannel: (input) => {
    const channelId = input.parameters.id.toLowerCase();
    return command(records.replaceChannel, ouOf(input), {
      ...inUnit(input),
      channel_id: channelId,
      name: input.body.name,
      destination: destinationOf(input.body, channelId, input.sealing),
    });
  },

  deleteChannel: (input) =>
    command(records.deleteChannel, ouOf(input), {
      ...inUnit(input),
      channel_id: input.parameters.id.toLowerCase(),
    }),

  rotateChannelSecret: (input) => {
    const built = command(records.rotateChannelSecret, ouOf(input), {
      ...inUnit(input),
      channel_id: input.parameters.id.toLowerCase(),
      ...newSigningSecret(input),
    });
    return { ...built, shown: shownSigningSecret(input) };
  },

  testChannel: (input) => {
    const channelId = input.parameters.id.toLowerCase();
    return command(records.testChannel, channelId, {
      ...inUnit(input),
      channel_id: channelId,
      notification_id: input.commandId,
    });
  },

  resumeChannel: (input) => {
    const channelId = input.parameters.id.toLowerCase();
    return command(records.resumeChannel, channelId, {
      ...inUnit(input),
      channel_id: channelId,
      cause: 'request',
    });
  },

  redeliverNotifications: (input) => {
    const channelId = input.parameters.id.toLowerCase();
    return command(records.startRedelivery, channelId, {
      ...inUnit(input),
      channel_id: channelId,
      job_id: input.commandId,
      ...input.body,
    });
  },

  redeliverNotification: (input) =>
    command(records.redeliverNotification, ouOf(input), {
      ...inUnit(input),
      notification_id: input.parameters.id.toLowerCase(),
      redelivery_id: input.commandId,
    }),
} satisfies Partial<CommandBuilders>;
