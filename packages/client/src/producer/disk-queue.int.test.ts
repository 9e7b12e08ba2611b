// A queue on disk gives every event until it is settled, whatever crashes when.
import { appendFile, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openDiskQueue } from './disk-queue.js';
import { lockFolder } from './folder-lock.js';
import type { EventQueue, QueuedBatch } from './queue.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lead-scoring-queue-'));
});
afterEach(async () => {
  for (const queue of queues.splice(0)) await queue.close();
  await rm(folder, { recursive: true, force: true });
});

const unreadable: string[] = [];
/** Node ends a process that leaves a file open until its handle is collected. */
const queues: EventQueue[] = [];
const opened = async (segmentBytes = 200) => {
  const queue = await openDiskQueue({
    folder,
    sync: false,
    maximumBytes: 1_000_000,
    segmentBytes,
    onUnreadable: (lines) => unreadable.push(...lines),
  });
  queues.push(queue);
  return queue;
};
const event = (index: number, text = '') => JSON.stringify({ index, text });
const segments = async () => (await readdir(folder)).filter((name) => name.endsWith('.ndjson')).sort();

async function rest(queue: EventQueue): Promise<string[]> {
  const lines: string[] = [];
  for (
    let batch = await queue.take({ events: 7, bytes: 100 });
    batch;
    batch = await queue.take({ events: 7, bytes: 100 })
  )
    lines.push(...batch.lines);
  return lines;
}

const operations = fc.array(
  fc.oneof(
    fc.record({
      add: fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { minLength: 1, maxLength: 6 }),
    }),
    fc.record({
      take: fc.record({ events: fc.integer({ min: 1, max: 5 }), bytes: fc.integer({ min: 1, max: 300 }) }),
    }),
    fc.record({ settle: fc.nat() }),
    fc.record({ crash: fc.constantFrom('', '{"half', '{') }),
  ),
  { maxLength: 40 },
);

test('nothing is lost, and nothing is given twice in a run, whatever is added, taken, settled and crashed in whichever order', async () => {
  await fc.assert(
    fc.asyncProperty(operations, async (all) => {
      await rm(folder, { recursive: true, force: true });
      let queue = await opened();
      let added = 0;
      /** Indexes of events that were not settled, and of those that this run has not given. */
      const unsettled = new Set<number>();
      let expected: number[] = [];
      let batches: QueuedBatch[] = [];
      const indexesOf = (lines: readonly string[]) =>
        lines.map((line) => (JSON.parse(line) as { index: number }).index);
      for (const operation of all) {
        if ('add' in operation) {
          await Promise.all(
            operation.add.map((text) => {
              unsettled.add(added);
              expected.push(added);
              added += 1;
              return queue.add(event(added - 1, text));
            }),
          );
        } else if ('take' in operation) {
          const batch = await queue.take(operation.take);
          if (!batch) {
            expect(expected).toEqual([]);
            continue;
          }
          expect(batch.lines.length).toBeLessThanOrEqual(operation.take.events);
          if (batch.lines.length > 1) expect(batch.bytes).toBeLessThanOrEqual(operation.take.bytes);
          expect(indexesOf(batch.lines)).toEqual(expected.splice(0, batch.lines.length));
          batches.push(batch);
        } else if ('settle' in operation) {
          const [batch] = batches.splice(operation.settle % Math.max(1, batches.length), 1);
          if (!batch) continue;
          await queue.settle(batch);
          for (const index of indexesOf(batch.lines)) unsettled.delete(index);
        } else {
          // Closing writes nothing: what is in the files is what a crash leaves, but for an unfinished line.
          await queue.close();
          const last = (await segments()).at(-1);
          if (last !== undefined) await appendFile(join(folder, last), operation.crash);
          queue = await opened();
          batches = [];
          // Events behind one that was not settled are given again, settled or not.
          const first = Math.min(...unsettled);
          expected = Array.from({ length: added }, (_, index) => index).filter((index) => index >= first);
          for (const index of expected) unsettled.add(index);
        }
      }
      expect(indexesOf(await rest(queue))).toEqual(expected);
      await queue.close();
    }),
    { numRuns: 60 },
  );
}, 120_000);

test('segments go when all of their events are settled, and a new process begins none under an old number', async () => {
  const queue = await opened();
  for (let index = 0; index < 30; index += 1) await queue.add(event(index));
  expect((await segments()).length).toBeGreaterThan(2);
  for (
    let batch = await queue.take({ events: 5, bytes: 1_000 });
    batch;
    batch = await queue.take({ events: 5, bytes: 1_000 })
  )
    await queue.settle(batch);
  expect(await segments()).toHaveLength(1);
  await queue.close();
  const again = await opened();
  expect(again.bytes).toBe(0);
  await again.add(event(30));
  await again.close();
  expect(await rest(await opened())).toEqual([event(30)]);
});

test('damaged lines are reported and skipped, and a damaged place begins at the first event that is there', async () => {
  const queue = await opened(1_000_000);
  for (let index = 0; index < 4; index += 1) await queue.add(event(index));
  const batch = await queue.take({ events: 1, bytes: 1_000 });
  if (batch) await queue.settle(batch);
  await queue.close();
  const [segment = ''] = await segments();
  await appendFile(join(folder, segment), '\0\0\0\n[1]\n');
  await writeFile(join(folder, 'settled'), '');
  unreadable.length = 0;
  expect(await rest(await opened())).toEqual([0, 1, 2, 3].map((index) => event(index)));
  expect(unreadable).toEqual(['\0\0\0', '[1]']);
  // A place behind the end of a file that lost its end.
  await writeFile(join(folder, 'settled'), `${Number(segment.slice(0, 12))} 999999\n`);
  await truncate(join(folder, segment), 10);
  expect(await rest(await opened())).toEqual([]);
});

test('a folder that cannot be written is an error of add, and what was added before stays', async () => {
  const queue = await opened(1);
  await queue.add(event(0));
  await rm(folder, { recursive: true });
  await expect(queue.add(event(1))).rejects.toThrow('ENOENT');
  expect(queue.bytes).toBe(event(0).length + 1);
});

test('a folder is of one producer at a time; that of a killed process is free', async () => {
  const unlock = await lockFolder(folder);
  await expect(lockFolder(`${folder}/.`)).rejects.toThrow('another producer of this process');
  await unlock();
  // A process that runs, and the same number with the start of another process.
  await writeFile(join(folder, 'lock'), '999999999 12345\n');
  await (
    await lockFolder(folder)
  )();
  await writeFile(join(folder, 'lock'), `${process.ppid} 1\n`);
  await (
    await lockFolder(folder)
  )();
});
