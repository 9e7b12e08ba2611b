import { describe, expect, test } from '@jest/globals';
import { createPositionWatch, type ReaderPositions } from './position-watch.js';

/** A reader of two partitions that comes one record further with each look. */
function movingReader() {
  let looks = 0;
  return {
    look: () => {
      looks += 1;
      const positions = { 'ingest.commands': BigInt(looks) };
      return Promise.resolve(
        new Map<number, ReaderPositions>([
          [0, { positions }],
          [4, { positions }],
        ]),
      );
    },
    looks: () => looks,
  };
}

const at = (offset: bigint): ReaderPositions => ({ positions: { 'ingest.commands': offset } });

describe('waiting for positions', () => {
  test('ends as soon as the reader has come to all of them', async () => {
    const { look } = movingReader();
    const watch = createPositionWatch(look, { timeoutMs: 10_000, shortestPauseMs: 1 });
    const wanted = [
      { partition: 0, offset: 2n },
      { partition: 4, offset: 3n },
    ];
    expect(await watch.until('ingest.commands', wanted)).toEqual(
      new Map([
        [0, at(3n)],
        [4, at(3n)],
      ]),
    );
  });

  test('ends with null after the time limit or when the caller goes, and at once where nothing is wanted', async () => {
    const look = () => Promise.resolve(new Map<number, ReaderPositions>());
    const never = [{ partition: 0, offset: 99n }];
    expect(await createPositionWatch(look, { timeoutMs: 30 }).until('ingest.commands', never)).toBeNull();
    const watch = createPositionWatch(look, { timeoutMs: 60_000 });
    expect(await watch.until('ingest.commands', never, AbortSignal.abort())).toBeNull();
    expect(await watch.until('ingest.commands', [])).toEqual(new Map());
  });

  test('a thousand who wait share the looks after their first', async () => {
    const { look, looks } = movingReader();
    const watch = createPositionWatch(look, { timeoutMs: 10_000, shortestPauseMs: 1 });
    const waits = Array.from({ length: 1_000 }, () =>
      watch.until('ingest.commands', [{ partition: 0, offset: 1_005n }]),
    );
    for (const reached of await Promise.all(waits)) expect(reached).toEqual(new Map([[0, at(1_005n)]]));
    expect(looks()).toBe(1_005);
  });

  test('a look that fails fails the waits that share it', async () => {
    const watch = createPositionWatch(() => Promise.reject(new Error('away')), { timeoutMs: 10_000 });
    await expect(watch.until('ingest.commands', [{ partition: 0, offset: 1n }])).rejects.toThrow('away');
  });
});
