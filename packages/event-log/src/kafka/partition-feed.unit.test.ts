// The feed of all partitions of a process, with brokers that fail on demand and a fake clock.
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { PositionBeyondEnd } from '../errors.js';
import { codes, fakeTopics, type FakeTopics } from '../testing/fake-topics.js';
import { pause } from '../timing.js';
import { PartitionFeed, type BufferedRecords } from './partition-feed.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

interface Reading {
  feed: PartitionFeed;
  /** The taken records of each source, by topic and partition. */
  taken: Map<string, { offset: number; value: string }[]>;
  failed: { partition: number; error: unknown }[];
  lost: { name: string; wanted: bigint; earliest: bigint }[];
  answered: number[];
  takeAll(): void;
}

const nameOf = ({ topic, partition }: { topic: string; partition: number }) => `${topic}/${partition}`;

function readingOf(topics: FakeTopics, maxBytesPerSource = 1_000, gatherMs?: number): Reading {
  const reading: Reading = {
    feed: new PartitionFeed(topics.connection, {
      maxBytesPerSource,
      ...(gatherMs !== undefined && { gatherMs }),
      onArrival: () => undefined,
      onAnswer: (partition) => reading.answered.push(partition),
      onFailure: (partition, error) => reading.failed.push({ partition, error }),
      onOffsetLost: (source, wanted, earliest) =>
        reading.lost.push({ name: nameOf(source), wanted, earliest }),
    }),
    taken: new Map(),
    failed: [],
    lost: [],
    answered: [],
    takeAll() {
      for (const buffered of reading.feed.buffered()) take(reading, buffered);
    },
  };
  return reading;
}

function take({ feed, taken }: Reading, buffered: BufferedRecords): void {
  feed.take(buffered);
  const all = taken.get(nameOf(buffered)) ?? [];
  all.push(
    ...buffered.records.map(({ offset, value }) => ({ offset: Number(offset), value: String(value) })),
  );
  taken.set(nameOf(buffered), all);
}

