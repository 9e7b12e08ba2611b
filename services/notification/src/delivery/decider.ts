// Decides on the commands of delivery in one partition, and folds its events.
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
  /** All partitions of the process share it. */
  configurations: ConfigurationLoader;
  policy: DeliveryPolicy;
  clock: Pick<Clock, 'now'>;
  /** Maximum number of notifications that a partition keeps in memory. Default 10,000. */
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
      // Before the changed channel is published, its notifications would go to the old address.
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
      // A caller may read its own writes: the documents are written before the reply.
      replies: async () => {
        if (replies.length > 0) await this.store.written();
        return replies;
      },
    };
  }

  /** The deliverer gets the changes at once; the documents are written behind. */
  fold(folded: readonly FoldedRecord[]): Promise<DeliveryChanges> {
    return this.store.fold(
      folded.flatMap((record) => {
        const event = deliveryEventOf(record);
        if (!event) return [];
        const { traceparent } = record.headers;
        return [{ event, offset: offsetToNumber(record.offset), traceparent }];
      }),
    );
  }

  /** Resolves when everything folded before this call is written. */
  write(): Promise<void> {
    return this.store.written();
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.store.written()]);
  }
}
