// The producer of a process: the decisions of a round share one transaction. In-memory brokers, fake clock.
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { asError } from '../errors.js';
import { internals, type EventLog } from '../event-log.js';
import { fakeCluster, type FakeCluster } from '../testing/fake-cluster.js';
import { JointProducers, type JointProducer } from './joint-producer.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

function producersOn(cluster: FakeCluster): JointProducers {
  const log = { [internals]: { connect: () => cluster.connect() } } as unknown as EventLog;
  return new JointProducers({ log, groupId: 'g', topics: ['out'], timeoutMs: 15_000 });
}

const contents = (partition: number, ...values: string[]) => ({
  batches: [{ topic: 'out', partition, messages: values.map((value) => ({ value, partition })) }],
  offsets: [{ topic: 'in', partition, offset: BigInt(values.length) }],
});

const transactions = (cluster: FakeCluster) => cluster.requests.filter((one) => one === 'endTxn').length;

/** The outcome of a commit, readable while other commits are pending. */
function outcomeOf(commit: Promise<bigint[]>) {
  const outcome: { offsets?: bigint[]; error?: Error & { code?: string; type?: string } } = {};
  commit.then(
    (offsets) => (outcome.offsets = offsets),
    (error: unknown) => (outcome.error = asError(error)),
  );
  return outcome;
}

async function made(): Promise<{ cluster: FakeCluster; producers: JointProducers; producer: JointProducer }> {
  const cluster = fakeCluster();
  const producers = producersOn(cluster);
  return { cluster, producers, producer: await producers.current() };
}

describe('the partitions of one round', () => {
  test('are committed in one transaction, and each gets the offsets of its own records', async () => {
    const { cluster, producer } = await made();
    await producer.commit(contents(1, 'earlier', 'still earlier'));
    for (let at = 0; at < 3; at++) producer.enterRound();
    const commits = [
      producer.commitInRound(contents(0, 'a')),
      producer.commitInRound({
        batches: [...contents(1, 'b').batches, ...contents(0, 'behind a').batches],
        offsets: [],
      }),
    ];
    await pass(100);
    expect(transactions(cluster)).toBe(1);
    commits.push(producer.commitInRound(contents(2, 'c', 'd')));
    await pass(1);
    expect(await Promise.all(commits)).toEqual([[0n], [2n, 1n], [0n]]);
    expect(transactions(cluster)).toBe(2);
    expect([0, 1, 2].map((partition) => cluster.log('out', partition))).toEqual([
      ['a', 'behind a'],
      ['earlier', 'still earlier', 'b'],
      ['c', 'd'],
    ]);
  });

  test('do not wait longer than 500 ms for a slow one, which is committed alone', async () => {
    const { cluster, producer } = await made();
    producer.enterRound();
    producer.enterRound();
    const first = outcomeOf(producer.commitInRound(contents(0, 'a')));
    await pass(490);
    expect(first).toEqual({});
    await pass(20);
    expect(first.offsets).toEqual([0n]);
    producer.leaveRound();
    const second = outcomeOf(producer.commitInRound(contents(1, 'b')));
    await pass(1);
    expect(second.offsets).toEqual([0n]);
    expect(transactions(cluster)).toBe(2);
  });

  test('do not wait for one that leaves with nothing to commit', async () => {
    const { producer } = await made();
    producer.enterRound();
    producer.enterRound();
    const first = outcomeOf(producer.commitInRound(contents(0, 'a')));
    await pass(10);
    expect(first).toEqual({});
    producer.leaveRound();
    await pass(1);
    expect(first.offsets).toEqual([0n]);
  });

  test('do not wait for one that has left when the next round begins', async () => {
    const { producer } = await made();
    producer.enterRound();
    producer.leaveRound();
    producer.enterRound();
    const first = outcomeOf(producer.commitInRound(contents(0, 'a')));
    await pass(1);
    expect(first.offsets).toEqual([0n]);
  });
});

test('commits that arrive during a transaction share the next one', async () => {
  const { cluster, producer } = await made();
  const go = cluster.hang();
  const first = outcomeOf(producer.commit(contents(0, 'a')));
  const others = [1, 2, 3].map((partition) => outcomeOf(producer.commit(contents(partition, 'b'))));
  await pass(10);
  go();
  await pass(100);
  expect(first.offsets).toEqual([0n]);
  expect(others.map(({ offsets }) => offsets)).toEqual([[0n], [0n], [0n]]);
  expect(transactions(cluster)).toBe(2);
});

