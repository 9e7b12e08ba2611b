// When a batch is due, and what queues promise whatever happens in whichever order.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dueIn } from './batching.js';
import { createMemoryQueue } from './memory-queue.js';
import { settledPlaces, sizeOf, type QueuedBatch } from './queue.js';

const limits = { events: 10, bytes: 1_000 };

describe('a batch is due', () => {
  const waiting = { events: 3, bytes: 300, since: 5_000, wanted: false };

  test('when its first event has waited for the linger time, and not before', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(1_000), (waited, lingerMs) => {
        expect(dueIn(waiting, limits, lingerMs, 5_000 + waited)).toBe(Math.max(0, lingerMs - waited));
      }),
    );
  });

  test('at once when it is full by number or by bytes, or somebody waits for it', () => {
    for (const more of [{ events: 10 }, { bytes: 1_000 }, { wanted: true }])
      expect(dueIn({ ...waiting, ...more }, limits, 60_000, 5_000)).toBe(0);
  });

  test('never when nothing waits', () => {
    expect(dueIn({ events: 0, bytes: 0, since: null, wanted: true }, limits, 0, 5_000)).toBeNull();
  });
});

test('a queue is settled up to the first batch that is not, in whichever order the batches are settled', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 20 });
  fc.assert(
    fc.property(
      sizes.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all.map((_, index) => index)))),
      ([all, order]) => {
        const settled = settledPlaces();
        const end = (index: number) => all.slice(0, index + 1).reduce((sum, size) => sum + size, 0);
        for (const index of order) settled.settle({ bytes: all[index] ?? 0, end: end(index) });
        const firstLeft = all.findIndex((_, index) => !order.includes(index));
        expect(settled.place).toBe(end((firstLeft < 0 ? all.length : firstLeft) - 1));
      },
    ),
  );
});

const operations = fc.array(
  fc.oneof(
    fc.record({ add: fc.string({ maxLength: 40 }) }),
    fc.record({
      take: fc.record({ events: fc.integer({ min: 1, max: 5 }), bytes: fc.integer({ min: 1, max: 80 }) }),
    }),
    fc.record({ settle: fc.nat() }),
  ),
  { maxLength: 60 },
);

test('a queue in memory gives each event once, in order, within the limits of a batch, and keeps those that are not settled', async () => {
  await fc.assert(
    fc.asyncProperty(operations, async (all) => {
      const queue = createMemoryQueue(100);
      const added: string[] = [];
      const given: string[] = [];
      const unsettled: QueuedBatch[] = [];
      for (const operation of all) {
        if ('add' in operation) {
          // The door of the queue adds nothing to a full one.
          if (queue.isFull(sizeOf(operation.add))) continue;
          await queue.add(operation.add);
          added.push(operation.add);
          expect(queue.bytes).toBeLessThanOrEqual(Math.max(100, sizeOf(operation.add)));
        } else if ('take' in operation) {
          const batch = await queue.take(operation.take);
          if (!batch) continue;
          expect(batch.lines.length).toBeLessThanOrEqual(operation.take.events);
          if (batch.lines.length > 1) expect(batch.bytes).toBeLessThanOrEqual(operation.take.bytes);
          given.push(...batch.lines);
          unsettled.push(batch);
        } else {
          const [batch] = unsettled.splice(operation.settle % Math.max(1, unsettled.length), 1);
          if (batch) await queue.settle(batch);
        }
      }
      expect(given).toEqual(added.slice(0, given.length));
      const left = [...unsettled.flatMap(({ lines }) => lines), ...added.slice(given.length)];
      expect(queue.bytes).toBe(left.reduce((sum, line) => sum + sizeOf(line), 0));
      expect(await queue.close()).toEqual(left);
    }),
  );
});
