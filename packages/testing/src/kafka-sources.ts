// The processes of a Kafka source beside a running system, and the topics that they read.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startGuardian, startProcess, type ProcessHandle } from '@lead-scoring/platform';
import { eventually } from '@lead-scoring/platform/waiting';
import { nodeFlags } from '@lead-scoring/start';
import { Kafka, logLevel, type Admin, type Producer } from 'kafkajs';
import { createLedTopic } from './led-topic.js';
import { checkout, type TestSystem } from './test-system.js';

export interface KafkaSource {
  processes: { process: ProcessHandle; url: string }[];
  /** What a process has logged. */
  log: (instance?: number) => Promise<string>;
  ready: (instance?: number) => Promise<void>;
  stop: () => Promise<void>;
}

export interface KafkaSourceOptions {
  /** The content of SOURCE_FILE. */
  file: object;
  /** SOURCE_CREDENTIAL. */
  credential: string;
  /** How many processes share the topic; default one. */
  processes?: number;
  environment?: Record<string, string>;
}

/** Starts the processes of a source; one that dies is restarted. */
export async function startKafkaSource(
  { endpoints, namespace }: Pick<TestSystem, 'endpoints' | 'namespace'>,
  { file, credential, processes = 1, environment }: KafkaSourceOptions,
): Promise<KafkaSource> {
  const directory = await mkdtemp(join(tmpdir(), 'lead-scoring-source-'));
  const sourceFile = join(directory, 'source.json');
  await writeFile(sourceFile, JSON.stringify(file));
  const guardian = startGuardian();
  const started: KafkaSource['processes'] = [];
  const logFile = (instance: number) => join(directory, `source-${String(instance)}.log`);
  for (let instance = 0; instance < processes; instance += 1) {
    const port = await freePort();
    const process_ = await startProcess({
      name: `source-${String(instance)}`,
      command: process.execPath,
      args: [
        ...nodeFlags(),
        '--import',
        join(checkout, 'packages/service/dist/telemetry.js'),
        join(checkout, 'services/gateway/dist/kafka-source/main.js'),
      ],
      cwd: checkout,
      logFile: logFile(instance),
      restart: true,
      guardian,
      env: {
        NODE_ENV: 'production',
        KAFKAJS_NO_PARTITIONER_WARNING: '1',
        NAMESPACE: namespace,
        KAFKA_BROKERS: endpoints.kafkaBrokers.join(','),
        SCHEMA_REGISTRY_URL: endpoints.schemaRegistryUrl,
        MONGODB_URI: endpoints.mongodbUri,
        INTERNAL_SECRET: randomBytes(32).toString('base64url'),
        PORT: String(port),
        SOURCE_FILE: sourceFile,
        SOURCE_CREDENTIAL: credential,
        ...environment,
      },
    });
    started.push({ process: process_, url: `http://127.0.0.1:${String(port)}` });
  }
  return {
    processes: started,
    log: (instance = 0) => readFile(logFile(instance), 'utf8'),
    ready: async (instance = 0) => {
      await eventually(
        `process ${String(instance)} of the source is ready`,
        async () => (await fetch(`${started[instance]?.url ?? ''}/readyz`)).ok,
        60_000,
      );
    },
    stop: async () => {
      await Promise.all(started.map((one) => one.process.stop()));
      guardian.dismiss();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A client of Kafka as a producer of events has one, of its own and not the system's. */
export interface ProducersKafka {
  admin: Admin;
  producer: Producer;
  /** Creates a topic whose name begins with that of the namespace, so that it is removed with it. */
  createTopic(name: string, partitions: number): Promise<string>;
  stop(): Promise<void>;
}

export async function openProducersKafka({
  endpoints,
  namespace,
}: Pick<TestSystem, 'endpoints' | 'namespace'>): Promise<ProducersKafka> {
  const kafka = new Kafka({
    clientId: 'producer',
    brokers: endpoints.kafkaBrokers,
    logLevel: logLevel.NOTHING,
  });
  const admin = kafka.admin();
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await Promise.all([admin.connect(), producer.connect()]);
  return {
    admin,
    producer,
    createTopic: async (name, partitions) => {
      const topic = `${namespace}.${name}`;
      await createLedTopic(admin, topic, partitions);
      return topic;
    },
    stop: async () => {
      await Promise.all([admin.disconnect(), producer.disconnect()]);
    },
  };
}
