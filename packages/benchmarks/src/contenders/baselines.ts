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
import { createLedTopic } from '@lead-scoring/testing';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { MongoClient } from 'mongodb';
import type { RunningContender, Contender, ScoringContender, Totals } from './contender.js';
import { cpuSecondsOf } from './process-costs.js';

/** The system's default. */
const defaultPartitions = 6;

const programs = {
  httpToKafka: fileURLToPath(new URL('../baselines/http-to-kafka.js', import.meta.url)),
  kafkaToMongodb: fileURLToPath(new URL('../baselines/kafka-to-mongodb.js', import.meta.url)),
};

/** express + kafkajs, one record an event; nobody consumes. */
export const bareHandler: Contender = {
  name: 'bare express + kafkajs, one record an event',
  start: async (endpoints) => {
    const baseline = await Baseline.start(endpoints);
    return baseline.orStop(async () => baseline.running((await baseline.run('httpToKafka')).url));
  },
};

/** The same handler, and a kafkajs consumer with insertMany and bulk updateOne. */
export function naiveWiring(partitions = defaultPartitions): ScoringContender {
  return {
    name: 'naive wiring',
    scoring: 'fixed-points',
    start: async (endpoints) => {
      const baseline = await Baseline.start(endpoints, partitions);
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

/** Adds up the documents of the collection `leads` of a database. */
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

/** The processes of a baseline, and their topic, database and folder of logs. */
class Baseline {
  readonly database: string;
  readonly #endpoints: PlatformEndpoints;
  readonly #topic: string;
  readonly #logDirectory: string;
  readonly #admin: Admin;
  readonly #guardian = startGuardian();
  readonly #processes: ProcessHandle[] = [];

  private constructor(endpoints: PlatformEndpoints, logDirectory: string) {
    this.#endpoints = endpoints;
    this.#topic = `bench-${randomBytes(5).toString('hex')}`;
    this.database = `${this.#topic}_naive`;
    this.#logDirectory = logDirectory;
    this.#admin = new Kafka({ brokers: endpoints.kafkaBrokers, logLevel: logLevel.ERROR }).admin();
  }

  static async start(endpoints: PlatformEndpoints, partitions = defaultPartitions): Promise<Baseline> {
    const baseline = new Baseline(endpoints, await mkdtemp(join(tmpdir(), 'lead-scoring-bench-')));
    await baseline.orStop(() => createTopic(baseline.#admin, baseline.#topic, partitions));
    return baseline;
  }

  /** Starts a program, and resolves when it is ready. */
  async run(program: keyof typeof programs): Promise<{ url: string }> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    this.#processes.push(
      await startProcess({
        name: program,
        command: process.execPath,
        args: ['--enable-source-maps', programs[program]],
        logFile: join(this.#logDirectory, `${program}.log`),
        guardian: this.#guardian,
        readyUrl: `${url}/healthz`,
        env: {
          NODE_ENV: 'production',
          KAFKAJS_NO_PARTITIONER_WARNING: '1',
          PORT: String(port),
          KAFKA_BROKERS: this.#endpoints.kafkaBrokers.join(','),
          TOPIC: this.#topic,
          MONGODB_URI: this.#endpoints.mongodbUri,
          DATABASE: this.database,
        },
      }),
    );
    return { url };
  }

  running(url: string): RunningContender {
    return {
      target: { baseUrl: url, headers: {} },
      cpuSeconds: () => cpuSecondsOf(this.#processes.map((process) => process.pid)),
      stop: () => this.#stop(),
    };
  }

  /** Runs a step of the start; when it fails, stops the processes and deletes the topic, the database and the logs. */
  async orStop<Result>(start: () => Promise<Result>): Promise<Result> {
    try {
      return await start();
    } catch (error) {
      await this.#stop();
      throw error;
    }
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
    this.#guardian.dismiss();
    const topic = this.#topic;
    if ((await this.#admin.listTopics()).includes(topic)) await this.#admin.deleteTopics({ topics: [topic] });
    await this.#admin.disconnect();
    const mongo = await MongoClient.connect(this.#endpoints.mongodbUri);
    await mongo.db(this.database).dropDatabase();
    await mongo.close();
    await rm(this.#logDirectory, { recursive: true, force: true });
  }
}

async function createTopic(admin: Admin, topic: string, partitions: number): Promise<void> {
  await admin.connect();
  await createLedTopic(admin, topic, partitions);
}
