// The number of copies, and its description.
import { describe, expect, test } from '@jest/globals';
import type { Admin } from 'kafkajs';
import {
  defaultReplicationFactor,
  factorForNewTopics,
  neededInSync,
  replicationSentence,
} from './replication.js';

test.each([
  [1, 1, 1],
  [2, 2, 1],
  [3, 3, 2],
  [9, 3, 2],
])('%i brokers: %i copies, %i in sync', (brokers, copies, inSync) => {
  expect(defaultReplicationFactor(brokers)).toBe(copies);
  expect(neededInSync(copies)).toBe(inSync);
});

test('the description says what the loss of a disk costs', () => {
  expect(replicationSentence({ brokers: 1, copies: 1 })).toMatch(/one broker.*one copy.*lost with it/);
  expect(replicationSentence({ brokers: 2, copies: 2 })).toMatch(/while a broker is away is on one disk/);
  expect(replicationSentence({ brokers: 5, copies: 3 })).toMatch(/3 copies, of which 2 must acknowledge/);
});

describe('new topics', () => {
  const cluster = (...counts: number[]) =>
    ({
      describeCluster: () => {
        const count = counts.length > 1 ? counts.shift() : counts[0];
        return Promise.resolve({ brokers: Array.from({ length: count ?? 0 }, (_, nodeId) => ({ nodeId })) });
      },
    }) as unknown as Admin;
  const three = ['one:9092', 'two:9092', 'three:9092'];

  test('get as many copies as there are brokers, including unlisted ones', async () => {
    expect(await factorForNewTopics(cluster(4), { brokers: ['one:9092'] })).toBe(3);
    expect(await factorForNewTopics(cluster(2), { brokers: ['one:9092'] })).toBe(2);
  });

  test('wait for brokers that are listed and not up yet', async () => {
    expect(await factorForNewTopics(cluster(1, 2, 3), { brokers: three })).toBe(3);
  });

  test.each([
    ['listed', { brokers: three }, /KAFKA_BROKERS names 3.*has 1 broker: .*REPLICATION_FACTOR=1/],
    ['asked for', { brokers: ['one:9092'], replicationFactor: 3 }, /REPLICATION_FACTOR is 3.*has 1 broker/],
  ])('are not made with fewer copies than brokers are %s', async (_title, config, message) => {
    await expect(factorForNewTopics(cluster(1), config, 0)).rejects.toMatchObject({
      code: 'too_few_brokers',
      message: expect.stringMatching(message),
    });
  });

  test('get as many copies as REPLICATION_FACTOR says', async () => {
    expect(await factorForNewTopics(cluster(3), { brokers: three, replicationFactor: 1 })).toBe(1);
  });
});
