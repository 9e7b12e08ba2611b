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

test('changes are written when the first has waited for five seconds, and named until they are stored', async () => {
  const { rare, ends, later } = setUp();
  expect(rare.from).toBeNull();
  rare.changed(7n);
  await rare.write(notAwaited());
  await later(4_000);
  rare.changed(20n);
  await rare.write(notAwaited());
  expect(ends).toHaveLength(0);
  await later(1_000);
  const written = rare.write(notAwaited());
  await later(0);
  expect(ends).toHaveLength(1);
  rare.changed(31n);
  expect(rare.from).toBe(7n);
  ends[0]?.resolve();
  await written;
  // The later change waits for a write of its own.
  expect(rare.from).toBe(31n);
  await rare.write(notAwaited());
  expect(ends).toHaveLength(1);
});

test('changes that somebody waits for are written at once', async () => {
  const { rare, ends, later } = setUp();
  rare.changed(7n);
  const written = rare.write(AbortSignal.abort());
  await later(0);
  ends[0]?.resolve();
  await written;
  expect(rare.from).toBeNull();
  await rare.write(AbortSignal.abort());
  expect(ends).toHaveLength(1);
});

test('what a failed write should have stored stays named, until the memory is dropped', async () => {
  const { rare, ends, later } = setUp();
  rare.changed(7n);
  const written = rare.write(AbortSignal.abort());
  await later(0);
  ends[0]?.reject(new Error('away'));
  await expect(written).rejects.toThrow('away');
  rare.changed(9n);
  expect(rare.from).toBe(7n);
  rare.forget();
  expect(rare.from).toBeNull();
});
