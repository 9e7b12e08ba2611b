// Sends the batches of the lanes: each broker has one request in flight, and what arrives meanwhile is its next.
import type { Logger } from 'pino';
import { EventLogUnavailable } from '../errors.js';
import { byLeader, mayAppendAgain, produce, type ProducerIdentity } from '../kafka/idempotent-appender.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { protocolError } from '../kafka/kafka-errors.js';
import { pause, within } from '../timing.js';
import type { Lane } from './lane.js';
import type { ProducerConnection } from './producer-connection.js';

/** Milliseconds between looks for a leader that is away. */
const retryPauseMs = 50;

export interface LaneSenderOptions {
  lanes(): Iterable<Lane>;
  connection: ProducerConnection;
  logger: Logger;
  timeoutMs: number;
}

export class LaneSender {
  readonly #busyLeaders = new Set<number>();
  #isScheduled = false;
  #isFindingLeaders = false;

  constructor(private readonly options: LaneSenderOptions) {}

  /** Sends after this turn of the event loop, so that all that arrived in it goes together. */
  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendAll();
    });
  }

  /** Whether an abandoned batch was written is unknown: its producer id goes with it. */
  dropAbandoned(lane: Lane): void {
    if (!lane.isAbandoned()) return;
    lane.giveUp(new EventLogUnavailable('given up'));
    this.options.connection.renew('a write was given up');
  }

  #sendAll(): void {
    const current = this.options.connection.current();
    const ready = [...this.options.lanes()].filter((lane) => lane.isReady());
    if (!current || ready.length === 0) return;
    const { connection, identity } = current;
    for (const [leader, group] of groupsOf(connection, ready)) {
      if (leader === undefined) void this.#findLeaders(connection, group);
      else if (!this.#busyLeaders.has(leader)) void this.#send(connection, leader, group, identity);
    }
  }

  async #findLeaders(from: KafkaConnection, group: readonly Lane[]): Promise<void> {
    if (this.#isFindingLeaders) return;
    this.#isFindingLeaders = true;
    const { timeoutMs, logger, connection } = this.options;
    try {
      await within(from.open(group.map(({ topic }) => topic)), timeoutMs, noMetadata);
      if (group.some((lane) => leaderOrNone(from, lane) === undefined)) {
        await pause(retryPauseMs);
        await this.#refresh(from);
      }
    } catch (error) {
      logger.debug({ err: error }, 'leaders are not known');
      connection.renew('leaders are not known', from);
    }
    this.#isFindingLeaders = false;
    this.schedule();
  }

  /** Sends the lanes' batches to their leader. One request is of one producer id: lanes of another id wait their turn. */
  async #send(
    from: KafkaConnection,
    leader: number,
    group: readonly Lane[],
    current: ProducerIdentity,
  ): Promise<void> {
    const identity = group[0]?.identityOr(current) ?? current;
    const lanes = group.filter((lane) => lane.identityOr(current) === identity);
    this.#busyLeaders.add(leader);
    const batches = lanes.map((lane) => lane.takeOff(current));
    const { timeoutMs } = this.options;
    try {
      const offsets = await within(
        from.broker(leader).then((broker) => produce(broker, identity, batches, timeoutMs)),
        timeoutMs,
        () => protocolError('REQUEST_TIMED_OUT', 'the broker did not acknowledge in time'),
      );
      lanes.forEach((lane, at) => lane.land(offsets[at] ?? -1n));
    } catch (error) {
      await this.#fail(from, lanes, error);
    } finally {
      this.#busyLeaders.delete(leader);
      this.schedule();
    }
  }

  async #fail(from: KafkaConnection, lanes: readonly Lane[], error: unknown): Promise<void> {
    const { logger, connection } = this.options;
    if (mayAppendAgain(error)) {
      logger.debug({ err: error }, 'records are sent again');
      await pause(retryPauseMs);
      await this.#refresh(from);
      for (const lane of lanes) {
        lane.turnBack();
        this.dropAbandoned(lane);
      }
      return;
    }
    logger.error({ err: error }, 'records could not be written');
    for (const lane of lanes) lane.giveUp(new EventLogUnavailable('the brokers refused the records', error));
    connection.renew('records could not be written');
  }

  async #refresh(from: KafkaConnection): Promise<void> {
    const { timeoutMs, logger } = this.options;
    await within(from.refresh(), timeoutMs, noMetadata).catch((error: unknown) => {
      logger.debug({ err: error }, 'leaders are not known');
    });
  }
}

function noMetadata(): Error {
  return new Error('no metadata in time');
}

/** The lanes by the leader of their partition; all together, without one, where the connection does not know a topic. */
function groupsOf(connection: KafkaConnection, lanes: Lane[]): Map<number | undefined, Lane[]> {
  try {
    return byLeader(connection, lanes);
  } catch {
    return new Map([[undefined, lanes]]);
  }
}

function leaderOrNone(connection: KafkaConnection, { topic, partition }: Lane): number | undefined {
  try {
    return connection.leaderId(topic, partition);
  } catch {
    return undefined;
  }
}
