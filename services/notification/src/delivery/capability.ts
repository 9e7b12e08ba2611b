// Delivery as a capability: notifications are sent to channels by the owner of the channel's partition, and each attempt is
// recorded.
import type { Capability, OpenCapability, PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { openDelivery, type DeliveryOptions } from './partition.js';
import { channelHealth, deliveries, deliveryAttempts, pendingDeliveries } from './store.js';

const commands = {
  RequestNotification: records.requestNotification,
  TestChannel: records.testChannel,
  RecordAttempt: records.recordAttempt,
  ResumeChannel: records.resumeChannel,
  RedeliverNotification: records.redeliverNotification,
  RedeliverNotifications: records.redeliverNotifications,
  ForgetLead: records.forgetLead,
  BeginDelivery: records.beginDelivery,
};

const events = {
  NotificationRequested: records.notificationRequested,
  NotificationAttempted: records.notificationAttempted,
  NotificationsRedelivered: records.notificationsRedelivered,
  NotificationsForgotten: records.notificationsForgotten,
  ChannelPaused: records.channelPaused,
  ChannelResumed: records.channelResumed,
};

export function deliveryCapability(options: DeliveryOptions) {
  return {
    name: 'delivery',
    kind: 'effect',
    commands,
    reads: {},
    events,
    collections: [pendingDeliveries, channelHealth, deliveryAttempts, deliveries],
    open: ({ readModel, partition }: PartitionScope): OpenCapability => {
      const delivery = openDelivery(readModel, partition, options);
      return {
        decide: async (incoming) => ({ outcome: 'decided', ...(await delivery.decide(incoming)) }),
        fold: (folded) => delivery.fold(folded),
        write: () => delivery.written(),
        caughtUp: () => {
          delivery.caughtUp();
          return Promise.resolve();
        },
        // A partition that is reset is opened anew.
        beforeReset: () => delivery.close(),
        close: () => delivery.close(),
      };
    },
  } satisfies Capability<keyof typeof commands, keyof typeof events>;
}
