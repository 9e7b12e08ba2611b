// The contenders that the system is measured against: the bare handler, and the naive wiring (the same handler and a
// consumer that writes to MongoDB).
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  freePort,
  startGuardian,
  startProcess,
  type PlatformEndpoints,
  type ProcessHandle,
} from '@lead-scoring/platform';
import { eventually } from '@lead-scoring/platform/waiting';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { MongoClient } from 'mongodb';
import type { RunningContender, Contender, ScoringContender, Totals } from './contender.js';
import { cpuSecondsOf } from './processor-time.js';

/** As many as the system has by default. */
const defaultPartitions = 6;

const programs = {
  httpToKafka: fileURLToPath(new URL('../baselines/http-to-kafka.js', import.meta.url)),
  kafkaToMongodb: fileURLToPath(new URL('../baselines/kafka-to-mongodb.js', import.meta.url)),
};

/** express + kafkajs, one record an event; nobody consumes. */
export const bareHandler: Contender = {
  name: 'bare express + kafkajs, one record an event',
  start: async (endpoints) => {
    const baseline = await startBaseline(endpoints);
    return baseline.orStop(async () => baseline.running((await baseline.run('httpToKafka')).url));
  },
};

/** The same handler, and a kafkajs consumer with insertMany and bulk updateOne. */
export function naiveWiring(partitions = defaultPartitions): ScoringContender {
  return {
    name: 'naive wiring',
    scoring: 'fixed-points',
    start: async (endpoints) => {
      const baseline = await startBaseline(endpoints, partitions);
      return baseline.orStop(async () => {
        const consumer = await baseline.run('kafkaToMongodb');
        const handler = await baseline.run('httpToKafka');
        return {
          ...baseline.running(handler.url),
          readable: { way: 'progress', target: { baseUrl: consumer.url, headers: {} } },
          totals: () => totalsOfLeads(endpoints, baseline.database),
        };
      });
    },
  };
}

/** Adds up what the collection `leads` of a database holds. */
export async function totalsOfLeads(endpoints: PlatformEndpoints, database: string): Promise<Totals> {
  const mongo = await MongoClient.connect(endpoints.mongodbUri);
  try {
    const totals: Totals = { leads: 0, events: 0, score: 0 };
    const leads = mongo.db(database).collection<{ score: unknown; event_count: unknown }>('leads');
    for await (const lead of leads.find(
      {},
      { projection: { score: 1, event_count: 1 }, batchSize: 10_000 },
    )) {
      totals.leads += 1;
      totals.events += Number(lead.event_count);
      totals.score += Number(lead.score);
    }
    return totals;
  } finally {
    await mongo.close();
  }
}

interface Baseline {
  database: string;
  run(program: keyof typeof programs): Promise<{ url: string }>;
  running(url: string): RunningContender;
  /** Takes away what was begun when the start fails half-way. */
  orStop<Result>(start: () => Promise<Result>): Promise<Result>;
}

async function startBaseline(
  endpoints: PlatformEndpoints,
  partitions = defaultPartitions,
): Promise<Baseline> {
  const name = `bench-${randomBytes(5).toString('hex')}`;
  const database = `${name}_naive`;
  const logDirectory = await mkdtemp(join(tmpdir(), 'lead-scoring-bench-'));
  const admin = new Kafka({ brokers: endpoints.kafkaBrokers, logLevel: logLevel.ERROR }).admin();
  const guardian = startGuardian();
  const processes: ProcessHandle[] = [];
  const stop = async () => {
    await Promise.all(processes.map((process) => process.stop()));
    guardian.dismiss();
    if ((await admin.listTopics()).includes(name)) await admin.deleteTopics({ topics: [name] });
    await admin.disconnect();
    const mongo = await MongoClient.connect(endpoints.mongodbUri);
    await mongo.db(database).dropDatabase();
    await mongo.close();
    await rm(logDirectory, { recursive: true, force: true });
  };
  const orStop = async <Result>(start: () => Promise<Result>): Promise<Result> => {
    try {
      return await start();
    } catch (error) {
      await stop();
      throw error;
    }
  };
  await orStop(() => createTopic(admin, name, partitions));
  return {
    database,
    orStop,
    run: async (program) => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      processes.push(
        await startProcess({
          name: program,
          command: process.execPath,
          args: ['--enable-source-maps', programs[program]],
          logFile: join(logDirectory, `${program}.log`),
          guardian,
          readyUrl: `${url}/healthz`,
          env: {
            NODE_ENV: 'production',
            KAFKAJS_NO_PARTITIONER_WARNING: '1',
            PORT: String(port),
            KAFKA_BROKERS: endpoints.kafkaBrokers.join(','),
            TOPIC: name,
            MONGODB_URI: endpoints.mongodbUri,
            DATABASE: database,
          },
        }),
      );
      return { url };
    },
    running: (url) => ({
      target: { baseUrl: url, headers: {} },
      cpuSeconds: () => cpuSecondsOf(processes.map((process) => process.pid)),
      stop,
    }),
  };
}

async function createTopic(admin: Admin, topic: string, partitions: number): Promise<void> {
  await admin.connect();
  await admin.createTopics({
    topics: [{ topic, numPartitions: partitions, replicationFactor: 1 }],
    waitForLeaders: false,
  });
  // kafkajs waits for leaders too, but gives up when a broker does not know the new topic yet.
  await eventually('every partition has a leader', async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const led = topics[0]?.partitions.filter(({ leader }) => leader >= 0).length;
    return led === partitions;
  });
}
