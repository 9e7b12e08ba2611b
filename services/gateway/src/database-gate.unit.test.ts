// While the database is away, requests do not queue for it.
import { expect, jest, test } from '@jest/globals';
import { ReadModelError } from '@lead-scoring/read-model';
import { createDatabaseGate } from './database-gate.js';

const away = new ReadModelError('database_unavailable', 'away', true);

test('one request a second tries, the others fail at once; after a success all are let through', async () => {
  let now = 0;
  const gate = createDatabaseGate(() => now);
  const failing = jest.fn(() => Promise.reject(away));
  const working = jest.fn(() => Promise.resolve(1));
  await expect(gate.run(failing)).rejects.toBe(away);
  await expect(gate.run(working)).rejects.toBe(away);
  expect(working).not.toHaveBeenCalled();
  now = 1_000;
  let finish: (value: number) => void = () => undefined;
  const probe = gate.run(
    () =>
      new Promise<number>((resolve) => {
        finish = resolve;
      }),
  );
  await expect(gate.run(working)).rejects.toBe(away);
  finish(2);
  expect(await probe).toBe(2);
  expect(await gate.run(working)).toBe(1);
});

test('a write conflict is no outage: the write is repeated', async () => {
  const gate = createDatabaseGate();
  const conflict = new ReadModelError('database_unavailable', 'conflict', true, {
    cause: Object.assign(new Error('conflict'), { code: 112 }),
  });
  let left = 3;
  expect(await gate.run(() => (left-- > 0 ? Promise.reject(conflict) : Promise.resolve('done')))).toBe(
    'done',
  );
});

test('an error of the operation itself does not close the gate', async () => {
  const gate = createDatabaseGate();
  await expect(gate.run(() => Promise.reject(new TypeError('bug')))).rejects.toThrow('bug');
  expect(await gate.run(() => Promise.resolve(1))).toBe(1);
});
