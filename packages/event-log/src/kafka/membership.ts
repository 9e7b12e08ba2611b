// Membership in a consumer group: which partition numbers this process is to work on. kafkajs' consumer joins and sends
// heartbeats; it fetches nothing, because every partition of it is paused. Who works on a partition is decided here, but
// that only one does is ensured by fencing, not by the group.
import type { Consumer, ConsumerCrashEvent, ConsumerGroupJoinEvent } from 'kafkajs';
import type { TopicName } from '@lead-scoring/contracts';
import { createAssigner } from './assigner.js';
import { asError, EventLogUnavailable } from '../errors.js';
import { internals, type EventLog } from '../event-log.js';
import { isSilence } from './kafka-errors.js';
import type { Touch } from '../liveness.js';
import { createHold } from '../session-lease.js';
import { pause, within } from '../timing.js';

export interface Membership {
  /**
   * Resolves once the group has confirmed this member after `since` (milliseconds since 1970): whoever has been away
   * must not take a partition back by fencing before it knows that the partition is still its own.
   * @param touch called while waiting, whenever the group, or a broker that is away, says anything
   */
  confirmedSince(since: number, signal: AbortSignal, touch: Touch): Promise<void>;
  joined(): boolean;
  /** `Hold.until`: meanwhile the group gives this member's partitions to nobody else. */
  heldUntil(since: number): number;
  /** Writes down in the group where this member is, for operators: nothing is read on from there. */
  note(positions: readonly NotedPosition[]): Promise<void>;
  stop(): Promise<void>;
}

export interface NotedPosition {
  topic: TopicName;
  partition: number;
  offset: bigint;
}

export interface MembershipOptions {
  groupId: string;
  topics: readonly TopicName[];
  /** Called with all partition numbers of this process, whenever they are shared out anew. */
  onAssigned(partitions: number[]): void;
  onFatal(error: Error): void;
}

/** A member that is killed is missed after this time; one that leaves, at once. */
const sessionTimeoutMs = 10_000;
const heartbeatIntervalMs = 1_000;
/** Milliseconds for which a stop waits until the group is left. */
const leaveTimeoutMs = 3_000;
/** What is written so long before the session's end has arrived by then, and clocks run apart by less. */
const leaseMarginMs = 2_000;
/** By these the group hears of a member: from the moment of sending on it waits for the session's length. */
const heartbeats = new Set(['Heartbeat', 'SyncGroup']);

/** Joins a group. Resolves before the first assignment: `joined` tells when the group has answered. */
export async function joinGroup(log: EventLog, options: MembershipOptions): Promise<Membership> {
  const member = new GroupMember(log, options);
  await member.join();
  return member;
}

class GroupMember implements Membership {
  readonly #log: EventLog[typeof internals];
  readonly #topics: readonly string[];
  readonly #consumer: Consumer;
  readonly #hold = createHold(sessionTimeoutMs - leaseMarginMs);
  #owned: number[] = [];
  #isMember = false;
  #isStopped = false;
  /** When the last request was sent by which the group hears of this member. */
  #sentAt = 0;
  /** When the last of those requests was sent that the group has answered. */
  #confirmedAt = 0;
  /** When the group, or a broker that is away, said anything last. */
  #heardAt = 0;
  readonly #waiting = new Set<() => void>();

  constructor(
    log: EventLog,
    private readonly options: MembershipOptions,
  ) {
    this.#log = log[internals];
    this.#topics = options.topics.map((topic) => this.#log.wire(topic));
    this.#consumer = this.#log.kafka.consumer({
      groupId: options.groupId,
      partitionAssigners: [createAssigner(log.config.partitions, () => this.#owned)],
      allowAutoTopicCreation: false,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: 15_000,
      heartbeatInterval: heartbeatIntervalMs,
      maxWaitTimeInMs: 250,
      retry: {
        initialRetryTime: 100,
        maxRetryTime: 2_000,
        retries: 5,
        // A consumer that is stopped while it joins would otherwise join again afterwards.
        restartOnFailure: () => Promise.resolve(!this.#isStopped),
      },
    });
    this.#listen();
  }

  async join(): Promise<void> {
    try {
      await this.#consumer.connect();
      await this.#consumer.subscribe({ topics: [...this.#topics], fromBeginning: true });
    } catch (error) {
      throw new EventLogUnavailable(`group ${this.options.groupId} cannot be joined`, error);
    }
    // `run` resolves only after the first join, which is not waited for: readiness tells.
    this.#consumer
      .run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: () => Promise.resolve() })
      .catch((error: unknown) => {
        this.options.onFatal(asError(error));
      });
  }

  joined(): boolean {
    return this.#isMember;
  }

  heldUntil(since: number): number {
    return this.#hold.until(since);
  }

  async note(positions: readonly NotedPosition[]): Promise<void> {
    await this.#consumer.commitOffsets(
      positions.map(({ topic, partition, offset }) => ({
        topic: this.#log.wire(topic),
        partition,
        offset: String(offset),
      })),
    );
  }

  async confirmedSince(since: number, signal: AbortSignal, touch: Touch): Promise<void> {
    for (let heard = this.#heardAt; this.#confirmedAt < since && !signal.aborted;) {
      if (this.#heardAt > heard) touch();
      heard = this.#heardAt;
      await Promise.race([new Promise<void>((resolve) => this.#waiting.add(resolve)), pause(1_000, signal)]);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const left = within(
      this.#consumer.disconnect(),
      leaveTimeoutMs,
      () => new Error('leaving the group takes too long'),
    );
    await left.catch((error: unknown) => {
      this.#log.logger.warn({ err: error }, 'the group was not left in order; it will notice');
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

  // A process that is suspended before it reads an answer finds the answer when it goes on: the time of the request counts.
  #confirmed(): void {
    this.#heardAt = Date.now();
    this.#confirmedAt = this.#sentAt;
    this.#hold.confirmed(performance.now() - Math.max(0, this.#heardAt - this.#sentAt));
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
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
    if (!isSilence(error)) this.#heardAt = Date.now();
    if (this.#isStopped) return;
    if (restart) {
      // One warning for each absence, not for every try.
      const level = wasMember ? 'warn' : 'debug';
      this.#log.logger[level]({ err: error }, 'the consumer group cannot be reached; joining again');
      return;
    }
    const { groupId } = this.options;
    this.options.onFatal(
      new Error(`the member of group ${groupId} has died: ${error.message}`, { cause: error }),
    );
  }
}
