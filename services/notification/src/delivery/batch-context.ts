// Loads the states that a batch of commands is decided with, each kind in one call.
import type { BatchContext } from './delivery-batch.js';
import type { ConfigurationLoader } from './configuration-in-force.js';
import type { CommandRecord } from './log-records.js';
import type { Notification } from './state.js';
import type { DeliveryStore } from './store.js';

export async function loadContext(
  commands: readonly CommandRecord[],
  store: DeliveryStore,
  loader: ConfigurationLoader,
): Promise<BatchContext> {
  const [notifications, configurations, healths, redelivered] = await Promise.all([
    store.notifications(commands.flatMap(notificationIdsOf)),
    loader.load(commands.flatMap(ouIdsOf)),
    store.health(commands.flatMap(channelIdsOf)),
    findRedelivered(commands, store),
  ]);
  return { notifications, configurations, healths, redelivered };
}

/** Loads notifications of any partition: commands about them are forwarded to the partition of their channel. */
async function findRedelivered(
  commands: readonly CommandRecord[],
  store: Pick<DeliveryStore, 'find'>,
): Promise<Map<string, Notification>> {
  const ids = commands.flatMap((command) =>
    command.type === 'RedeliverNotification' ? [command.payload.notification_id] : [],
  );
  return ids.length === 0 ? new Map() : store.find(ids);
}

function notificationIdsOf(command: CommandRecord): string[] {
  switch (command.type) {
    case 'RequestNotification':
    case 'RecordAttempt':
    case 'TestChannel':
      return [command.payload.notification_id];
    case 'RedeliverNotifications':
      return command.payload.notification_ids ?? [];
    default:
      return [];
  }
}

/** The OUs whose channels the commands need. */
function ouIdsOf(command: CommandRecord): string[] {
  switch (command.type) {
    case 'TestChannel':
    case 'ResumeChannel':
    case 'RedeliverNotifications':
      return [command.payload.ou_id];
    default:
      return [];
  }
}

function channelIdsOf(command: CommandRecord): string[] {
  switch (command.type) {
    case 'RecordAttempt':
    case 'ResumeChannel':
      return [command.payload.channel_id];
    default:
      return [];
  }
}
