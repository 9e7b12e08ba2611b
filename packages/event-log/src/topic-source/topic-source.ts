// Reads a topic that is not of this system, on any cluster, at least once: the processes of a consumer group share its partitions, and
// an offset is committed once everything before it is taken. A record may be taken again after a crash or a rebalance; who takes records
// tells repeats by partition, offset and timestamp.
import type { Logger } from 'pino';
import type { Component } from '../component.js';
import { asError, isRetriable, PositionBeyondEnd } from '../errors.js';
import { createKafka, createKafkaConnection, type KafkaConnection } from '../kafka/kafka-connection.js';
import { joinGroupOf, type Membership } from '../kafka/membership.js';
import { PartitionFeed, type BufferedRecords } from '../kafka/partition-feed.js';
import type { RawRecord } from '../kafka/record-batch.js';
import { pause } from '../timing.js';
import { CommittedOffsets } from './committed-offsets.js';
import { sourceUnavailable, type TopicSourceConfig } from './source-config.js';
import type { SourceMetrics } from './source-metrics.js';

/** A record of a source topic, as its producer wrote it. */
export type SourceRecord = RawRecord;

/** Records of one partition, in order. */
export interface SourceBatch {
  partition: number;
  records: readonly SourceRecord[];
}

export interface TopicSourceStatus {
  ready(): boolean;
  partitions(): { partition: number; halted?: string }[];
}

export interface TopicSourceOptions {
  logger: Logger;
  metrics: SourceMetrics;
  /**
   * Takes the records that have come since the last call, of several partitions; resolves once nothing of them can be lost. Called again
   * with the same records after an error. The signal is aborted when the source stops.
   */
  take(batches: readonly SourceBatch[], signal: AbortSignal): Promise<void>;
  /** Maximum bytes of a partition in one call of `take`. */
  maxBytesPerPartition: number;
  onFatal(error: Error): void;
}

/** The owner of a partition's position: an assignment of the group, until it takes the partition away. */
interface Assignment {
  readonly ending: AbortController;
  /** The next offset to be taken; undefined until the source has found where it begins. */
  position: bigint | undefined;
  halted: string | undefined;
}

/** Milliseconds between two looks at the number of partitions. */
const countEveryMs = 30_000;
/** Milliseconds after which a partition that could not be read is tried again. */
const reopenAfterMs = 5_000;
const longestPauseMs = 5_000;
/** Calls of `take` in a row that fail with an error that is not retriable, until the process is to end. */
const failuresUntilFatal = 10;

export function createTopicSource(
  config: TopicSourceConfig,
  options: TopicSourceOptions,
): Component<TopicSourceStatus> & { waitsForServer: true } {
  return {
    name: `topic source ${config.topic}`,
    waitsForServer: true,
    start: async () => {
      const source = new TopicSource(config, options);
      await source.start();
      return {
        value: { ready: () => source.ready(), partitions: () => source.partitions() },
        stop: () => source.stop(),
      };
    },
  };
}

