// Delivery in one partition: decides on notifications and attempts, folds what happened to them, and has what waits sent.
import { randomUUID } from 'node:crypto';
import {
  WaitingCommands,
  type CapabilityDecision,
  type OpenCapability,
  type PartitionScope,
} from '@lead-scoring/capability';
import type { FoldedRecord, IncomingRecord, RecordWriter } from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';
import type { Logger } from '@lead-scoring/service';
import { loadContext } from './batch-context.js';
import type { Clock } from './clock.js';
import { waitForVersion, type ConfigurationLoader } from './configuration-in-force.js';
import { Deliverer } from './deliverer.js';
import { DeliveryBatch } from './delivery-batch.js';
import type { ChannelLimits } from './limits.js';
import { attemptRecord, commandIn, deliveryEventOf } from './log-records.js';
import { announceOwnership } from './ownership-announcement.js';
import type { DeliveryPolicy } from './schedule-model.js';
import type { DestinationType } from './senders/sender.js';
import type { SendNotification } from './senders/senders.js';
import type { Slots } from './slots.js';
import { DeliveryStore } from './store.js';

export interface DeliveryOptions {
  /** Shared by the partitions of a process, as are sending and slots. */
  configurations: ConfigurationLoader;
  send: SendNotification;
  slots: Slots;
  writer: Pick<RecordWriter, 'write'>;
  policy: DeliveryPolicy;
  limits: Readonly<Record<DestinationType, ChannelLimits>>;
  clock: Clock;
  logger: Logger;
  /** Notifications that a partition keeps in memory. Default 10,000. */
  cachedNotifications?: number;
}

const defaultCachedNotifications = 10_000;

export class DeliveryPartition implements OpenCapability {
  readonly #store: DeliveryStore;
  readonly #deliverer: Deliverer;
  readonly #tests = new WaitingCommands();
  /** Names this process as the owner of the partition. */
  readonly #owner = randomUUID();
  readonly #closing = new AbortController();
  readonly #partition: number;
  /** To be run once the events of the batch that was decided last are folded. */
  #afterwards: readonly (() => void)[] = [];

  constructor(
    { readModel, partition }: Pick<PartitionScope, 'readModel' | 'partition'>,
    private readonly options: DeliveryOptions,
  ) {
    const { configurations, writer, send, slots, clock, logger, policy, limits } = options;
    const { cachedNotifications = defaultCachedNotifications } = options;
    this.#partition = partition;
    this.#store = new DeliveryStore(readModel, partition, { cachedNotifications });
    this.#deliverer = new Deliverer(
      {
        store: this.#store,
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

  async decide(incoming: readonly IncomingRecord[]): Promise<CapabilityDecision> {
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
    const context = await loadContext(commandRecords, this.#store, configurations);
    const batch = new DeliveryBatch(context, {
      policy,
      deliverer: this.#deliverer,
      tests: this.#tests,
      owner: this.#owner,
    });
    for (const command of commandRecords) batch.decide(command);
    const { events, commands, replies, afterwards } = batch;
    this.#afterwards = afterwards;
    if (events.length === 0) this.#runAfterwards();
    return {
      outcome: 'decided',
      events,
      commands,
      // Whoever gets a reply may read what it speaks of.
      replies: async () => {
        if (replies.length > 0) await this.#store.written();
        return replies;
      },
    };
  }

  /** What is folded is sent at once, and written beside the batches that follow. */
  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    const recorded = folded.flatMap((record) => {
      const event = deliveryEventOf(record);
      return event ? [{ event, offset: offsetToNumber(record.offset) }] : [];
    });
    if (recorded.length > 0) this.#deliverer.folded(await this.#store.fold(recorded));
    this.#runAfterwards();
  }

  #runAfterwards(): void {
    const due = this.#afterwards;
    this.#afterwards = [];
    for (const run of due) run();
  }

  /** Resolves when all that is folded as of this call is written. */
  write(): Promise<void> {
    return this.#store.written();
  }

  caughtUp(): Promise<void> {
    const { writer, clock, logger } = this.options;
    void announceOwnership(
      { owner: this.#owner, partition: this.#partition, signal: this.#closing.signal },
      { writer, clock, logger },
    );
    return Promise.resolve();
  }

  /** Nothing is sent any more: a partition that is reset is opened anew. */
  beforeReset(): Promise<void> {
    return this.close();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#deliverer.stop();
    await Promise.allSettled([this.#store.written()]);
  }
}
