// A writer's connection to the brokers, with the producer id of its records.
import type { Logger } from 'pino';
import { EventLogUnavailable } from '../errors.js';
import type { ProducerIdentity } from '../kafka/idempotent-appender.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { pause, within } from '../timing.js';

/** Milliseconds between two attempts to connect. */
const retryMs = 500;

export interface ProducerConnectionOptions {
  connect: () => KafkaConnection;
  logger: Logger;
  timeoutMs: number;
  /** The wire names of the topics that are written to. */
  topics(): readonly string[];
  /** Called when a connection with a producer id is ready. */
  onReady(): void;
}

export class ProducerConnection {
  #connection: KafkaConnection | undefined;
  #identity: ProducerIdentity | undefined;
  #isRenewing = false;
  #isClosed = false;

  constructor(private readonly options: ProducerConnectionOptions) {}

  /** Undefined while there is no connection with a producer id. */
  current(): { connection: KafkaConnection; identity: ProducerIdentity } | undefined {
    const connection = this.#connection;
    const identity = this.#identity;
    return connection && identity && { connection, identity };
  }

  /**
   * Connects again with a new producer id: the sequence numbers of the old id are unusable after a batch with an
   * unknown outcome was abandoned.
   * @param broken the connection to replace; nothing happens when it was replaced already
   */
  renew(reason: string, broken = this.#connection): void {
    if (broken !== this.#connection) return;
    this.#identity = undefined;
    if (!this.#isRenewing) void this.#renew(reason);
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
  }

  async #renew(reason: string): Promise<void> {
    const { logger, timeoutMs } = this.options;
    this.#isRenewing = true;
    while (!this.#isClosed && !this.#identity) {
      try {
        const late = () => new EventLogUnavailable('the brokers assigned no producer id in time');
        this.#identity = await within(this.#newIdentity(), timeoutMs, late);
      } catch (error) {
        logger.warn(
          { err: error, reason },
          'the record writer has no connection to the brokers; trying again',
        );
        await pause(retryMs);
      }
    }
    this.#isRenewing = false;
    this.options.onReady();
  }

  async #newIdentity(): Promise<ProducerIdentity> {
    const fresh = this.options.connect();
    this.#connection?.close();
    this.#connection = fresh;
    await fresh.open([...new Set(this.options.topics())]);
    const broker = await fresh.anyBroker();
    const { producerId, producerEpoch } = await broker.initProducerId({ transactionTimeout: 60_000 });
    return { producerId, producerEpoch, sequences: new Map() };
  }
}
