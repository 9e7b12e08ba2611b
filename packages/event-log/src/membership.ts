// Membership in a consumer group: which partition numbers this process is to work on. kafkajs' consumer joins and sends
// heartbeats; it fetches nothing, because every partition of it is paused. Who works on a partition is decided here, but
// that only one does is ensured by fencing, not by the group.
import type { Consumer } from 'kafkajs';
import type { TopicName } from '@lead-scoring/contracts';
import { createAssigner } from './assigner.js';
import { asError, EventLogUnavailable } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { isSilence } from './kafka-connection.js';
import type { Touch } from './liveness.js';
import { pause, within } from './timing.js';

export interface Membership {
  /**
   * Resolves once the group has confirmed this member after `since` (milliseconds since 1970): whoever has been away
   * must not take a partition back by fencing before it knows that the partition is still its own.
   * @param touch called while waiting, whenever the group, or a broker that is away, says anything
   */
  confirmedSince(since: number, signal: AbortSignal, touch: Touch): Promise<void>;
  joined(): boolean;
  /** Monotonic milliseconds until which the group counts this member in, and so gives its partitions to nobody else. */
  heldUntil(): number;
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
/** What is written so long before the session's end has arrived by then, and clocks run apart by less. */
const leaseMarginMs = 2_000;
/** By these the group hears of a member: from the moment of sending on it waits for the session's length. */
const heartbeats = new Set(['Heartbeat', 'SyncGroup']);

export async function joinGroup(log: EventLog, options: MembershipOptions): Promise<Membership> {
  const { kafka, logger, wire } = log[internals];
  const topics = options.topics.map(wire);
  let owned: number[] = [];
  /** When the last heartbeat was sent that the group has answered: in milliseconds since 1970, and monotonic. */
  let confirmedAt = 0;
  let heldSince = -Infinity;
  let sentAt = 0;
  let member = false;
  let stopped = false;
  /** When the group, or a broker that is away, said anything last. */
  let heardAt = 0;
  const waiting = new Set<() => void>();

  const consumer: Consumer = kafka.consumer({
    groupId: options.groupId,
    partitionAssigners: [createAssigner(log.config.partitions, () => owned)],
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
      restartOnFailure: () => Promise.resolve(!stopped),
    },
  });

  // A process that is stopped before an answer is read finds it when it goes on: what counts is when it was asked.
  function confirmed(): void {
    heardAt = Date.now();
    confirmedAt = sentAt;
    heldSince = performance.now() - Math.max(0, heardAt - sentAt);
    for (const wake of waiting) wake();
    waiting.clear();
  }

  consumer.on('consumer.network.request', ({ payload }) => {
    if (heartbeats.has(payload.apiName)) ({ sentAt } = payload);
  });
  consumer.on('consumer.heartbeat', confirmed);
  consumer.on('consumer.group_join', ({ payload }) => {
    consumer.pause(topics.map((topic) => ({ topic })));
    const [assigned = []] = Object.values(payload.memberAssignment);
    owned = [...assigned].sort((a, b) => a - b);
    member = true;
    confirmed();
    if (!stopped) options.onAssigned(owned);
  });
  consumer.on('consumer.crash', ({ payload }) => {
    const wasMember = member;
    member = false;
    if (!isSilence(payload.error)) heardAt = Date.now();
    if (stopped) return;
    if (payload.restart) {
      // Said once for each absence, not at every try.
      const level = wasMember ? 'warn' : 'debug';
      logger[level]({ err: payload.error }, 'the consumer group cannot be reached; joining again');
    } else {
      options.onFatal(
        new Error(`the member of group ${options.groupId} has died: ${payload.error.message}`, {
          cause: payload.error,
        }),
      );
    }
  });

  try {
    await consumer.connect();
    await consumer.subscribe({ topics, fromBeginning: true });
  } catch (error) {
    throw new EventLogUnavailable(`group ${options.groupId} cannot be joined`, error);
  }
  // Resolves only after the first join, which is not waited for: readiness tells.
  consumer
    .run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: () => Promise.resolve() })
    .catch((error: unknown) => {
      options.onFatal(asError(error));
    });

  return {
    joined: () => member,
    heldUntil: () => heldSince + sessionTimeoutMs - leaseMarginMs,
    async note(positions) {
      await consumer.commitOffsets(
        positions.map(({ topic, partition, offset }) => ({
          topic: wire(topic),
          partition,
          offset: String(offset),
        })),
      );
    },
    async confirmedSince(since, signal, touch) {
      for (let heard = heardAt; confirmedAt < since && !signal.aborted;) {
        if (heardAt > heard) touch();
        heard = heardAt;
        await Promise.race([new Promise<void>((resolve) => waiting.add(resolve)), pause(1_000, signal)]);
      }
    },
    async stop() {
      stopped = true;
      await within(consumer.disconnect(), 3_000, () => new Error('leaving the group takes too long')).catch(
        (error: unknown) => {
          logger.warn({ err: error }, 'the group was not left in order; it will notice');
        },
      );
    },
  };
}