describe('a transaction that fails', () => {
  test.each(['produce', 'endTxn', 'txnOffsetCommit', 'addPartitionsToTxn', 'addOffsetsToTxn'] as const)(
    'by a lost answer to %s rejects its participants, all waiting commits and all later ones',
    async (request) => {
      const { cluster, producer } = await made();
      producer.enterRound();
      producer.enterRound();
      producer.enterRound();
      cluster.cutNext(request);
      // The appender repeats a produce request, which has an effect once.
      if (request === 'produce') cluster.failNext('produce', 'INVALID_PRODUCER_EPOCH');
      const together = [0, 1].map((partition) => outcomeOf(producer.commitInRound(contents(partition, 'a'))));
      producer.leaveRound();
      const waiting = outcomeOf(producer.commit(contents(2, 'b')));
      await pass(1_000);
      for (const outcome of [...together, waiting]) expect(outcome.error).toBeInstanceOf(Error);
      const later = [
        outcomeOf(producer.commit(contents(3, 'c'))),
        outcomeOf(producer.commitInRound(contents(3, 'c'))),
        outcomeOf(producer.endOpen().then(() => [])),
      ];
      producer.begin({ partitions: [{ topic: 'out', partition: 3 }], offsets: false });
      producer.leaveRound();
      producer.leaveRound();
      await pass(1_000);
      for (const { error } of later) expect(error).toMatchObject({ code: 'closed', retriable: true });
      expect(cluster.log('out', 3)).toEqual([]);
    },
  );

  test('is followed by a producer with a new id after the former one was fenced', async () => {
    const { cluster, producers, producer } = await made();
    cluster.cutNext('endTxn');
    const failed = outcomeOf(producer.commit(contents(0, 'a')));
    await pass(10);
    expect(failed.error).toBeInstanceOf(Error);
    expect(producers.isFormer(producer.id)).toBe(true);
    const asked = cluster.requests.length;
    const [next, same] = await Promise.all([producers.current(), producers.current()]);
    expect(same).toBe(next);
    expect(next.id).not.toBe(producer.id);
    // The former one, and then its own.
    expect(cluster.requests.slice(asked)).toEqual(['initProducerId', 'initProducerId']);
    expect(producers.isFormer(next.id)).toBe(false);
    const commit = outcomeOf(next.commit(contents(0, 'b')));
    await pass(10);
    expect(commit.offsets).toEqual([1n]);
  });

  test('is followed by no producer while the former one cannot be fenced', async () => {
    const { cluster, producers, producer } = await made();
    cluster.cutNext('endTxn');
    const failed = outcomeOf(producer.commit(contents(0, 'a')));
    await pass(10);
    expect(failed.error).toBeInstanceOf(Error);
    cluster.failNext('initProducerId', 'CLUSTER_AUTHORIZATION_FAILED');
    await expect(producers.current()).rejects.toMatchObject({ type: 'CLUSTER_AUTHORIZATION_FAILED' });
    expect((await producers.current()).id).not.toBe(producer.id);
  });
});

test('a fenced producer cannot commit any more', async () => {
  const cluster = fakeCluster();
  const [one, other] = [producersOn(cluster), producersOn(cluster)];
  const producer = await one.current();
  await other.fence(producer.id);
  const commit = outcomeOf(producer.commit(contents(0, 'a')));
  await pass(10);
  expect(commit.error).toMatchObject({ type: 'INVALID_PRODUCER_EPOCH' });
  expect(cluster.log('out', 0)).toEqual([]);
  expect((await one.current()).id).not.toBe(producer.id);
});

test('a producer is fenced once for any number of partitions taken over at the same time', async () => {
  const cluster = fakeCluster();
  const [one, other] = [producersOn(cluster), producersOn(cluster)];
  const { id } = await one.current();
  const asked = cluster.requests.length;
  await Promise.all([0, 1, 2].map(() => other.fence(id)));
  await other.fence(id);
  expect(cluster.requests.slice(asked)).toEqual(['initProducerId']);
});
