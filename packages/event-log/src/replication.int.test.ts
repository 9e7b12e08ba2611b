// The number of copies on a test cluster of three brokers, and on the cluster of the test run.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { topics } from '@lead-scoring/contracts';
import { startPlatform, type RunningPlatform } from '@lead-scoring/platform';
import kafkajs from 'kafkajs';
import { pino, type Logger } from 'pino';
import type { EventLogConfig } from './config.js';
import { createEventLog, internals, type EventLog } from './event-log.js';
import { listReplication } from './operations.js';
import { removeNamespace, testLog } from './testing/test-support.js';

/** A log with captured log lines. */
function loggedLog(config: Partial<EventLogConfig>): { log: EventLog; lines: string[] } {
  const lines: string[] = [];
  const logger: Logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  return { log: createEventLog({ ...testLog().config, ...config }, { logger }), lines };
}

async function copiesAndInSync(log: EventLog): Promise<Set<string>> {
  const { kafka, wire } = log[internals];
  const admin = kafka.admin();
  await admin.connect();
  const names = topics.map(({ name }) => wire(name));
  const { topics: found } = await admin.fetchTopicMetadata({ topics: names });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
  });
  await admin.disconnect();
  return new Set(
    resources.map(({ resourceName, configEntries }) => {
      const copies = found.find(({ name }) => name === resourceName)?.partitions[0]?.replicas.length;
      const inSync = configEntries.find(
        ({ configName }) => configName === 'min.insync.replicas',
      )?.configValue;
      return `${copies} copies, ${inSync} in sync`;
    }),
  );
}

describe('one broker', () => {
  let log: EventLog;
  afterAll(() => removeNamespace(log), 30_000);

  test('each topic has one copy, which is logged as a warning', async () => {
    const { log: made, lines } = loggedLog({
      brokers: (process.env.KAFKA_BROKERS ?? '').split(',').slice(0, 1),
    });
    log = made;
    await log.prepare();
    expect(await copiesAndInSync(log)).toEqual(new Set(['1 copies, 1 in sync']));
    expect(lines.join('')).toContain('one copy: an acknowledged record is on one disk');
    expect(await listReplication(log)).toEqual({ brokers: 1, wanted: 1, copies: 1, lacking: [] });
  }, 60_000);

  test('more copies than brokers are refused with the value to set', async () => {
    const { log: other } = loggedLog({ namespace: `${log.config.namespace}-x`, replicationFactor: 2 });
    await expect(other.prepare()).rejects.toMatchObject({
      code: 'too_few_brokers',
      message: expect.stringContaining('REPLICATION_FACTOR=1'),
    });
    await removeNamespace(other);
  }, 60_000);
});

describe('three brokers', () => {
  let cluster: RunningPlatform;
  beforeAll(async () => {
    cluster = await startPlatform({
      brokers: 3,
      servers: ['kafka'],
      // Skipped for an engine whose compose file has one broker.
      environment: { ...process.env, KAFKA_BROKERS: '', DOCKER_HOST: 'tcp://none.invalid:2375' },
    });
  }, 180_000);
  afterAll(() => cluster.stop(), 60_000);

  test('each topic has three copies, two of which must acknowledge', async () => {
    const { log } = loggedLog({ brokers: cluster.endpoints.kafkaBrokers });
    await log.prepare();
    expect(await copiesAndInSync(log)).toEqual(new Set(['3 copies, 2 in sync']));
    expect(await listReplication(log)).toMatchObject({ brokers: 3, wanted: 3, copies: 3, lacking: [] });
    await removeNamespace(log);
  }, 60_000);

  test('existing topics with one copy are logged, and not changed', async () => {
    const brokers = cluster.endpoints.kafkaBrokers;
    const { log: before } = loggedLog({ brokers, replicationFactor: 1 });
    await before.prepare();
    const { log, lines } = loggedLog({ brokers, namespace: before.config.namespace });
    await log.prepare();
    expect(await copiesAndInSync(log)).toEqual(new Set(['1 copies, 1 in sync']));
    expect(lines.join('')).toContain('fewer copies than the 3 that are wanted');
    const { copies, lacking } = await listReplication(log);
    expect(copies).toBe(1);
    expect(lacking.map(({ topic }) => topic).sort()).toEqual(
      topics.map(({ name }) => `${log.config.namespace}.${name}`).sort(),
    );
    await Promise.all([removeNamespace(log), before.close()]);
  }, 60_000);
});
