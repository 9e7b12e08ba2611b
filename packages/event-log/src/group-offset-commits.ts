// Commits the positions of a projector's partitions as group offsets, so that lag monitors see projectors as well as
// processors.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { PartitionGroup } from './partition-group.js';
import type { Session } from './session.js';

/** Milliseconds between two commits. */
const commitEveryMs = 500;

/** A commit covers all topics of a partition. */
export class GroupOffsetCommits {
  readonly #latest = new Map<number, ReadonlyMap<TopicName, bigint>>();
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly group: PartitionGroup<Session>,
    private readonly logger: Logger,
  ) {
    this.#timer = setInterval(() => this.#write(), commitEveryMs);
    this.#timer.unref();
  }

  update(partition: number, positions: ReadonlyMap<TopicName, bigint>): void {
    this.#latest.set(partition, new Map(positions));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#write();
    await this.#writing;
  }

  #write(): void {
    const pending = [...this.#latest].filter(([partition]) => this.group.isAssigned(partition));
    this.#latest.clear();
    if (pending.length === 0) return;
    const positions = pending.flatMap(([partition, topics]) =>
      [...topics].map(([topic, offset]) => ({ topic, partition, offset })),
    );
    this.#writing = this.#writing
      .then(() => this.group.membership.commitOffsets(positions))
      .catch((error: unknown) => {
        this.logger.debug({ err: error }, 'the group offsets could not be committed; trying again');
        for (const [partition, topics] of pending)
          if (!this.#latest.has(partition)) this.#latest.set(partition, topics);
      });
  }
}
