// Tells the group where a projector's partitions are, so that operators see its lag where they see that of processors.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { PartitionGroup } from './partition-group.js';
import type { Session } from './session.js';

/** Milliseconds between two notes. */
const noteEveryMs = 500;

/**
 * A note on a partition always covers all its topics: an operator who sees that a rebuild's command is obeyed also sees where
 * the folding begins anew.
 */
export class PositionNotes {
  readonly #latest = new Map<number, ReadonlyMap<TopicName, bigint>>();
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly group: PartitionGroup<Session>,
    private readonly logger: Logger,
  ) {
    this.#timer = setInterval(() => this.#write(), noteEveryMs);
    this.#timer.unref();
  }

  note(partition: number, positions: ReadonlyMap<TopicName, bigint>): void {
    this.#latest.set(partition, new Map(positions));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#write();
    await this.#writing;
  }

  #write(): void {
    const noted = [...this.#latest].filter(([partition]) => this.group.isAssigned(partition));
    this.#latest.clear();
    if (noted.length === 0) return;
    const positions = noted.flatMap(([partition, topics]) =>
      [...topics].map(([topic, offset]) => ({ topic, partition, offset })),
    );
    this.#writing = this.#writing
      .then(() => this.group.membership.note(positions))
      .catch((error: unknown) => {
        this.logger.debug({ err: error }, 'the positions could not be noted; they are noted again');
        for (const [partition, topics] of noted)
          if (!this.#latest.has(partition)) this.#latest.set(partition, topics);
      });
  }
}
