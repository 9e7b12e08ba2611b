// Membership in a consumer group, which assigns partition numbers to this process. kafkajs' consumer joins and sends
// heartbeats; it fetches nothing, because all its partitions are paused. Fencing, not the group, ensures that only one
// process writes to a partition.
import type { TopicName } from '@lead-scoring/contracts';
import type { Consumer, ConsumerCrashEvent, ConsumerGroupJoinEvent, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { createAssigner } from './assigner.js';
import { asError, EventLogUnavailable } from '../errors.js';
import { internals, type EventLog } from '../event-log.js';
import { memberClientId, removeDeadMembers } from './dead-members.js';
import { createKafka, createKafkaConnection, type ClusterConfig } from './kafka-connection.js';
import { isSilence } from './kafka-errors.js';
import type { Touch } from '../liveness.js';
import { createMembershipLease } from '../session-lease.js';
import { pause, within } from '../timing.js';

export interface Membership<Topic extends string = TopicName> {
  /**
   * Resolves once the group has confirmed this member after `since` (milliseconds since 1970): a member that was away
   * must not fence the current owner before it knows that the partition is still assigned to it.
   * @param touch called while waiting, whenever the group answers or a broker refuses the connection
   */
  confirmedSince(since: number, signal: AbortSignal, touch: Touch): Promise<void>;
  joined(): boolean;
  /** `MembershipLease.until`: until then the group assigns this member's partitions to no other member. */
  leasedUntil(since: number): number;
  /** Commits positions as group offsets. Those of the log are for lag monitors: nothing reads them to continue from there. */
  commitOffsets(positions: readonly InputOffset<Topic>[]): Promise<void>;
  stop(): Promise<void>;
}

export interface InputOffset<Topic extends string = TopicName> {
  topic: Topic;
  partition: number;
  offset: bigint;
}

/** The cluster and the topics that a group reads, which all have the same number of partitions. */
export interface GroupCluster<Topic extends string> {
  config: ClusterConfig;
  logger: Logger;
  partitions: number;
  /** The topic as named on the wire. */
  wire(topic: Topic): string;
}

export interface MembershipOptions<Topic extends string = TopicName> {
  groupId: string;
  topics: readonly Topic[];
  /** Called with all partition numbers of this process after each assignment. */
  onAssigned(partitions: number[]): void;
  onFatal(error: Error): void;
}

/**
 * The group removes a killed member after this time; at once a member that leaves, and one whose service is started again on the same
 * machine.
 */
const sessionTimeoutMs = 10_000;
const heartbeatIntervalMs = 1_000;
/** Milliseconds that a stop waits for leaving the group. */
const leaveTimeoutMs = 3_000;
/** Milliseconds that joining waits for the removal of members of dead processes, which the session timeout removes otherwise. */
const removalTimeoutMs = 3_000;
/** Margin before the end of the group session: covers the delivery of a write and the drift of clocks. */
const leaseMarginMs = 2_000;
/** The requests that extend the group session, counted from the moment of sending. */
const heartbeats = new Set(['Heartbeat', 'SyncGroup']);

/** Joins a group of the log. Resolves before the first assignment: `joined` returns true after it. */
export function joinGroup(log: EventLog, options: MembershipOptions): Promise<Membership> {
  const { logger, wire } = log[internals];
  return joinGroupOf({ config: log.config, logger, partitions: log.config.partitions, wire }, options);
}

/** The same for a group of any cluster. */
export async function joinGroupOf<Topic extends string>(
  cluster: GroupCluster<Topic>,
  options: MembershipOptions<Topic>,
): Promise<Membership<Topic>> {
  const member = new GroupMember(cluster, options);
  await member.join();
  return member;
}

class GroupMember<Topic extends string> implements Membership<Topic> {
  readonly #topics: readonly string[];
  readonly #kafka: Kafka;
  readonly #consumer: Consumer;
  readonly #lease = createMembershipLease(sessionTimeoutMs - leaseMarginMs);
  #owned: number[] = [];
  #isMember = false;
  #isStopped = false;
  /** The time at which the last heartbeat request was sent. */
  #sentAt = 0;
  /** The time at which the last answered heartbeat request was sent. */
  #confirmedAt = 0;
  /** The time of the last answer of the group or the last refused connection. */
  #answeredAt = 0;
  readonly #waiters = new Set<() => void>();

  constructor(
    private readonly cluster: GroupCluster<Topic>,
    private readonly options: MembershipOptions<Topic>,
  ) {
    this.#topics = options.topics.map((topic) => cluster.wire(topic));
    const { config, logger } = cluster;
    this.#kafka = createKafka({ ...config, clientId: memberClientId(config.clientId) }, logger);
    this.#consumer = this.#kafka.consumer({
      groupId: options.groupId,
      partitionAssigners: [createAssigner(cluster.partitions, () => this.#owned)],
      allowAutoTopicCreation: false,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: 15_000,
      heartbeatInterval: heartbeatIntervalMs,
      maxWaitTimeInMs: 250,
      retry: {
        initialRetryTime: 100,
        maxRetryTime: 2_000,
        retries: 5,
        // Without this, a consumer that is stopped while it joins would join again afterwards.
        restartOnFailure: () => Promise.resolve(!this.#isStopped),
      },
    });
    this.#listen();
  }

  async join(): Promise<void> {
    try {
      await this.#consumer.connect();
      await this.#removeDeadMembers();
      await this.#consumer.subscribe({ topics: [...this.#topics], fromBeginning: true });
    } catch (error) {
      throw new EventLogUnavailable(`group ${this.options.groupId} cannot be joined`, error);
    }
    // `run` resolves only after the first join, which is not awaited: `joined` reports it.
    this.#consumer
      .run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: () => Promise.resolve() })
      .catch((error: unknown) => {
        this.options.onFatal(asError(error));
      });
  }

  async #removeDeadMembers(): Promise<void> {
    const { config, logger } = this.cluster;
    const { groupId } = this.options;
    const connection = createKafkaConnection(this.#kafka);
    const remove = async () => {
      await connection.open(this.#topics);
      return removeDeadMembers(connection, { groupId, clientId: config.clientId });
    };
    try {
      const removed = await within(
        remove(),
        removalTimeoutMs,
        () => new Error(`took longer than ${removalTimeoutMs} ms`),
      );
      if (removed.length > 0)
        logger.info(
          { group: groupId, members: removed },
          'members of dead processes were removed from the group',
        );
    } catch (error) {
      logger.debug(
        { err: error, group: groupId },
        'the group was not searched for members of dead processes',
      );
    } finally {
      connection.close();
    }
  }

  joined(): boolean {
    return this.#isMember;
  }

  leasedUntil(since: number): number {
    return this.#lease.until(since);
  }

  async commitOffsets(positions: readonly InputOffset<Topic>[]): Promise<void> {
    await this.#consumer.commitOffsets(
      positions.map(({ topic, partition, offset }) => ({
        topic: this.cluster.wire(topic),
        partition,
        offset: String(offset),
      })),
    );
  }

  async confirmedSince(since: number, signal: AbortSignal, touch: Touch): Promise<void> {
    for (let answered = this.#answeredAt; this.#confirmedAt < since && !signal.aborted;) {
      if (this.#answeredAt > answered) touch();
      answered = this.#answeredAt;
      await Promise.race([new Promise<void>((resolve) => this.#waiters.add(resolve)), pause(1_000, signal)]);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const left = within(
      this.#consumer.disconnect(),
      leaveTimeoutMs,
      () => new Error(`leaving the group took longer than ${leaveTimeoutMs} ms`),
    );
    await left.catch((error: unknown) => {
      this.cluster.logger.warn(
        { err: error },
        'the group was not left in order; it removes the member after the session timeout',
      );
    });
  }

  #listen(): void {
    this.#consumer.on('consumer.network.request', ({ payload }) => {
      if (heartbeats.has(payload.apiName)) this.#sentAt = payload.sentAt;
    });
    this.#consumer.on('consumer.heartbeat', () => this.#confirmed());
    this.#consumer.on('consumer.group_join', ({ payload }) => this.#assigned(payload));
    this.#consumer.on('consumer.crash', ({ payload }) => this.#crashed(payload));
  }

  // A process that is suspended before it reads an answer finds the answer when it resumes, so the time of the request
  // counts.
  #confirmed(): void {
    this.#answeredAt = Date.now();
    this.#confirmedAt = this.#sentAt;
    this.#lease.confirmed(performance.now() - Math.max(0, this.#answeredAt - this.#sentAt));
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }

  #assigned({ memberAssignment }: ConsumerGroupJoinEvent['payload']): void {
    this.#consumer.pause(this.#topics.map((topic) => ({ topic })));
    const [assigned = []] = Object.values(memberAssignment);
    this.#owned = [...assigned].sort((a, b) => a - b);
    this.#isMember = true;
    this.#confirmed();
    if (!this.#isStopped) this.options.onAssigned(this.#owned);
  }

  #crashed({ error, restart }: ConsumerCrashEvent['payload']): void {
    const wasMember = this.#isMember;
    this.#isMember = false;
    if (!isSilence(error)) this.#answeredAt = Date.now();
    if (this.#isStopped) return;
    if (restart) {
      // One warning for each absence, not for every attempt.
      const level = wasMember ? 'warn' : 'debug';
      this.cluster.logger[level]({ err: error }, 'the consumer group cannot be reached; joining again');
      return;
    }
    const { groupId } = this.options;
    this.options.onFatal(
      new Error(`the consumer of group ${groupId} has crashed: ${error.message}`, { cause: error }),
    );
  }
}
