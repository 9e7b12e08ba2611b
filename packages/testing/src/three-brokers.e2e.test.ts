// Partition leaders move from broker to broker under load, and a broker dies. The system's client library is known to skip keyed
// records silently in this case; the system must not lose any. `npm run test:chaos` runs it at its full size.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BrokerControl } from '@lead-scoring/platform';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom, type Random } from '@lead-scoring/start/random';
import { Kafka, logLevel } from 'kafkajs';
import { isFullSize } from './full-size.js';
import {
  auditUntilRight,
  endlessTraffic,
  nothingWrong,
  traffic,
  untilVisible,
  type Ledger,
  type LedgerEvent,
  type TrafficOptions,
} from './ledger.js';
import { startOwnBrokers, startSystemOn, type OwnBrokers } from './own-servers.js';
import { upToScoring, type TestSystem } from './test-system.js';

// Another seed gives other events and another broker.
const seed = Number(process.env['SEED'] ?? 11);
/** At full size every 10 s for five minutes. */
const { moves, pauseBetweenMovesMs } = isFullSize
  ? { moves: 30, pauseBetweenMovesMs: 10_000 }
  : { moves: 3, pauseBetweenMovesMs: 0 };
/** The time that three brokers on a slow machine may take to recover. */
const backWithinMs = isFullSize ? 240_000 : 90_000;
const topicNames = ['ingest.commands', 'ingest.events', 'scoring.events'];

type Admin = ReturnType<Kafka['admin']>;

let cluster: OwnBrokers;
let system: TestSystem;
let ledger: Ledger;
let stop: () => Promise<void>;

beforeAll(async () => {
  cluster = await startOwnBrokers(3);
  ({ system, ledger, stop } = await startSystemOn(cluster, isFullSize ? {} : { instances: upToScoring }));
}, 300_000);

afterAll(() => stop(), 90_000);

describe(`three brokers, replication factor 3 (seed ${seed})`, () => {
  test(
    'partition leaders move and brokers are killed under load: no event is lost or doubled',
    async () => {
      const random = seededRandom(seed);
      const kind = {
        random,
        leads: 2_000,
        repeats: 0.02,
        batch: [50, 400],
      } satisfies Partial<TrafficOptions>;
      const load = sendingOf(
        isFullSize ? endlessTraffic(kind) : traffic({ ...kind, events: 90_000 }).values(),
        random,
      );
      const moved = await withAdmin(async (admin, topics) => {
        let count = 0;
        for (let move = 0; move < moves; move += 1) {
          const nextAt = Date.now() + pauseBetweenMovesMs;
          count += await moveLeaders(admin, topics);
          await load.untilAcknowledged(10);
          await eventually('the next move is due', () => Date.now() >= nextAt, pauseBetweenMovesMs + 1_000);
        }
        await spreadReplicas(admin, topics);
        return count;
      });
      const acknowledgedBefore = ledger.acknowledged.size;
      for (const { broker, signal } of bouncesOf(random)) {
        await broker.stop(signal);
        await load.untilAcknowledged(10);
        await broker.start();
        await load.untilAcknowledged(isFullSize ? 20 : 1);
      }
      await eventually(
        'enough is acknowledged while brokers die',
        () => ledger.acknowledged.size - acknowledgedBefore >= (isFullSize ? 100_000 : 0),
        600_000,
      );
      await load.stop();

      expect(moved).toBe(moves * topicNames.length * 6);
      expect(ledger.acknowledged.size).toBeGreaterThan(5_000);
      // Scoring may still lag behind the acknowledged events.
      await untilVisible(system, ledger, isFullSize ? 900_000 : 120_000);
      expect(await auditUntilRight(system, ledger, 120_000)).toEqual(nothingWrong);
    },
    isFullSize ? 4_200_000 : 480_000,
  );
});

