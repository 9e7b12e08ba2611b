// Sends the batches of the partition queues: each broker has one request in flight, and records that arrive meanwhile
// form the next one.
import type { Logger } from 'pino';
import { EventLogUnavailable } from '../errors.js';
import { byLeader, mayAppendAgain, produce, type ProducerIdentity } from '../kafka/idempotent-appender.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { protocolError } from '../kafka/kafka-errors.js';
import { pause, within } from '../timing.js';
import type { PartitionQueue } from './partition-queue.js';
import type { ProducerConnection } from './producer-connection.js';

/** Milliseconds between two searches for a missing leader. */
const retryPauseMs = 50;

export interface QueueSenderOptions {
  queues(): Iterable<PartitionQueue>;
  connection: ProducerConnection;
  logger: Logger;
  timeoutMs: number;
}

export class QueueSender {
  readonly #busyLeaders = new Set<number>();
  #isScheduled = false;
  #isFindingLeaders = false;

  constructor(private readonly options: QueueSenderOptions) {}

  /** Sends after the current iteration of the event loop, so that all records that arrive in it share a request. */
  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendAll();
    });
  }

  /**
   * Drops a batch that no caller waits for. Whether it was written is unknown, so its producer id is not used again.
   */
  dropAbandoned(queue: PartitionQueue): void {
    if (!queue.isAbandoned()) return;
    queue.rejectBatch(new EventLogUnavailable('the write was rejected before its batch was written'));
    this.options.connection.renew('a write has timed out');
  }

  #sendAll(): void {
    const current = this.options.connection.current();
    const ready = [...this.options.queues()].filter((queue) => queue.isReady());
    if (!current || ready.length === 0) return;
    const { connection, identity } = current;
    for (const [leader, group] of groupsOf(connection, ready)) {
      if (leader === undefined) void this.#findLeaders(connection, group);
      else if (!this.#busyLeaders.has(leader)) void this.#send(connection, leader, group, identity);
    }
  }

  async #findLeaders(from: KafkaConnection, group: readonly PartitionQueue[]): Promise<void> {
    if (this.#isFindingLeaders) return;
    this.#isFindingLeaders = true;
    const { timeoutMs, logger, connection } = this.options;
    try {
      await within(from.open(group.map(({ topic }) => topic)), timeoutMs, noMetadata);
      if (group.some((queue) => leaderOrNone(from, queue) === undefined)) {
        await pause(retryPauseMs);
        await this.#refresh(from);
      }
    } catch (error) {
      logger.debug({ err: error }, 'the leaders of the partitions are not known');
      connection.renew('the leaders of the partitions are not known', from);
    }
    this.#isFindingLeaders = false;
    this.schedule();
  }

  /**
   * Sends the batches of these queues to their leader. A request carries one producer id: queues with another id wait.
   */
  async #send(
    from: KafkaConnection,
    leader: number,
    group: readonly PartitionQueue[],
    current: ProducerIdentity,
  ): Promise<void> {
    const identity = group[0]?.identityOr(current) ?? current;
    const queues = group.filter((queue) => queue.identityOr(current) === identity);
    this.#busyLeaders.add(leader);
    const batches = queues.map((queue) => queue.nextBatch(current));
    const { timeoutMs } = this.options;
    try {
      const offsets = await within(
        from.broker(leader).then((broker) => produce(broker, identity, batches, timeoutMs)),
        timeoutMs,
        () => protocolError('REQUEST_TIMED_OUT', 'the broker did not acknowledge in time'),
      );
      queues.forEach((queue, at) => queue.batchWritten(offsets[at] ?? -1n));
    } catch (error) {
      await this.#fail(from, queues, error);
    } finally {
      this.#busyLeaders.delete(leader);
      this.schedule();
    }
  }

  async #fail(from: KafkaConnection, queues: readonly PartitionQueue[], error: unknown): Promise<void> {
    const { logger, connection } = this.options;
    if (mayAppendAgain(error)) {
      logger.debug({ err: error }, 'records are sent again');
      await pause(retryPauseMs);
      await this.#refresh(from);
      for (const queue of queues) {
        queue.awaitRetry();
        this.dropAbandoned(queue);
      }
      return;
    }
    logger.error({ err: error }, 'records could not be written');
    for (const queue of queues)
      queue.rejectBatch(new EventLogUnavailable('the brokers refused the records', error));
    connection.renew('records could not be written');
  }

  async #refresh(from: KafkaConnection): Promise<void> {
    const { timeoutMs, logger } = this.options;
    await within(from.refresh(), timeoutMs, noMetadata).catch((error: unknown) => {
      logger.debug({ err: error }, 'the leaders of the partitions are not known');
    });
  }
}

function noMetadata(): Error {
  return new Error('no metadata in time');
}

/** The queues by the leader of their partition; all under `undefined` when the connection does not know a topic. */
function groupsOf(
  connection: KafkaConnection,
  queues: PartitionQueue[],
): Map<number | undefined, PartitionQueue[]> {
  try {
    return byLeader(connection, queues);
  } catch {
    return new Map([[undefined, queues]]);
  }
}

function leaderOrNone(connection: KafkaConnection, { topic, partition }: PartitionQueue): number | undefined {
  try {
    return connection.leaderId(topic, partition);
  } catch {
    return undefined;
  }
}
