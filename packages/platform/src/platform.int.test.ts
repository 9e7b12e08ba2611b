// The three real servers, used with the clients that the system uses.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Kafka, logLevel, type Consumer, type KafkaMessage } from 'kafkajs';
import { MongoClient } from 'mongodb';
import { verifyConfigured } from './configured.js';
import { nativeObstacle } from './native/machine.js';
import { startPlatform, type RunningPlatform } from './platform.js';
import { identityOf } from './process-identity.js';
import { eventually, waitUntil } from './waiting.js';

// The first run on a machine downloads and builds the servers.
const FIRST_START_MS = 900_000;
const unconfigured = { ...process.env, KAFKA_BROKERS: '', SCHEMA_REGISTRY_URL: '', MONGODB_URI: '' };
const progress: string[] = [];
const onProgress = (message: string): number => progress.push(message);
const testNative = (await nativeObstacle()) === undefined ? test : test.skip;

function kafkaOf(platform: RunningPlatform): Kafka {
  return new Kafka({ brokers: platform.endpoints.kafkaBrokers, logLevel: logLevel.NOTHING });
}

async function createTopic(kafka: Kafka, topic: string): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({
    // It would fail where it asks a broker that has not heard of the topic yet.
    waitForLeaders: false,
    topics: [{ topic, numPartitions: 3, replicationFactor: -1 }],
  });
  await eventually('the topic has leaders', async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics.every(
      ({ partitions }) => partitions.length === 3 && partitions.every(({ leader }) => leader >= 0),
    );
  });
  await admin.disconnect();
}

/** Reads a topic from its beginning until so many records have come. */
async function read(kafka: Kafka, topic: string, count: number): Promise<KafkaMessage[]> {
  const consumer: Consumer = kafka.consumer({ groupId: `read-${topic}`, maxWaitTimeInMs: 200 });
  const messages: KafkaMessage[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message }) => {
      messages.push(message);
      return Promise.resolve();
    },
  });
  await waitUntil(
    () =>
      messages.length >= count ? Promise.resolve() : Promise.reject(new Error(`${messages.length} records`)),
    { description: `${count} records of ${topic}`, timeoutMs: 30_000 },
  );
  await consumer.disconnect();
  return messages;
}

testNative(
  'a start that is given up while its servers come up rejects when all of them have ended',
  async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'given-up-'));
    const stop = new AbortController();
    const start = startPlatform({
      environment: unconfigured,
      dataDirectory,
      signal: stop.signal,
      onProgress,
      onAddresses: () => stop.abort(new Error('given up')),
    });
    await expect(start).rejects.toThrow('given up');
    expect(commandLinesWith(dataDirectory)).toEqual([]);
    // The folder is free for the next run.
    const { owner, processes } = JSON.parse(readFileSync(join(dataDirectory, 'platform.json'), 'utf8')) as {
      owner?: unknown;
      processes: unknown[];
    };
    expect([owner, processes]).toEqual([undefined, []]);
    rmSync(dataDirectory, { recursive: true, force: true });
  },
  FIRST_START_MS,
);

/** The command lines of running processes that contain a text. */
function commandLinesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return []; // It has ended meanwhile.
      }
    })
    .filter((line) => line.includes(text));
}