const source = (partition: number, offset = 0, topic = 'in') => ({
  topic,
  partition,
  offset: BigInt(offset),
});
const valuesOf = ({ taken }: Reading, name: string) => (taken.get(name) ?? []).map(({ value }) => value);
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('the partitions that a process reads', () => {
  test('are read with one fetch from each broker, and appended records arrive at once', async () => {
    const topics = fakeTopics(2);
    for (const partition of [0, 1, 2, 3]) topics.append('in', partition, `a${partition}`);
    const reading = readingOf(topics);
    reading.feed.add([0, 1, 2, 3].map((partition) => source(partition)));
    await pass(1);
    reading.takeAll();
    expect(topics.fetches).toHaveLength(2);
    await pass(100);
    topics.append('in', 3, 'b3');
    await pass(1);
    reading.takeAll();
    expect([0, 1, 2, 3].map((partition) => valuesOf(reading, `in/${partition}`))).toEqual([
      ['a0'],
      ['a1'],
      ['a2'],
      ['a3', 'b3'],
    ]);
    reading.feed.close();
  });

  test('are read ten times a second by a reader that gathers, and faster while it is behind', async () => {
    const topics = fakeTopics();
    const reading = readingOf(topics, 20, 100);
    reading.feed.add([source(0)]);
    for (let at = 0; at < 100; at += 1) {
      topics.append('in', 0, 'a');
      await pass(10);
      reading.takeAll();
    }
    expect(topics.fetches.length).toBeLessThanOrEqual(11);
    expect(valuesOf(reading, 'in/0').length).toBeGreaterThanOrEqual(88);

    for (let at = 0; at < 100; at += 1) topics.append('in', 0, 'bbbbbbbb');
    for (let at = 0; at < 120; at += 1) {
      await pass(10);
      reading.takeAll();
    }
    expect(valuesOf(reading, 'in/0')).toHaveLength(200);
    reading.feed.close();
  });

  test('that are added during a waiting fetch are read within 250 ms', async () => {
    const topics = fakeTopics();
    const reading = readingOf(topics);
    reading.feed.add([source(0)]);
    await pass(1);
    topics.append('in', 1, 'a');
    reading.feed.add([source(1)]);
    await pass(251);
    reading.takeAll();
    expect(valuesOf(reading, 'in/1')).toEqual(['a']);
    reading.feed.close();
  });

  test('removed and added again at another offset during a fetch skip no record', async () => {
    const topics = fakeTopics();
    for (const value of ['a', 'b', 'c', 'd']) topics.append('in', 0, value);
    topics.delayMs = 50;
    const reading = readingOf(topics);
    reading.feed.add([source(0, 2)]);
    await pass(10);
    reading.feed.remove(0);
    reading.feed.add([source(0, 1)]);
    await pass(300);
    reading.takeAll();
    expect(valuesOf(reading, 'in/0')).toEqual(['b', 'c', 'd']);
    reading.feed.close();
  });

  test('a source with a full buffer is not fetched until it is taken, and the others are', async () => {
    const topics = fakeTopics();
    for (const value of ['aaaa', 'bbbb', 'cccc']) topics.append('in', 0, value);
    const reading = readingOf(topics, 8);
    reading.feed.add([source(0), source(1)]);
    await pass(100);
    topics.append('in', 1, 'x');
    await pass(30);
    expect(reading.feed.buffered().map((one) => [one.partition, one.records.length])).toEqual([
      [0, 2],
      [1, 1],
    ]);
    reading.takeAll();
    await pass(30);
    reading.takeAll();
    expect(valuesOf(reading, 'in/0')).toEqual(['aaaa', 'bbbb', 'cccc']);
    reading.feed.close();
  });

  test('a source whose leader has moved is read from its new leader, without effect on the others', async () => {
    const topics = fakeTopics(2);
    for (const partition of [0, 2, 4]) topics.append('in', partition, 'a');
    const reading = readingOf(topics);
    reading.feed.add([0, 2, 4].map((partition) => source(partition)));
    await pass(1);
    topics.partition('in', 2).leader = 1;
    for (const partition of [0, 2, 4]) topics.append('in', partition, 'b');
    await pass(1_000);
    reading.takeAll();
    for (const partition of [0, 2, 4]) expect(valuesOf(reading, `in/${partition}`)).toEqual(['a', 'b']);
    expect(reading.failed).toEqual([]);
    reading.feed.close();
  });

  test('a source with a permanent error is given up with the error, without effect on the others', async () => {
    const topics = fakeTopics();
    topics.partition('in', 1).code = codes.topicAuthorizationFailed;
    const reading = readingOf(topics);
    reading.feed.add([source(0), source(1)]);
    await pass(10);
    topics.append('in', 0, 'a');
    await pass(500);
    reading.takeAll();
    expect(reading.failed).toMatchObject([{ partition: 1, error: { type: 'TOPIC_AUTHORIZATION_FAILED' } }]);
    expect(valuesOf(reading, 'in/0')).toEqual(['a']);
    reading.feed.close();
  });

  test.each([
    ['that has no leader', (topics: FakeTopics) => (topics.partition('in', 1).leader = undefined)],
    ['whose broker cannot be reached', (topics: FakeTopics) => topics.failNext(1, undefined, 1_000)],
    [
      'whose broker says that it does not lead it',
      (topics: FakeTopics) => (topics.partition('in', 1).code = 6),
    ],
  ])('one %s is given up after ten seconds with the error, and leaves the others', async (_, fail) => {
    const topics = fakeTopics(2);
    const reading = readingOf(topics);
    reading.feed.add([source(0), source(1)]);
    await pass(10);
    fail(topics);
    topics.append('in', 1, 'wakes');
    await pass(9_000);
    expect(reading.failed).toEqual([]);
    topics.append('in', 0, 'a');
    await pass(2_500);
    reading.takeAll();
    expect(reading.failed.map(({ partition }) => partition)).toEqual([1]);
    expect(reading.failed[0]?.error).toBeInstanceOf(Error);
    expect(valuesOf(reading, 'in/0')).toEqual(['a']);
    reading.feed.close();
  });

  test('records deleted by retention are reported, and the rest is read', async () => {
    const topics = fakeTopics();
    Object.assign(topics.partition('in', 0), { earliest: 5, values: ['f', 'g'] });
    const reading = readingOf(topics);
    reading.feed.add([source(0, 2), source(1)]);
    await pass(50);
    reading.takeAll();
    expect(reading.lost).toEqual([{ name: 'in/0', wanted: 2n, earliest: 5n }]);
    expect(valuesOf(reading, 'in/0')).toEqual(['f', 'g']);
    expect(reading.failed).toEqual([]);
    reading.feed.close();
  });

  test('a source that ends before its position is given up after staleLeaderMs, without effect on the others', async () => {
    const topics = fakeTopics();
    topics.append('in', 0, 'a');
    const reading = readingOf(topics);
    reading.feed.add([source(0, 3), source(1)]);
    await pass(1_000);
    topics.append('in', 1, 'x');
    await pass(100);
    reading.takeAll();
    expect(valuesOf(reading, 'in/1')).toEqual(['x']);
    expect(reading.failed).toEqual([]);
    await pass(5_000);
    expect(reading.failed.map(({ partition }) => partition)).toEqual([0]);
    expect(reading.failed[0]?.error).toBeInstanceOf(PositionBeyondEnd);
    reading.feed.close();
  });

  test('a source whose new leader learns the missing records in time continues', async () => {
    const topics = fakeTopics();
    topics.append('in', 0, 'a');
    const reading = readingOf(topics);
    reading.feed.add([source(0, 3)]);
    await pass(1_000);
    for (const value of ['b', 'c', 'd']) topics.append('in', 0, value);
    await pass(1_000);
    reading.takeAll();
    expect(valuesOf(reading, 'in/0')).toEqual(['d']);
    expect(reading.failed).toEqual([]);
    reading.feed.close();
  });

  test('records of the old leader that arrive during an offset look-up at the new one are not read twice', async () => {
    const topics = fakeTopics(2);
    for (let at = 0; at < 10; at++) topics.append('in', 0, String(at));
    const find = topics.connection.offset.bind(topics.connection);
    topics.connection.offset = async (...asked) => {
      await pause(500);
      return find(...asked);
    };
    const reading = readingOf(topics);
    // The old leader has read its records, and its answer is late; the new one does not have the older records.
    topics.delayMs = 400;
    reading.feed.add([source(0), source(1)]);
    await pass(1);
    topics.delayMs = 0;
    Object.assign(topics.partition('in', 0), { leader: 1, earliest: 4 });
    topics.partition('in', 0).values.splice(0, 4);
    // The other partition of the new leader causes a refresh of the leaders.
    topics.partition('in', 1).code = codes.notLeader;
    topics.append('in', 1, 'wakes');
    await pass(200);
    topics.partition('in', 1).code = undefined;
    await pass(3_000);
    reading.takeAll();
    expect(valuesOf(reading, 'in/0')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(String));
    reading.feed.close();
  });

  test('a source whose broker does not lead it is requested at most ten times a second', async () => {
    const topics = fakeTopics();
    const reading = readingOf(topics);
    reading.feed.add([source(0), source(1)]);
    await pass(1);
    topics.partition('in', 1).code = codes.notLeader;
    topics.append('in', 1, 'wakes');
    await pass(2_000);
    const asked = topics.fetches.filter((fetch) =>
      fetch.topics.some(({ partitions }) => partitions.some(({ partition }) => partition === 1)),
    );
    expect(asked.length).toBeLessThan(25);
    topics.append('in', 0, 'a');
    await pass(25);
    reading.takeAll();
    expect(valuesOf(reading, 'in/0')).toEqual(['a']);
    reading.feed.close();
  });

  test('a closed feed delivers and reports nothing, also from a fetch that was running', async () => {
    const topics = fakeTopics();
    topics.append('in', 0, 'a');
    topics.delayMs = 100;
    const reading = readingOf(topics);
    reading.feed.add([source(0)]);
    await pass(10);
    reading.feed.close();
    await pass(60_000);
    expect(reading.feed.buffered()).toEqual([]);
    expect(reading.failed).toEqual([]);
    expect(topics.isClosed()).toBe(true);
    expect(topics.fetches).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('a source with undecodable records is given up with the error, without effect on the others', async () => {
    const topics = fakeTopics();
    topics.partition('in', 1).unreadable = new Error('records of compression 4 cannot be read');
    const reading = readingOf(topics);
    reading.feed.add([source(0), source(1)]);
    topics.append('in', 0, 'a');
    topics.append('in', 1, 'b');
    await pass(500);
    reading.takeAll();
    expect(reading.failed).toMatchObject([
      { partition: 1, error: { message: 'records of compression 4 cannot be read' } },
    ]);
    expect(valuesOf(reading, 'in/0')).toEqual(['a']);
    reading.feed.close();
  });
});

type Step =
  | { kind: 'append' | 'take' | 'fail' | 'open' | 'slow' | 'move'; partition: number; to: number; ms: number }
  | { kind: 'pass'; ms: number; partition: number; to: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('append', 'append', 'take', 'fail', 'open', 'slow', 'move', 'pass', 'pass'),
    partition: fc.nat(3),
    to: fc.nat(3),
    ms: fc.integer({ min: 1, max: 400 }),
  }),
  { maxLength: 60, size: 'max' },
);