/** Three senders; at full size each sends a batch of 225 events or so every 0.7 s. */
function sendingOf(
  batches: Iterator<LedgerEvent[], unknown>,
  random: Random,
): { untilAcknowledged: (more: number) => Promise<unknown>; stop: () => Promise<void> } {
  let isSending = true;
  let isOver = false;
  const sender = async () => {
    while (isSending) {
      const { done, value: batch } = batches.next();
      if (done) {
        isOver = true;
        return;
      }
      const nextAt = Date.now() + (isFullSize ? 700 : 0);
      // Some senders repeat a request until it is answered 202; the others do not, so that their events are recorded once or not at all.
      if (random.next() < 0.5) await ledger.deliver(batch, backWithinMs);
      else await ledger.post(batch);
      await delay(nextAt - Date.now());
    }
  };
  const senders = [sender(), sender(), sender()];
  return {
    untilAcknowledged: (more) => {
      const requests = ledger.positions.length + more;
      return eventually(
        `${requests} requests are acknowledged`,
        () => ledger.positions.length >= requests || isOver,
        backWithinMs,
      );
    },
    stop: async () => {
      isSending = false;
      await Promise.all(senders);
    },
  };
}

async function withAdmin<Result>(use: (admin: Admin, topics: string[]) => Promise<Result>): Promise<Result> {
  const admin = new Kafka({ brokers: system.endpoints.kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await use(
      admin,
      topicNames.map((name) => `${system.namespace}.${name}`),
    );
  } finally {
    await admin.disconnect();
  }
}

/** Moves each partition away from its leader; resolves with the number of partitions that have another leader. */
async function moveLeaders(admin: Admin, topics: string[]): Promise<number> {
  const before = await leaders(admin, topics);
  await admin.alterPartitionReassignments({
    topics: topics.map((topic) => ({
      topic,
      partitionAssignment: [...before].flatMap(([place, leader]) => {
        const [of, partition] = place.split(':');
        const replicas = [1, 2, 3].filter((broker) => broker !== leader);
        return of === topic ? [{ partition: Number(partition), replicas }] : [];
      }),
    })),
  });
  await eventually(
    'every leader has changed',
    async () => {
      const after = await leaders(admin, topics);
      return [...before].every(([place, leader]) => after.get(place) !== leader);
    },
    backWithinMs,
  );
  return before.size;
}

/** Assigns every partition to all three brokers again; resolves when the replicas are in sync. */
async function spreadReplicas(admin: Admin, topics: string[]): Promise<void> {
  await admin.alterPartitionReassignments({
    topics: topics.map((topic) => ({
      topic,
      partitionAssignment: Array.from({ length: 6 }, (_, partition) => ({
        partition,
        replicas: [0, 1, 2].map((shift) => ((partition + shift) % 3) + 1),
      })),
    })),
  });
  await eventually(
    'every replica is in sync',
    async () => {
      const { topics: described } = await admin.fetchTopicMetadata({ topics });
      return described.every(({ partitions }) => partitions.every(({ isr }) => isr.length === 3));
    },
    backWithinMs,
  );
}

/** At full size each broker is killed three times and stopped in order three times; otherwise one of them is killed once. */
function bouncesOf(random: Random): { broker: BrokerControl; signal: 'SIGKILL' | 'SIGTERM' }[] {
  if (!isFullSize) return [{ broker: random.pick(cluster.brokers), signal: 'SIGKILL' }];
  return [1, 2, 3].flatMap(() =>
    (['SIGKILL', 'SIGTERM'] as const).flatMap((signal) =>
      cluster.brokers.map((broker) => ({ broker, signal })),
    ),
  );
}

/** The broker that leads each partition, by `topic:partition`. */
async function leaders(admin: Admin, topics: string[]): Promise<Map<string, number>> {
  const { topics: described } = await admin.fetchTopicMetadata({ topics });
  return new Map(
    described.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionId, leader }): [string, number] => [`${name}:${partitionId}`, leader]),
    ),
  );
}
