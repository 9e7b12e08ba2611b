// Transactions with brokers that fail on demand.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fakeCluster } from '../testing/fake-cluster.js';
import { createTransactionalProducer, toBatches } from './transactional-producer.js';

const batch = (topic: string, partition: number, ...values: string[]) => ({
  topic,
  partition,
  messages: values.map((value) => ({ value, partition })),
});
const offsets = [{ topic: 'in', partition: 0, offset: 5n }];

describe('a transaction', () => {
  test('commits records and input offsets together', async () => {
    const cluster = fakeCluster();
    const producer = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
    await producer.fence();
    expect(
      await producer.commit({ batches: [batch('out', 0, 'a', 'b'), batch('out', 1, 'c')], offsets }),
    ).toEqual([0n, 0n]);
    expect(
      await producer.commit({
        batches: [batch('out', 0, 'd')],
        offsets: [{ topic: 'in', partition: 0, offset: 6n }],
      }),
    ).toEqual([2n]);
    expect(cluster.log('out', 0)).toEqual(['a', 'b', 'd']);
    expect(cluster.requests.filter((name) => name === 'endTxn')).toHaveLength(2);
  });

  test('that is open can be ended without contents; without an open one no request is sent', async () => {
    const cluster = fakeCluster();
    const producer = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
    await producer.fence();
    await producer.endOpen();
    expect(cluster.requests).not.toContain('endTxn');
    await producer.begin({ partitions: [{ topic: 'out', partition: 0 }], offsets: false });
    await producer.endOpen();
    expect(cluster.requests).toContain('endTxn');
    expect(await producer.commit({ batches: [batch('out', 0, 'a')], offsets })).toEqual([0n]);
  });

  test('waits while the previous one is still ending', async () => {
    const cluster = fakeCluster();
    const producer = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
    await producer.fence();
    cluster.failNext('addOffsetsToTxn', 'CONCURRENT_TRANSACTIONS', 3);
    cluster.failNext('addPartitionsToTxn', 'CONCURRENT_TRANSACTIONS', 2);
    await producer.begin({ partitions: [], offsets: true });
    expect(await producer.commit({ batches: [batch('out', 0, 'a')], offsets })).toEqual([0n]);
  });

  test('that was opened early stays open until the commit, and adds each participant once', async () => {
    const cluster = fakeCluster();
    const producer = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
    await producer.fence();
    const asked = (name: string) => cluster.requests.filter((one) => one === name).length;
    const partitions = [{ topic: 'out', partition: 0 }];
    await producer.begin({ partitions, offsets: false });
    await producer.begin({ partitions, offsets: true });
    expect(asked('endTxn')).toBe(0);
    await producer.commit({ batches: [batch('out', 0, 'a')], offsets });
    expect([asked('addPartitionsToTxn'), asked('addOffsetsToTxn'), asked('endTxn')]).toEqual([1, 1, 1]);
    await producer.commit({ batches: [batch('out', 0, 'b'), batch('out', 1, 'c')], offsets: [] });
    expect([asked('addPartitionsToTxn'), asked('addOffsetsToTxn'), asked('endTxn')]).toEqual([2, 1, 2]);
  });

  test('that could not be opened early is not committed', async () => {
    const cluster = fakeCluster();
    const producer = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
    await producer.fence();
    cluster.cutNext('addPartitionsToTxn');
    const partitions = [{ topic: 'out', partition: 0 }];
    await expect(producer.begin({ partitions, offsets: false })).rejects.toThrow(/closed/i);
    await expect(producer.commit({ batches: [batch('out', 0, 'a')], offsets })).rejects.toThrow(/closed/i);
    expect(cluster.log('out', 0)).toEqual([]);
  });

  test('a batch whose leader has moved is written once, by the new leader', async () => {
    const cluster = fakeCluster({ brokers: 2 });
    const producer = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
    await producer.fence();
    // Broker 0 leads partition 0, and broker 1 partition 1 until the request; then broker 0 leads both.
    cluster.beforeNext('produce', 1, () => {
      cluster.moveLeader('out', 1, 0);
    });
    await producer.commit({ batches: [batch('out', 0, 'a'), batch('out', 1, 'b')], offsets });
    expect(cluster.log('out', 0)).toEqual(['a']);
    expect(cluster.log('out', 1)).toEqual(['b']);
  });

  test('two batches of one partition are written in order', async () => {
    const cluster = fakeCluster();
    const producer = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
    await producer.fence();
    expect(
      await producer.commit({ batches: [batch('out', 0, 'a', 'b'), batch('out', 0, 'c')], offsets }),
    ).toEqual([0n, 2n]);
    expect(cluster.log('out', 0)).toEqual(['a', 'b', 'c']);
  });

  test.each(['addOffsetsToTxn', 'addPartitionsToTxn', 'endTxn', 'txnOffsetCommit'] as const)(
    'a lost answer to %s rejects',
    async (request) => {
      const cluster = fakeCluster();
      const producer = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
      await producer.fence();
      cluster.cutNext(request);
      await expect(producer.commit({ batches: [batch('out', 0, 'a')], offsets })).rejects.toThrow(/closed/i);
    },
  );

  test('a fenced producer’s commit rejects', async () => {
    const cluster = fakeCluster();
    const first = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
    await first.fence();
    const second = createTransactionalProducer(cluster.connect(), { transactionalId: 't', groupId: 'g' });
    await second.fence();
    await expect(first.commit({ batches: [batch('out', 0, 'a')], offsets })).rejects.toMatchObject({
      type: 'INVALID_PRODUCER_EPOCH',
    });
    expect(await second.commit({ batches: [batch('out', 0, 'b')], offsets })).toEqual([0n]);
    expect(cluster.log('out', 0)).toEqual(['b']);
  });
});

test('messages are divided into batches of one partition each, in order, none above the limit unless one message is', () => {
  const message = fc.record({
    topic: fc.constantFrom('a', 'b'),
    partition: fc.integer({ min: 0, max: 2 }),
    bytes: fc.integer({ min: 1, max: 60 }),
  });
  fc.assert(
    fc.property(fc.array(message), (all) => {
      const messages = all.map((one, index) => ({ ...one, message: { value: String(index) } }));
      const batches = toBatches(messages, 100);
      expect(batches.flatMap(({ indexes }) => indexes).sort((a, b) => a - b)).toEqual(
        all.map((_, index) => index),
      );
      const lastIndex = new Map<string, number>();
      for (const {
        batch: { topic, partition, messages: within },
        indexes,
      } of batches) {
        expect(within.map(({ value }) => Number(value))).toEqual(indexes);
        const bytes = indexes.reduce((sum, index) => sum + (all[index]?.bytes ?? 0), 0);
        expect(indexes.length === 1 || bytes <= 100).toBe(true);
        for (const index of indexes) {
          expect(all[index]).toMatchObject({ topic, partition });
          expect(index).toBeGreaterThan(lastIndex.get(`${topic}/${partition}`) ?? -1);
          lastIndex.set(`${topic}/${partition}`, index);
        }
      }
    }),
  );
});