test.each([1, 3])(
  'each source delivers its records once and in order under any failures: %i brokers',
  async (brokers) => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const topics = fakeTopics(brokers);
        const reading = readingOf(topics, 12);
        const partitions = [0, 1, 2, 3];
        const appended = new Map(partitions.map((partition) => [partition, 0]));
        /** The offset at which each source was opened last. */
        const openedAt = new Map(partitions.map((partition) => [partition, 0]));
        const append = (partition: number) => {
          const at = appended.get(partition) ?? 0;
          topics.append('in', partition, `v${at}`);
          appended.set(partition, at + 1);
        };
        reading.feed.add(partitions.map((partition) => source(partition)));
        for (const { kind, partition, to, ms } of all) {
          if (kind === 'append') append(partition);
          else if (kind === 'take')
            reading.feed.buffered().forEach((one) => {
              if (one.partition === partition) take(reading, one);
            });
          else if (kind === 'fail') topics.failNext(to % brokers);
          else if (kind === 'slow') topics.delayMs = ms > 200 ? 0 : ms;
          else if (kind === 'move')
            topics.partition('in', partition).leader = to === 3 ? undefined : to % brokers;
          else if (kind === 'open') {
            const offset = Math.min(to, appended.get(partition) ?? 0);
            reading.feed.remove(partition);
            reading.taken.delete(`in/${partition}`);
            openedAt.set(partition, offset);
            reading.feed.add([source(partition, offset)]);
          } else await pass(ms);
        }
        for (const partition of partitions) {
          topics.partition('in', partition).leader ??= 0;
          append(partition);
        }
        topics.delayMs = 0;
        for (let round = 0; round < 60; round++) {
          await pass(100);
          reading.takeAll();
        }
        reading.feed.close();
        await pass(1_000);
        const gaveUp = new Set(reading.failed.map(({ partition }) => partition));
        for (const partition of partitions) {
          if (gaveUp.has(partition)) continue;
          const from = openedAt.get(partition) ?? 0;
          const expected = Array.from({ length: (appended.get(partition) ?? 0) - from }, (_, at) => ({
            offset: from + at,
            value: `v${from + at}`,
          }));
          expect(reading.taken.get(`in/${partition}`)).toEqual(expected);
        }
      }),
      { numRuns: 60 },
    );
  },
  60_000,
);
