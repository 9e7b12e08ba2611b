// Decides on the deliveries of one partition, and folds what happened to its notifications and channels.
import {
  WaitingCommands,
  type CapabilityDecision,
  type EffectDecider,
  type PartitionScope,
} from '@lead-scoring/capability';
import type { FoldedRecord, IncomingRecord } from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';
import { loadContext } from './batch-context.js';
import type { Clock } from './clock.js';
import { waitForVersion, type ConfigurationLoader } from './configuration-in-force.js';
import { DeliveryBatch, type DeliverySignal } from './delivery-batch.js';
import { commandIn, deliveryEventOf } from './log-records.js';
import type { DeliveryPolicy } from './schedule-model.js';
import { DeliveryStore, type DeliveryChanges } from './store.js';

export interface DeciderOptions {
  /** Shared by the partitions of a process. */
  configurations: ConfigurationLoader;
  policy: DeliveryPolicy;
  clock: Pick<Clock, 'now'>;
  /** Notifications that a partition keeps in memory. Default 10,000. */
  cachedNotifications?: number;
}

const defaultCachedNotifications = 10_000;

export class DeliveryDecider implements EffectDecider<DeliveryChanges, DeliverySignal> {
  readonly store: DeliveryStore;
  readonly #tests = new WaitingCommands();

  constructor(
    { readModel, partition }: Pick<PartitionScope, 'readModel' | 'partition'>,
    private readonly options: DeciderOptions,
  ) {
    const { cachedNotifications = defaultCachedNotifications } = options;
    this.store = new DeliveryStore(readModel, partition, { cachedNotifications });
  }

  async decide(
    incoming: readonly IncomingRecord[],
  ): Promise<CapabilityDecision & { signals: readonly DeliverySignal[] }> {
    const commandRecords = incoming.flatMap((record) => commandIn(record) ?? []);
    const { configurations, clock, policy } = this.options;
    for (const { type, payload } of commandRecords)
      // Until the changed channel is in force, what waits for it would go to where it was paused.
      if (type === 'ResumeChannel')
        await waitForVersion(
          configurations,
          { ouId: payload.ou_id, version: payload.configuration_version ?? 0 },
          clock,
        );
    const context = await loadContext(commandRecords, this.store, configurations);
    const batch = new DeliveryBatch(context, { policy, tests: this.#tests });
    for (const command of commandRecords) batch.decide(command);
    const { events, commands, replies, signals } = batch;
    return {
      outcome: 'decided',
      events,
      commands,
      signals,
      // Whoever gets a reply may read what it speaks of.
      replies: async () => {
        if (replies.length > 0) await this.store.written();
        return replies;
      },
    };
  }

  /** What is folded is sent at once, and written beside the batches that follow. */
  fold(folded: readonly FoldedRecord[]): Promise<DeliveryChanges> {
    return this.store.fold(
      folded.flatMap((record) => {
        const event = deliveryEventOf(record);
        return event ? [{ event, offset: offsetToNumber(record.offset) }] : [];
      }),
    );
  }

  /** Resolves when all that is folded as of this call is written. */
  write(): Promise<void> {
    return this.store.written();
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.store.written()]);
  }
}