class TopicSource {
  readonly #connection: KafkaConnection;
  readonly #feed: PartitionFeed;
  readonly #offsets: CommittedOffsets;
  readonly #stopping = new AbortController();
  #assignments: ReadonlyMap<number, Assignment> = new Map();
  #membership: Membership<string> | undefined;
  #partitionCount = 0;
  #arrival = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly config: TopicSourceConfig,
    private readonly options: TopicSourceOptions,
  ) {
    const { logger } = options;
    this.#connection = createKafkaConnection(createKafka(config, logger));
    this.#offsets = new CommittedOffsets(this.#connection, config);
    this.#feed = new PartitionFeed(this.#connection, {
      maxBytesPerSource: options.maxBytesPerPartition,
      onArrival: () => {
        this.#arrival.abort();
      },
      onAnswer: () => undefined,
      onFailure: (partition, error) => {
        this.#halt(partition, error);
      },
      onOffsetLost: ({ partition }, wanted, earliest) => {
        options.metrics.lost(Number(earliest - wanted));
        logger.error({ partition, wanted, earliest }, 'the source has deleted records before they were read');
      },
    });
  }

  /** @throws EventLogUnavailable when the topic cannot be read */
  async start(): Promise<void> {
    const { config } = this;
    try {
      await this.#connection.open([config.topic]);
      this.#partitionCount = this.#connection.partitionCount(config.topic);
      await this.#join();
    } catch (error) {
      await this.stop();
      throw sourceUnavailable(`the topic ${config.topic} cannot be read`, error, config);
    }
    this.#running = Promise.all([this.#takeAll(), this.#watchPartitionCount()]).catch((error: unknown) => {
      this.options.onFatal(asError(error));
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#arrival.abort();
    await this.#running;
    await this.#commit();
    await this.#membership?.stop();
    this.#assign([]);
    this.#feed.close();
  }

  ready(): boolean {
    const all = [...this.#assignments.values()];
    return (
      this.#membership?.joined() === true &&
      all.every(({ position, halted }) => position !== undefined && halted === undefined)
    );
  }

  partitions(): { partition: number; halted?: string }[] {
    return [...this.#assignments].map(([partition, { halted }]) => ({
      partition,
      ...(halted !== undefined && { halted }),
    }));
  }

  async #join(): Promise<void> {
    const { topic, groupId } = this.config;
    const { logger } = this.options;
    this.#membership = await joinGroupOf(
      { config: this.config, logger, partitions: this.#partitionCount, wire: (name: string) => name },
      {
        groupId,
        topics: [topic],
        onAssigned: (partitions) => {
          this.#assign(partitions);
        },
        onFatal: (error) => {
          this.options.onFatal(error);
        },
      },
    );
  }

  #assign(partitions: readonly number[]): void {
    const before = this.#assignments;
    const assigned = partitions.map((partition): [number, Assignment] => [
      partition,
      before.get(partition) ?? { ending: new AbortController(), position: undefined, halted: undefined },
    ]);
    this.#assignments = new Map(assigned);
    for (const [partition, { ending }] of before)
      if (!this.#assignments.has(partition)) {
        ending.abort();
        this.#feed.remove(partition);
        this.options.metrics.release(partition);
      }
    for (const [partition, assignment] of assigned)
      if (before.get(partition) !== assignment) void this.#begin(partition, assignment);
  }

  /** Finds where to read a partition, and reads it; tried until it succeeds or the partition is taken away. */
  async #begin(partition: number, assignment: Assignment): Promise<void> {
    const { signal } = assignment.ending;
    while (!signal.aborted && !this.#stopping.signal.aborted) {
      try {
        const offset = await this.#offsets.startOf(partition);
        // The partition may have been taken away meanwhile.
        if (this.#assignments.get(partition) !== assignment) return;
        assignment.position = offset;
        this.#feed.add([{ topic: this.config.topic, partition, offset }]);
        return;
      } catch (error) {
        const failure = sourceUnavailable('the committed offset cannot be read', error, this.config);
        this.options.logger.warn({ err: failure, partition }, 'the source cannot be read; trying again');
        await pause(1_000, signal);
      }
    }
  }

  /** A partition that cannot be read: the others go on, and it is tried again from its committed offset. */
  #halt(partition: number, error: unknown): void {
    const assignment = this.#assignments.get(partition);
    if (!assignment) return;
    const { topic, groupId } = this.config;
    assignment.halted =
      error instanceof PositionBeyondEnd
        ? `${topic} ${partition} ends at ${error.place.end}, before the committed offset ${error.place.position}: it was truncated or made anew. Stop ` +
          `the processes of the source, set the offsets of the group ${groupId} to where to read on, and start them`
        : sourceUnavailable(`${topic} ${partition} cannot be read`, error, this.config).message;
    this.options.logger.error({ err: error, partition }, assignment.halted);
    void this.#reopen(partition, assignment);
  }

  async #reopen(partition: number, assignment: Assignment): Promise<void> {
    const { signal } = assignment.ending;
    await pause(reopenAfterMs, signal);
    if (signal.aborted) return;
    await this.#commit();
    assignment.halted = undefined;
    await this.#begin(partition, assignment);
  }

  async #takeAll(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const arrived = this.#feed.buffered();
      if (arrived.length === 0) {
        if (this.#arrival.signal.aborted) this.#arrival = new AbortController();
        await pause(this.#offsets.commitEveryMs, this.#arrival.signal);
      } else {
        this.#arrival = new AbortController();
        for (const one of arrived) this.#feed.take(one);
        await this.#takeRound(arrived);
      }
      if (this.#offsets.isCommitDue()) await this.#commit();
    }
  }

  async #takeRound(arrived: readonly BufferedRecords[]): Promise<void> {
    const owned = arrived.flatMap((one) => {
      const assignment = this.#assignments.get(one.partition);
      return assignment ? [{ ...one, assignment }] : [];
    });
    const isOwned = ({ assignment }: (typeof owned)[number]) => !assignment.ending.signal.aborted;
    const { signal } = this.#stopping;
    for (let failures = 0; ;) {
      const round = owned.filter(isOwned);
      try {
        if (round.some(({ records }) => records.length > 0)) await this.options.take(round, signal);
        for (const one of round) this.#taken(one, one.assignment);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!isRetriable(error)) failures += 1;
        if (failures >= failuresUntilFatal) throw error;
        this.options.logger.warn({ err: error }, 'records of the source could not be taken; trying again');
        await pause(isRetriable(error) ? 1_000 : Math.min(100 * 2 ** failures, longestPauseMs), signal);
      }
    }
  }

  #taken({ partition, nextOffset, stableEnd }: BufferedRecords, assignment: Assignment): void {
    assignment.position = nextOffset;
    this.options.metrics.lag(partition, Number(stableEnd > nextOffset ? stableEnd - nextOffset : 0n));
  }

  /** Commits what is taken. A failure is made good by the next commit, or the records are taken again. */
  async #commit(): Promise<void> {
    const positions = [...this.#assignments].flatMap(([partition, { position }]) =>
      position === undefined ? [] : [{ topic: this.config.topic, partition, offset: position }],
    );
    if (!this.#membership) return;
    try {
      await this.#offsets.commit(this.#membership, positions);
    } catch (error) {
      this.options.logger.debug({ err: error }, 'offsets of the source could not be committed');
    }
  }

  /**
   * A topic may get more partitions, of which the group's assignment knows nothing.
   * @throws Error then: the process ends, and reads them all when its supervisor has started it again
   */
  async #watchPartitionCount(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      await pause(countEveryMs, signal);
      if (signal.aborted) return;
      await this.#connection.refresh().catch((error: unknown) => {
        this.options.logger.debug({ err: error }, 'the partitions of the source cannot be counted');
      });
      const count = this.#connection.partitionCount(this.config.topic);
      if (count > this.#partitionCount)
        throw new Error(
          `${this.config.topic} has ${count} partitions now, and had ${this.#partitionCount}: this process ends to read all of them after its restart`,
        );
    }
  }
}
