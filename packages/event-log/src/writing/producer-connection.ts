// A writer's connection to the brokers, with the producer id that its records are written with.
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
  /** The topics that are written to, as named on the wire. */
  topics(): readonly string[];
  /** Called once there is a connection with a producer id. */
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
   * Connects anew, with a new producer id: the sequence numbers of the old one are unusable once a batch is given up whose
   * outcome is unknown. @param broken the connection that is to be replaced; does nothing where it is replaced already
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
        const late = () => new EventLogUnavailable('no producer id came in time');
        this.#identity = await within(this.#newIdentity(), timeoutMs, late);
      } catch (error) {
        logger.warn({ err: error, reason }, 'the record writer has no connection to the log; trying again');
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
