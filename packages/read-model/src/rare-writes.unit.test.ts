// Documents that are written rarely: what they lack is named until it is stored.
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { RareWrites } from './rare-writes.js';
import { WriteBehind, type WriteBuffer } from './write-behind.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const notAwaited = () => new AbortController().signal;

/** A buffer whose writes end when the test says so. */
function setUp() {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const buffer: WriteBuffer = {
    size: 0,
    take: () => ({
      write: () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
      stored: () => undefined,
    }),
    forget: () => undefined,
  };
  const rare = new RareWrites(new WriteBehind([buffer]), 5_000);
  return { rare, ends, later: (ms: number) => jest.advanceTimersByTimeAsync(ms) };
}

test('changes are written five seconds after the first of them, and named until they are stored', async () => {
  const { rare, ends, later } = setUp();
  expect(rare.from).toBeNull();
  rare.changed(7n);
  await rare.write(notAwaited());
  await later(4_000);
  rare.changed(20n);
  await rare.write(notAwaited());
  expect(ends).toHaveLength(0);
  await later(1_000);
  expect(ends).toHaveLength(1);
  // Later changes wait for a write of their own.
  rare.changed(31n);
  expect(rare.from).toBe(7n);
  ends[0]?.resolve();
  await later(0);
  expect(rare.from).toBe(31n);
  await rare.write(notAwaited());
  await later(5_000);
  ends[1]?.resolve();
  await later(0);
  expect(rare.from).toBeNull();
});

test('a write that somebody waits for begins at once, and takes the place of the later one', async () => {
  const { rare, ends, later } = setUp();
  rare.changed(7n);
  await rare.write(notAwaited());
  const written = rare.write(AbortSignal.abort());
  await later(0);
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  await written;
  expect(rare.from).toBeNull();
  await later(10_000);
  expect(ends).toHaveLength(1);
});

test('what a failed write should have stored stays named, until the memory is dropped', async () => {
  const { rare, ends, later } = setUp();
  rare.changed(7n);
  await rare.write(notAwaited());
  await later(5_000);
  ends[0]?.reject(new Error('away'));
  await later(0);
  rare.changed(9n);
  expect(rare.from).toBe(7n);
  await expect(rare.write(AbortSignal.abort())).rejects.toThrow('away');
  rare.forget();
  expect(rare.from).toBeNull();
});

test('nothing is written once the partition is closed', async () => {
  const { rare, ends, later } = setUp();
  rare.changed(7n);
  await rare.write(notAwaited());
  rare.close();
  await later(10_000);
  expect(ends).toHaveLength(0);
  expect(rare.from).toBe(7n);
});
