// Bounds how far this process writes ahead of a reader of the log, so that a backlog that is read from elsewhere does not delay for long
// what others write.
import type { TopicName } from '@lead-scoring/contracts';
import type { Admin } from 'kafkajs';
import type { Logger } from 'pino';
import type { Component } from '../component.js';
import { internals, type EventLog } from '../event-log.js';
import { unavailable } from '../kafka/access-errors.js';
import { pause } from '../timing.js';
import type { RecordPosition } from '../writing/pending-write.js';
import { UnreadRecords } from './unread-records.js';

export interface WriteAhead {
  /** Notes a written record, and how many events it holds. */
  wrote(position: RecordPosition, events: number): void;
  /** Resolves when fewer events than the maximum are unread, or the signal is aborted. */
  untilRoom(signal: AbortSignal): Promise<void>;
}

export interface WriteAheadOptions {
  /** The consumer group, without its namespace, that reads the topic. */
  reader: string;
  topic: TopicName;
  /** Maximum number of events that are written and not read yet. */
  maximum: number;
  logger: Logger;
}

const lookEveryMs = 250;
const retryMs = 2_000;

export function createWriteAhead(log: EventLog, options: WriteAheadOptions): Component<WriteAhead> {
  return {
    name: 'write-ahead limit',
    start: () => {
      const ahead = new ReaderLimit(log, options);
      return Promise.resolve({ value: ahead, stop: () => ahead.stop() });
    },
  };
}

class ReaderLimit implements WriteAhead {
  readonly #unread = new UnreadRecords();
  #admin: Promise<Admin> | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly options: WriteAheadOptions,
  ) {}

  wrote({ partition, offset }: RecordPosition, events: number): void {
    this.#unread.add(partition, offset, events);
  }

  async untilRoom(signal: AbortSignal): Promise<void> {
    while (this.#unread.events >= this.options.maximum && !signal.aborted) {
      try {
        await this.#look();
        if (this.#unread.events >= this.options.maximum) await pause(lookEveryMs, signal);
      } catch (error) {
        const { reader, logger } = this.options;
        const failure = unavailable(`how far ${reader} has read is not known`, error, this.log.config);
        logger.warn({ err: failure }, 'nothing more is taken from the source until it is known');
        await this.stop();
        await pause(retryMs, signal);
      }
    }
  }

  async stop(): Promise<void> {
    const admin = this.#admin;
    this.#admin = undefined;
    await admin?.then((connected) => connected.disconnect()).catch(() => undefined);
  }

  async #look(): Promise<void> {
    const { reader, topic } = this.options;
    const { kafka, wire } = this.log[internals];
    this.#admin ??= connected(kafka.admin());
    const admin = await this.#admin;
    const [found] = await admin.fetchOffsets({
      groupId: `${this.log.config.namespace}.${reader}`,
      topics: [wire(topic)],
    });
    for (const { partition, offset } of found?.partitions ?? [])
      this.#unread.readUpTo(partition, BigInt(offset));
  }
}

async function connected(admin: Admin): Promise<Admin> {
  await admin.connect();
  return admin;
}
