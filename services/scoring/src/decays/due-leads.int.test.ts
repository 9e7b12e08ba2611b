// The index of due leads on a real database: it is asked only when a lead may be due.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WriteBehind, type ReadModel } from '@lead-scoring/read-model';
import { leadName } from '../leads/lead-batch.js';
import type { Lead } from '../leads/state.js';
import { idOf, ouId } from '../testing/builders.js';
import { openScoringRig } from '../testing/rig.js';
import { DueLeads } from './due-leads.js';

let rig: Awaited<ReturnType<typeof openScoringRig>>;
beforeAll(async () => {
  rig = await openScoringRig({ partitions: 1 });
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const at = (second: number) => new Date(Date.UTC(2026, 10, 29, 12, 0, second)).toISOString();
const listedAt = (second: number, offset: number) => ({ due_entry: { at: at(second), offset } }) as Lead;

/** The index of a partition of its own, and how often the database was asked for due leads. */
function openIndex(partition: number) {
  let asked = 0;
  const readModel: ReadModel = {
    ...rig.readModel,
    collection: (declaration) =>
      new Proxy(rig.readModel.collection(declaration), {
        get: (collection, name) => {
          const value: unknown = Reflect.get(collection, name, collection);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]): unknown => {
            const [filter] = given as [object?];
            if (name === 'find' && filter && 'due_at' in filter) asked += 1;
            return Reflect.apply(value, collection, given);
          };
        },
      }),
  };
  const index = new DueLeads(readModel, partition);
  const behind = new WriteBehind([index.states]);
  let offset = 0;
  return {
    asked: () => asked,
    forget: () => {
      index.forget();
    },
    decide: async (lead: string, second: number | null) => {
      const name = leadName(ouId, idOf(lead));
      await index.states.load([name]);
      offset += 1;
      index.put(name, second === null ? null : listedAt(second, offset));
    },
    due: async (second: number) =>
      (await index.due({ asOf: at(second), limit: 10 }, () => behind.write())).map(({ lead_id }) => lead_id),
  };
}

test('an index without a due lead is looked through twice a minute', async () => {
  const { due, asked } = openIndex(0);
  for (let second = 0; second < 60; second += 1) expect(await due(second)).toEqual([]);
  expect(asked()).toBe(2);
});

test('a lead is found in the second in which it becomes due, whether or not it was stored at the last look', async () => {
  const { due, decide, asked } = openIndex(1);
  await decide('stored before', 40);
  expect(await due(0)).toEqual([]);
  await decide('soon', 7);
  expect(await due(6)).toEqual([]);
  expect(asked()).toBe(1);
  expect(await due(7)).toEqual([idOf('soon')]);
  // Nothing is taken from the index until it is decided.
  expect(await due(8)).toEqual([idOf('soon')]);
  await decide('soon', null);
  expect(await due(9)).toEqual([]);
  const before = asked();
  expect(await due(38)).toEqual([]);
  expect(asked()).toBe(before);
  expect(await due(40)).toEqual([idOf('stored before')]);
});

test('what is due is found after the memory was dropped', async () => {
  const { due, decide, forget, asked } = openIndex(2);
  expect(await due(0)).toEqual([]);
  await decide('kept', 20);
  expect(await due(21)).toEqual([idOf('kept')]);
  forget();
  expect(await due(1)).toEqual([]);
  expect(asked()).toBe(3);
  expect(await due(21)).toEqual([idOf('kept')]);
});
