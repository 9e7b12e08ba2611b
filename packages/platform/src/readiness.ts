// Checks, with the clients that the system itself uses, that each server is ready.
import { connect } from 'node:net';
import type { Kafka } from 'kafkajs';

// Turns off the warning about its partitioner that kafkajs prints in every process that creates a producer. Its timers with a
// negative timeout cause a second warning, of Node: the scripts of package.json turn that off, and in services event-log prevents it.
const PARTITIONER_WARNING = 'KAFKAJS_NO_PARTITIONER_WARNING';

/** A client that gives up soon, and logs nothing. */
export async function kafkaClient(brokers: string[]): Promise<Kafka> {
  // Loaded while the servers start.
  const { Kafka, logLevel } = await import('kafkajs');
  process.env[PARTITIONER_WARNING] ??= '1';
  return new Kafka({
    clientId: 'platform-readiness',
    brokers,
    logLevel: logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 10_000,
    retry: { retries: 2, initialRetryTime: 50 },
  });
}

/**
 * Resolves when every broker has joined the cluster, and idempotent and transactional producers and consumer groups
 * can start. Just after its start a broker answers "coordinator loading" to the last two for a while.
 *
 * @throws Error when that is not the case yet
 */
export async function verifyKafka(brokers: string[]): Promise<void> {
  const kafka = await kafkaClient(brokers);
  const admin = kafka.admin();
  const producers = [
    kafka.producer({ idempotent: true }),
    kafka.producer({ idempotent: true, transactionalId: 'platform-readiness' }),
  ];
  try {
    await admin.connect();
    const cluster = await admin.describeCluster();
    if (cluster.brokers.length < brokers.length) {
      throw new Error(`${cluster.brokers.length} of ${brokers.length} brokers are in the cluster`);
    }
    for (const producer of producers) {
      await producer.connect();
    }
    await admin.fetchOffsets({ groupId: 'platform-readiness' });
  } finally {
    await Promise.allSettled([admin.disconnect(), ...producers.map((producer) => producer.disconnect())]);
  }
}

/**
 * Resolves when the broker at that address answers and has joined the cluster.
 *
 * @throws Error when that is not the case yet
 */
export async function verifyBroker(address: string, id: number): Promise<void> {
  const admin = (await kafkaClient([address])).admin();
  try {
    await admin.connect();
    const cluster = await admin.describeCluster();
    if (!cluster.brokers.some(({ nodeId }) => nodeId === id)) {
      throw new Error(`broker ${id} is not in the cluster`);
    }
  } finally {
    await admin.disconnect();
  }
}

/**
 * Resolves when the registry lists its subjects.
 *
 * @throws Error when it does not
 */
export async function verifySchemaRegistry(url: string): Promise<void> {
  const response = await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(5_000) });
  const body: unknown = await response.json();
  if (!response.ok || !Array.isArray(body)) {
    throw new Error(`${url}/subjects answered ${response.status}`);
  }
}

/**
 * Resolves when MongoDB answers a ping.
 *
 * @throws Error when it does not within five seconds
 */
export async function verifyMongodb(uri: string): Promise<void> {
  const { MongoClient } = await import('mongodb');
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 });
  try {
    await client.connect();
    await client.db('admin').command({ ping: 1 });
  } finally {
    await client.close();
  }
}

/**
 * Resolves when something listens at `host:port`. For configured servers, whose credentials this package does not have.
 *
 * @throws Error when nothing does within three seconds
 */
export async function verifyListening(address: string): Promise<void> {
  const separator = address.lastIndexOf(':');
  const host = address.slice(0, separator).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(separator + 1));
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port, timeout: 3_000 });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => {
      socket.destroy();
      reject(new Error(`${address} did not answer within 3 s`));
    });
    socket.once('error', reject);
  });
}