describe('a temporary platform', () => {
  let platform: RunningPlatform;
  beforeAll(async () => {
    platform = await startPlatform({ environment: unconfigured, onProgress });
  }, FIRST_START_MS);
  afterAll(async () => {
    const processes = platform.processes();
    await platform.stop();
    await platform.stop();
    expect(platform.processes()).toEqual([]);
    expect(processes.filter(({ pid }) => identityOf(pid))).toEqual([]);
  }, 60_000);

  test('starts all three servers by one provider, and reports which', () => {
    expect(new Set(Object.values(platform.providers)).size).toBe(1);
    expect(progress.join('\n')).toMatch(/Kafka: (docker|native)/);
  });

  test('has a Kafka that takes idempotent and transactional records as soon as it has started', async () => {
    const kafka = kafkaOf(platform);
    await createTopic(kafka, 'transactions');
    const producer = kafka.producer({
      transactionalId: 'platform-test',
      idempotent: true,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    const aborted = await producer.transaction();
    await aborted.send({ topic: 'transactions', messages: [{ key: 'a', value: 'aborted' }] });
    await aborted.abort();
    const committed = await producer.transaction();
    await committed.send({ topic: 'transactions', messages: [{ key: 'a', value: 'committed' }] });
    await committed.sendOffsets({
      consumerGroupId: 'platform-test',
      topics: [{ topic: 'transactions', partitions: [{ partition: 0, offset: '1' }] }],
    });
    await committed.commit();
    await producer.disconnect();
    const messages = await read(kafka, 'transactions', 1);
    expect(messages.map(({ value }) => value?.toString())).toEqual(['committed']);
  }, 60_000);

  test('has a Kafka that takes records of ten megabytes', async () => {
    const kafka = kafkaOf(platform);
    await createTopic(kafka, 'large');
    const producer = kafka.producer({ idempotent: true });
    await producer.connect();
    const value = Buffer.alloc(10_000_000, 1);
    await producer.send({ topic: 'large', messages: [{ key: 'a', value }] });
    await producer.disconnect();
    const [message] = await read(kafka, 'large', 1);
    expect(message?.value?.length).toBe(value.length);
  }, 60_000);

  test('has a Kafka that creates no topic by itself', async () => {
    const producer = kafkaOf(platform).producer({ retry: { retries: 1 } });
    await producer.connect();
    await expect(producer.send({ topic: 'undeclared', messages: [{ value: 'x' }] })).rejects.toThrow(
      /does not host this topic/,
    );
    await producer.disconnect();
  });

  test('has a registry that encodes, decodes, and refuses an incompatible schema', async () => {
    const registry = new SchemaRegistry({ host: platform.endpoints.schemaRegistryUrl });
    const schema = (type: string): string =>
      JSON.stringify({ type: 'object', properties: { points: { type } }, required: ['points'] });
    const { id } = await registry.register(
      { type: SchemaType.JSON, schema: schema('integer') },
      { subject: 'scored' },
    );
    const payload = await registry.encode(id, { points: 87 });
    expect(await registry.decode(payload)).toEqual({ points: 87 });
    await expect(registry.encode(id, { points: 'many' })).rejects.toThrow();
    await expect(
      registry.register({ type: SchemaType.JSON, schema: schema('string') }, { subject: 'scored' }),
    ).rejects.toThrow();
  });

  test('has a MongoDB with unique indexes, guarded updates and aggregation', async () => {
    const client = await new MongoClient(platform.endpoints.mongodbUri).connect();
    const leads = client
      .db('platform-test')
      .collection<{ _id: string; email: string; points: number }>('leads');
    await leads.createIndexes([{ key: { email: 1 }, unique: true }]);
    await leads.insertMany([
      { _id: 'a', email: 'a@example.org', points: 1 },
      { _id: 'b', email: 'b@example.org', points: 2 },
    ]);
    await expect(leads.insertOne({ _id: 'c', email: 'a@example.org', points: 3 })).rejects.toMatchObject({
      code: 11000,
    });
    const guarded = await leads.updateOne({ _id: 'a', points: { $lt: 1 } }, { $set: { points: 9 } });
    expect(guarded.modifiedCount).toBe(0);
    const [sum] = await leads.aggregate([{ $group: { _id: null, points: { $sum: '$points' } } }]).toArray();
    expect(sum).toEqual({ _id: null, points: 3 });
    await client.close();
  });

  testNative(
    'starts a killed server again',
    async () => {
      for (const name of ['postgresql', 'ferretdb']) {
        const killed = platform.processes().find((entry) => entry.name === name);
        if (!killed) {
          return; // the server is not native
        }
        process.kill(killed.pid, 'SIGKILL');
        await waitUntil(
          async () => {
            const client = new MongoClient(platform.endpoints.mongodbUri, {
              serverSelectionTimeoutMS: 2_000,
            });
            try {
              const kills = client.db('platform-test').collection<{ _id: string }>('kills');
              await kills.replaceOne({ _id: name }, {}, { upsert: true });
            } finally {
              await client.close();
            }
          },
          { description: `MongoDB after the end of ${name}`, timeoutMs: 30_000 },
        );
        // The first answer may still be the killed one's last.
        await waitUntil(
          () =>
            progress.join('\n').includes(`${name} ended unexpectedly (SIGKILL)`)
              ? Promise.resolve()
              : Promise.reject(new Error(progress.join('\n'))),
          { description: `word of the end of ${name}`, timeoutMs: 30_000 },
        );
      }
    },
    90_000,
  );
});

describe('a platform on a kept folder', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lead-scoring-kept-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  testNative(
    'has the same addresses, documents and schemas the next time, although its servers were killed',
    async () => {
      const start = (): Promise<RunningPlatform> =>
        startPlatform({
          environment: unconfigured,
          dataDirectory: folder,
          servers: ['schemaRegistry', 'mongodb'],
          onProgress,
        });
      const schema = JSON.stringify({ type: 'object', properties: { points: { type: 'integer' } } });
      const first = await start();
      let schemaId: number;
      try {
        const client = await new MongoClient(first.endpoints.mongodbUri).connect();
        await client.db('kept').collection<{ _id: string }>('leads').insertOne({ _id: 'a' });
        await client.close();
        const registry = new SchemaRegistry({ host: first.endpoints.schemaRegistryUrl });
        ({ id: schemaId } = await registry.register({ type: SchemaType.JSON, schema }, { subject: 'kept' }));
        // Killed at once: the id of a registered schema must not be lost.
        const killed = first.processes().find(({ name }) => name === 'schema-registry');
        process.kill(killed?.pid ?? NaN, 'SIGKILL');
      } finally {
        await first.stop();
      }

      const second = await start();
      try {
        expect(second.endpoints).toEqual(first.endpoints);
        const again = new SchemaRegistry({ host: second.endpoints.schemaRegistryUrl });
        expect(await again.getLatestSchemaId('kept')).toBe(schemaId);
        const reader = await new MongoClient(second.endpoints.mongodbUri).connect();
        expect(await reader.db('kept').collection('leads').countDocuments()).toBe(1);
        await reader.close();
      } finally {
        await second.stop();
      }
    },
    FIRST_START_MS,
  );
});

describe('three brokers', () => {
  testNative(
    'keep what was acknowledged while one of them is stopped, killed or paused, and take it back',
    async () => {
      const platform = await startPlatform({
        environment: unconfigured,
        servers: ['kafka'],
        brokers: 3,
        onProgress,
      });
      try {
        expect(platform.brokers.map(({ address }) => address)).toEqual(platform.endpoints.kafkaBrokers);
        const kafka = kafkaOf(platform);
        await createTopic(kafka, 'kept');
        const producer = kafka.producer({ idempotent: true, retry: { retries: 20, initialRetryTime: 100 } });
        await producer.connect();
        let sent = 0;
        const send = async (): Promise<void> => {
          for (const partition of [0, 1, 2]) {
            await producer.send({ topic: 'kept', acks: -1, messages: [{ partition, value: String(sent) }] });
            sent += 1;
          }
        };
        const [one, two, three] = platform.brokers;
        await send();
        await one?.stop();
        await send();
        await one?.start();
        await two?.stop('SIGKILL');
        await send();
        await two?.start();
        three?.pause();
        three?.resume();
        await send();
        await producer.disconnect();
        const values = (await read(kafka, 'kept', sent)).map(({ value }) => Number(value?.toString()));
        expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: sent }, (_, index) => index));
        expect(
          platform
            .processes()
            .map(({ name }) => name)
            .sort(),
        ).toEqual(['kafka-1', 'kafka-2', 'kafka-3']);
      } finally {
        await platform.stop();
      }
    },
    300_000,
  );
});

test('a configured server that does not answer is named by its variable', async () => {
  await expect(verifyConfigured({ kafkaBrokers: ['127.0.0.1:9', '127.0.0.1:7'] }, 100)).rejects.toThrow(
    /^Kafka was expected at 127\.0\.0\.1:9, 127\.0\.0\.1:7, which KAFKA_BROKERS names, and does not answer.*ECONNREFUSED 127\.0\.0\.1:9; connect ECONNREFUSED 127\.0\.0\.1:7$/,
  );
  await expect(verifyConfigured({ schemaRegistryUrl: 'http://127.0.0.1:9' }, 100)).rejects.toThrow(
    /schema registry was expected at 127\.0\.0\.1:9, which SCHEMA_REGISTRY_URL names/,
  );
  await expect(verifyConfigured({ mongodbUri: 'mongodb://me:hunter2@127.0.0.1:9/' }, 100)).rejects.toThrow(
    /^MongoDB was expected at 127\.0\.0\.1:9, which MONGODB_URI names, and does not answer: [^@]*$/,
  );
});
