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

  describe('of readers in this process', () => {
    /** A reader of partition 0, of which the process hears; a look would see a reader that is far ahead. */
    function ownReader() {
      let offset = 0n;
      let isOwner = true;
      let looks = 0;
      let tell: () => void = () => undefined;
      const watch = createPositionWatch(
        () => {
          looks += 1;
          return Promise.resolve(new Map([[0, at(1_000n)]]));
        },
        {
          timeoutMs: 10_000,
          own: {
            positions: (partitions) =>
              isOwner && partitions.every((one) => one === 0) ? new Map([[0, at(offset)]]) : null,
            moved: () =>
              new Promise((resolve) => {
                tell = resolve;
              }),
          },
        },
      );
      return {
        watch,
        looks: () => looks,
        comesTo: (reached: bigint) => {
          offset = reached;
          tell();
        },
        isLost: () => {
          isOwner = false;
          tell();
        },
      };
    }

    test('ends when they come to the position, without a look', async () => {
      const { watch, looks, comesTo } = ownReader();
      const reached = watch.until('ingest.commands', [{ partition: 0, offset: 2n }]);
      comesTo(1n);
      await Promise.resolve();
      setImmediate(() => {
        comesTo(2n);
      });
      expect(await reached).toEqual(new Map([[0, at(2n)]]));
      expect(looks()).toBe(0);
    });

    test('looks for readers that another process has taken over, whether or not this process has noticed', async () => {
      const noticed = ownReader();
      const reached = noticed.watch.until('ingest.commands', [{ partition: 0, offset: 2n }]);
      noticed.isLost();
      expect(await reached).toEqual(new Map([[0, at(1_000n)]]));
      const unnoticed = ownReader();
      expect(await unnoticed.watch.until('ingest.commands', [{ partition: 0, offset: 2n }])).toEqual(
        new Map([[0, at(1_000n)]]),
      );
      expect(unnoticed.looks()).toBe(1);
    });

    test('looks although other partitions of this process come further all the time', async () => {
      const { watch, looks, comesTo } = ownReader();
      const others = setInterval(() => {
        comesTo(1n);
      }, 1);
      try {
        expect(await watch.until('ingest.commands', [{ partition: 0, offset: 2n }])).toEqual(
          new Map([[0, at(1_000n)]]),
        );
        expect(looks()).toBe(1);
      } finally {
        clearInterval(others);
      }
    });

    test('looks where other processes have some of the partitions', async () => {
      const { watch, looks } = ownReader();
      const wanted = [
        { partition: 0, offset: 1n },
        { partition: 3, offset: 1n },
      ];
      expect(await watch.until('ingest.commands', wanted, AbortSignal.abort())).toBeNull();
      expect(looks()).toBe(1);
    });
  });
});
