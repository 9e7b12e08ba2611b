// When a partition without progress ends the process, and when not: with a fake clock.
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { pino } from 'pino';
import { internals, type EventLog } from './event-log.js';
import { createProcessingMetrics } from './metrics.js';
import { startPartitionLoop, type PartitionLoop } from './partition-loop.js';
import type { Session } from './session.js';
import type { Touch } from './liveness.js';

const minute = 60_000;
const metrics = createProcessingMetrics('ingest');
const fatal: string[] = [];
const loops: PartitionLoop[] = [];

beforeEach(() => {
  jest.useFakeTimers();
  fatal.length = 0;
});
afterEach(async () => {
  for (const loop of loops.splice(0)) void loop.stop();
  await jest.advanceTimersByTimeAsync(minute);
  jest.useRealTimers();
});

/** A partition's loop whose sessions are opened by `open`. */
function loopOf(
  open: (touch: Touch, touchByBroker: Touch) => Promise<Session>,
  { moved = () => undefined, isRetriable = true }: { moved?: () => void; isRetriable?: boolean } = {},
): PartitionLoop {
  const loop = startPartitionLoop({
    log: { [internals]: { logger: pino({ level: 'silent' }) } } as unknown as EventLog,
    partition: 0,
    membership: () => ({
      confirmedSince: () => Promise.resolve(),
      joined: () => true,
      leasedUntil: () => Infinity,
      commitOffsets: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    }),
    metrics,
    isMine: () => true,
    feed: () => Promise.resolve(),
    moved,
    open: (_, touch, touchByBroker) => open(touch, touchByBroker),
    isRetriable: () => isRetriable,
    isSilence: (error) => error instanceof Error && error.message === 'the database is silent',
    onFatal: (error) => void fatal.push(error.message),
  });
  loops.push(loop);
  return loop;
}

const never = () => new Promise<never>(() => undefined);
const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const session = (): Session => ({
  positions: new Map(),
  handle: () => Promise.resolve(),
  close: () => Promise.resolve(),
});

describe('a partition', () => {
  test('that reports progress while it opens for five minutes is opened', async () => {
    let opened = false;
    loopOf(async (touch) => {
      for (let second = 0; second < 300; second += 1) {
        await after(1_000);
        touch();
      }
      opened = true;
      await never();
      return session();
    });
    await jest.advanceTimersByTimeAsync(5 * minute + 1_000);
    expect(opened).toBe(true);
    expect(fatal).toEqual([]);
  });

  test('without progress is stalled first, and fatal early enough for the process to end within 60 s', async () => {
    const loop = loopOf(never);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(loop.state()).toEqual({ state: 'opening' });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(loop.state()).toEqual({ state: 'stalled' });
    expect(fatal).toEqual([]);
    await jest.advanceTimersByTimeAsync(minute - 10_000 - 15_000);
    expect(fatal).toEqual([
      expect.stringMatching(/partition 0 has made no progress for 4\d s while opening/),
    ]);
  });

  test('whose process was suspended for an hour is not fatal', async () => {
    loopOf(never);
    await jest.advanceTimersByTimeAsync(5_000);
    jest.setSystemTime(Date.now() + 60 * minute);
    const now = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + 60 * minute);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(fatal).toEqual([]);
    await jest.advanceTimersByTimeAsync(15_000);
    expect(fatal).toHaveLength(1);
    later.mockRestore();
  });

  test('with progress calls moved() for the waiting partitions', async () => {
    let calls = 0;
    loopOf(
      async (touch) => {
        await after(1_000);
        touch();
        return never();
      },
      { moved: () => void (calls += 1) },
    );
    await jest.advanceTimersByTimeAsync(500);
    expect(calls).toBe(0);
    await jest.advanceTimersByTimeAsync(minute);
    expect(calls).toBe(1);
    expect(fatal).toHaveLength(1);
  });
});

describe('a server', () => {
  test.each([
    ['the broker refuses connections', new kafkajs.KafkaJSConnectionError('refused')],
    ['the broker has closed the connection', new kafkajs.KafkaJSConnectionError('closed')],
    ['the database refuses connections', Object.assign(new Error('ECONNREFUSED'), { retriable: true })],
  ])('that is away for ten minutes is waited for: %s', async (_, failure) => {
    const loop = loopOf(() => Promise.reject(failure));
    await jest.advanceTimersByTimeAsync(10 * minute);
    expect(fatal).toEqual([]);
    expect(loop.state().state).toBe('waiting');
  });

  test.each([
    ['the broker', new kafkajs.KafkaJSRequestTimeoutError('timed out'), 30_000],
    [
      'the broker, as the cause of another error',
      new Error('given up', { cause: new kafkajs.KafkaJSRequestTimeoutError('timed out') }),
      10_000,
    ],
    ['the database', new Error('the database is silent'), 10_000],
  ])('that takes what it is sent and says nothing ends the process: %s', async (_, failure, timeoutMs) => {
    loopOf(async () => {
      await after(timeoutMs);
      throw failure;
    });
    await jest.advanceTimersByTimeAsync(minute - 10_000);
    expect(fatal).toEqual([expect.stringMatching(/partition 0 has made no progress/)]);
    expect(fatal[0]).toContain(failure.message);
  });
});

test('a database that does not answer ends the process, although the brokers answer', async () => {
  loopOf(async (_, touchByBroker) => {
    touchByBroker();
    await after(10_000);
    throw new Error('the database is silent');
  });
  await jest.advanceTimersByTimeAsync(minute - 10_000);
  expect(fatal).toEqual([expect.stringMatching(/made no progress.*the database is silent/)]);
});

test('a database that did not answer once and then answers does not end the process', async () => {
  let isSilent = true;
  loopOf(async (touch) => {
    await after(10_000);
    if (isSilent) {
      isSilent = false;
      throw new Error('the database is silent');
    }
    for (let second = 0; second < 300; second += 1) {
      await after(1_000);
      touch();
    }
    throw new TypeError('five minutes later');
  });
  await jest.advanceTimersByTimeAsync(5 * minute);
  expect(fatal).toEqual([]);
});

test.each([TypeError, RangeError, SyntaxError])(
  'a repeated %p in a session ends the process',
  async (Fault) => {
    loopOf(() => Promise.reject(new Fault('undefined is not a function')), { isRetriable: false });
    await jest.advanceTimersByTimeAsync(minute - 10_000);
    expect(fatal).toEqual([expect.stringContaining('undefined is not a function')]);
  },
);
