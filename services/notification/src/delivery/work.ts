// The effect of delivery in one partition: sends pending notifications, once all attempts that an earlier owner wrote are decided.
import { randomUUID } from 'node:crypto';
import type { EffectWork } from '@lead-scoring/capability';
import type { RecordWriter } from '@lead-scoring/event-log';
import type { Logger } from '@lead-scoring/service';
import type { Clock } from './clock.js';
import type { ConfigurationLoader } from './configuration-in-force.js';
import { Deliverer } from './deliverer.js';
import type { DeliverySignal } from './delivery-batch.js';
import type { ChannelLimits } from './limits.js';
import { attemptRecord } from './log-records.js';
import { announceOwnership } from './ownership-announcement.js';
import type { DeliveryPolicy } from './schedule-model.js';
import type { DestinationType } from './senders/sender.js';
import type { SendNotification } from './senders/senders.js';
import type { Slots } from './slots.js';
import type { DeliveryChanges, DeliveryStore } from './store.js';

export interface WorkOptions {
  /** All partitions of the process share it, `send` and `slots`. */
  configurations: ConfigurationLoader;
  send: SendNotification;
  slots: Slots;
  writer: Pick<RecordWriter, 'write'>;
  policy: Pick<DeliveryPolicy, 'probeEveryMs'>;
  limits: Readonly<Record<DestinationType, ChannelLimits>>;
  clock: Clock;
  logger: Logger;
}

export function deliveryWork(
  store: DeliveryStore,
  partition: number,
  options: WorkOptions,
): EffectWork<DeliveryChanges, DeliverySignal> {
  const { writer, clock, logger } = options;
  const deliverer = delivererOf(store, options);
  /** Id of this ownership of the partition. */
  const owner = randomUUID();
  const stopping = new AbortController();
  const take = (signal: DeliverySignal): void => {
    switch (signal.type) {
      case 'attempt-known':
        deliverer.known(signal.channel, signal.notification_id);
        return;
      case 'channel-resumed':
        deliverer.look(signal.channel);
        return;
      case 'owner-announced':
        if (signal.owner === owner) deliverer.begin();
    }
  };
  return {
    takeUp: () => {
      void announceOwnership({ owner, partition, signal: stopping.signal }, { writer, clock, logger });
      return Promise.resolve();
    },
    changed: (changes) => {
      deliverer.folded(changes);
    },
    signalled: (signals) => {
      for (const signal of signals) take(signal);
    },
    stop: async () => {
      stopping.abort();
      await deliverer.stop();
    },
  };
}

function delivererOf(
  store: DeliveryStore,
  { configurations, writer, send, slots, clock, logger, policy, limits }: WorkOptions,
): Deliverer {
  return new Deliverer(
    {
      store,
      channelOf: async (ouId, channelId) =>
        (await configurations.load([ouId])).get(ouId)?.channels.get(channelId) ?? null,
      send,
      record: async (attempt, caller) => {
        await writer.write([attemptRecord(attempt, caller)]);
      },
      slots,
      clock,
      logger,
    },
    { policy, limits },
  );
}
