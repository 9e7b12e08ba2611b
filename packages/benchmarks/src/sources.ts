// (m) A Kafka topic as a source of events, against POST /ingest: the processor time of the process at the door while nothing consumes what it
// writes, and the rate and the processor time of the whole system from the sent event to the readable score. The events of a topic become
// readable for its consumers all at once, by the commit of a transaction, so that the measurement has no producer beside it.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { createLedTopic, startKafkaSource, type KafkaSource } from '@lead-scoring/testing';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { cpuSecondsOf } from './contenders/process-costs.js';
import {
  startGatewayWithWriteKey,
  startRuledSystemWithWriteKey,
  type KeyedContender,
  type RunningKeyedSystem,
} from './contenders/keyed-systems.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import { openReader } from './load/readable.js';
import { interleaved } from './rounds.js';
import { checkTotals, expectedTotals, sumOf } from './totals.js';
import { createWorkload, type WorkloadPlan } from './workload.js';

export interface SourceSizes {
  leads: number;
  warmUpEvents: number;
  events: number;
  /** Milliseconds for which POST /ingest is measured while nothing consumes. */
  doorMs: number;
}

interface SourceRound {
  eventsPerSecond: number;
  cpuPerEventUs: number;
}

export interface SourcesResult {
  leads: number;
  events: number;
  /** The process at the door alone. */
  doors: { name: string; rounds: SourceRound[] }[];
  /** All services, until the score is readable. */
  readable: { name: string; rounds: SourceRound[] }[];
}

const sourcePartitions = 6;
const eventsPerRequest = 500;
const connections = 16;
const timeoutMs = 600_000;
const pollMs = 50;
/** While nothing consumes, the source must not wait for a reader. */
const unlimitedAhead = '10000000';

export async function measureSources(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  sizes: SourceSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<SourcesResult> {
  const { leads, events } = sizes;
  const describe = ({ eventsPerSecond, cpuPerEventUs }: SourceRound) =>
    `${Math.round(eventsPerSecond)} events/s, ${cpuPerEventUs.toFixed(1)} µs an event`;
  const doors = await interleaved(
    [
      { name: 'POST /ingest', measure: () => gatewayDoor(endpoints, generator, sizes) },
      { name: 'a topic', measure: () => topicDoor(endpoints, sizes) },
    ],
    rounds,
    ({ measure }) => measure(),
    { say, describe },
  );
  const readable = await interleaved(
    [
      { name: 'POST /ingest', measure: () => postToReadable(endpoints, generator, sizes) },
      {
        name: 'POST /ingest, events with an id',
        measure: () => postToReadable(endpoints, generator, sizes, { withIds: true }),
      },
      { name: 'a topic', measure: () => topicToReadable(endpoints, sizes) },
    ],
    rounds,
    ({ measure }) => measure(),
    { say, describe },
  );
  return { leads, events, doors, readable };
}

/** The gateway while nothing consumes. */
async function gatewayDoor(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { leads, warmUpEvents, events, doorMs }: SourceSizes,
): Promise<SourceRound> {
  const gateway = await startGatewayWithWriteKey(endpoints);
  try {
    const flood = (plan: WorkloadPlan, forMs: number) =>
      generator.perform({ do: 'flood', target: gateway.target, plan, connections, forMs });
    await flood(planOf('warmup', 500, warmUpEvents), doorMs);
    const before = gateway.cpuSeconds();
    const accepted = await flood(planOf('load', leads, events), doorMs);
    return roundOf(accepted.events, accepted.acceptMs, gateway.cpuSeconds() - before);
  } finally {
    await gateway.stop();
  }
}

/** The source's process while nothing consumes. */
async function topicDoor(
  endpoints: PlatformEndpoints,
  { leads, warmUpEvents, events }: SourceSizes,
): Promise<SourceRound> {
  const gateway = await startGatewayWithWriteKey(endpoints);
  try {
    return await withTopic(gateway, endpoints, async (topic) => {
      await topic.read(planOf('warmup', 500, warmUpEvents));
      const publish = await topic.fill(planOf('load', leads, events));
      const before = topic.cpuSeconds();
      const startedAt = performance.now();
      await publish();
      await topic.untilRead();
      return roundOf(events, performance.now() - startedAt, topic.cpuSeconds() - before);
    });
  } finally {
    await gateway.stop();
  }
}

async function postToReadable(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { leads, warmUpEvents, events }: SourceSizes,
  more: Partial<WorkloadPlan> = {},
): Promise<SourceRound> {
  const system = await startRuledSystemWithWriteKey(endpoints);
  const plans = [
    { ...planOf('warmup', 500, warmUpEvents), ...more },
    { ...planOf('load', leads, events), ...more },
  ] as const;
  try {
    await floodUntilReadable(generator, system, plans[0]);
    const before = system.cpuSeconds();
    const { readableMs } = await floodUntilReadable(generator, system, plans[1], warmUpEvents);
    const cpuSeconds = system.cpuSeconds() - before;
    await checkAll('POST /ingest', system, plans);
    return roundOf(events, readableMs, cpuSeconds);
  } finally {
    await system.stop();
  }
}

async function topicToReadable(
  endpoints: PlatformEndpoints,
  { leads, warmUpEvents, events }: SourceSizes,
): Promise<SourceRound> {
  const system = await startRuledSystemWithWriteKey(endpoints);
  const plans = [planOf('warmup', 500, warmUpEvents), planOf('load', leads, events)] as const;
  try {
    return await withTopic(system, endpoints, async (topic) => {
      await topic.read(plans[0]);
      await untilReadable(system, plans[0], topic);
      const publish = await topic.fill(plans[1]);
      const cpu = () => system.cpuSeconds() + topic.cpuSeconds();
      const before = cpu();
      const startedAt = performance.now();
      await publish();
      await topic.untilRead();
      const readableAt = await untilReadable(system, plans[1], topic);
      const cpuSeconds = cpu() - before;
      await checkAll('a topic', system, plans);
      return roundOf(events, readableAt - startedAt, cpuSeconds);
    });
  } finally {
    await system.stop();
  }
}

/** Waits until the scores have all that the source has written; the time by performance.now(). */
async function untilReadable(
  system: RunningKeyedSystem,
  plan: WorkloadPlan,
  topic: SourceTopic,
): Promise<number> {
  const reader = openReader(system.readable);
  try {
    const mark = await topic.writtenUpTo();
    const alias = createWorkload(plan).aliasOf(0);
    return await reader.untilReadable({ mark, alias, acceptedSinceStart: 0 }, timeoutMs);
  } finally {
    reader.close();
  }
}

async function checkAll(
  name: string,
  system: RunningKeyedSystem,
  plans: readonly WorkloadPlan[],
): Promise<void> {
  const expected = sumOf(plans.map((plan) => expectedTotals(plan, 'rules')));
  checkTotals(name, await system.totals(), expected);
}

function roundOf(events: number, elapsedMs: number, cpuSeconds: number): SourceRound {
  return {
    eventsPerSecond: events / (elapsedMs / 1_000),
    cpuPerEventUs: (cpuSeconds * 1_000_000) / events,
  };
}

/** A topic, and the process that reads it, which is stopped after `use`. */
async function withTopic<Result>(
  system: KeyedContender,
  endpoints: PlatformEndpoints,
  use: (topic: SourceTopic) => Promise<Result>,
): Promise<Result> {
  const { namespace, writeKey } = system;
  const kafka = new Kafka({ brokers: endpoints.kafkaBrokers, logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const topic = `${namespace}.bench`;
  let source: KafkaSource | undefined;
  try {
    await createLedTopic(admin, topic, sourcePartitions);
    source = await startKafkaSource(
      { endpoints, namespace },
      {
        credential: writeKey,
        environment: { SOURCE_MAXIMUM_AHEAD: unlimitedAhead },
        file: { name: 'bench', topic, format: 'json', event: mapping },
      },
    );
    await source.ready();
    return await use(new SourceTopic(kafka, admin, { topic, namespace, source }));
  } finally {
    await source?.stop();
    await admin.disconnect();
  }
}

/** The events of the workload have the names of POST /ingest. */
const mapping = {
  alias_kind: { value: 'alias_kind' },
  alias: { value: 'alias' },
  event_type: { value: 'event_type' },
  timestamp: { value: 'timestamp' },
  metadata: { value: 'metadata' },
};

class SourceTopic {
  constructor(
    private readonly kafka: Kafka,
    private readonly admin: Admin,
    private readonly names: { topic: string; namespace: string; source: KafkaSource },
  ) {}

  /** Processor seconds of the process that reads. */
  cpuSeconds(): number {
    return cpuSecondsOf(this.names.source.processes.map(({ process }) => process.pid));
  }

  /** Writes the events of a plan. @returns the function that makes them readable for consumers */
  async fill(plan: WorkloadPlan): Promise<() => Promise<void>> {
    const { topic } = this.names;
    const producer = this.kafka.producer({
      transactionalId: `${topic}.${plan.name}`,
      idempotent: true,
      maxInFlightRequests: 1,
      transactionTimeout: timeoutMs,
    });
    await producer.connect();
    const transaction = await producer.transaction();
    let next = 0;
    for (const part of createWorkload(plan).lines()) {
      const values = part.toString().trimEnd().split('\n');
      const messages = values.map((value) => ({ value, partition: next++ % sourcePartitions }));
      await transaction.send({ topic, acks: -1, messages });
    }
    return async () => {
      await transaction.commit();
      await producer.disconnect();
    };
  }

  /** Writes the events of a plan, and waits until the source has taken them. */
  async read(plan: WorkloadPlan): Promise<void> {
    const publish = await this.fill(plan);
    await publish();
    await this.untilRead();
  }

  /** Waits until the source has committed the end of each partition. */
  async untilRead(): Promise<void> {
    const { topic, namespace } = this.names;
    const ends = await this.admin.fetchTopicOffsets(topic);
    for (const giveUpAt = Date.now() + timeoutMs; ;) {
      const [found] = await this.admin.fetchOffsets({
        groupId: `${namespace}.source.bench`,
        topics: [topic],
      });
      const committed = new Map(
        found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]),
      );
      if (ends.every(({ partition, high }) => (committed.get(partition) ?? -1) >= Number(high))) return;
      if (Date.now() > giveUpAt) throw new Error(`the topic is not read after ${timeoutMs} ms`);
      await pause(pollMs);
    }
  }

  /** The last position of the commands that ingest gets. */
  async writtenUpTo(): Promise<Map<number, bigint>> {
    const ends = await this.admin.fetchTopicOffsets(`${this.names.namespace}.ingest.commands`);
    return new Map(
      ends.flatMap(({ partition, high }) =>
        high === '0' ? [] : [[partition, BigInt(high) - 1n] as [number, bigint]],
      ),
    );
  }
}

function planOf(name: string, leads: number, events: number): WorkloadPlan {
  return {
    name,
    seed: 41,
    leads,
    events,
    eventsPerRequest,
    distribution: 'even',
    firstEventAt: Date.now() - 7_200_000,
  };
}
