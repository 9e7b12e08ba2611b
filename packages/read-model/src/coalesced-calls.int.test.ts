// Partition states of one process that read and write concurrently, on the running engine: their calls are coalesced, and each gets
// the result that it would have got alone.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Collection } from 'mongodb';
import { createCheckpoints } from './checkpoints.js';
import { defineCollection } from './collection-declaration.js';
import { ensureCollections } from './collections.js';
import type { ReadModel } from './connection.js';
import { createGuardedWriter, deleteByIds, insertMissing } from './guarded-writer.js';
import { optionsAt, underLease } from './lease.js';
import { findByIds, findStoredIds } from './look-up.js';
import { createLease, type TestLease } from './testing/lease.js';
import { throwawayReadModel } from './testing/throwaway.js';

interface Item {
  _id: number;
  partition: number;
  offset: number;
  text: string;
  tags: string[];
}
const declaration = defineCollection<Item>({ name: 'items', indexes: [{ key: { text: 1 }, unique: true }] });

let throwaway: Awaited<ReturnType<typeof throwawayReadModel>>;
let readModel: ReadModel;
/** The driver's calls since the test began. */
const calls: string[] = [];
/** Called after the driver was called for a write and before it has sent anything. */
let onceCalled: (() => void) | undefined;
beforeAll(async () => {
  throwaway = await throwawayReadModel();
  readModel = { ...throwaway.readModel, collection: recorded as unknown as ReadModel['collection'] };
  await ensureCollections(readModel, [declaration]);
}, 60_000);
afterAll(() => throwaway.drop());
beforeEach(async () => {
  await throwaway.readModel.collection(declaration).deleteMany({});
  calls.length = 0;
  onceCalled = undefined;
});

const recording = new Map<string, Collection<Item>>();
function recorded(of: { name: string }): Collection<Item> {
  const collection = throwaway.readModel.collection({ ...declaration, name: of.name });
  const known = recording.get(of.name);
  if (known) return known;
  const made = new Proxy(collection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const isWrite = optionsAt.has(name);
        if (isWrite || name === 'find') calls.push(String(name));
        const answer: unknown = Reflect.apply(value, target, given);
        if (isWrite) onceCalled?.();
        return answer;
      };
    },
  });
  recording.set(of.name, made);
  return made;
}

const callers = [0, 1, 2, 3, 4, 5];
const item = (_id: number, offset = 1, text = `${String(_id)}@${String(offset)}`): Item => ({
  _id,
  partition: _id % 6,
  offset,
  text,
  tags: ['a'],
});
const own = (caller: number, offset = 1) => [item(caller, offset), item(10 + caller, offset)];
const stored = () => throwaway.readModel.collection(declaration).find().sort({ _id: 1 }).toArray();
const sorted = (items: readonly Item[]) => [...items].sort((x, y) => x._id - y._id);

interface State {
  lease: TestLease;
  items: Collection<Item>;
  write: (documents: Item[], isNew?: boolean) => Promise<unknown>;
  checkpoints: ReturnType<typeof createCheckpoints>;
}
function openStates(): State[] {
  return callers.map(() => {
    const lease = createLease();
    const leased = underLease(readModel, lease);
    const items = leased.collection(declaration);
    const writer = createGuardedWriter(leased);
    return {
      lease,
      items,
      write: (documents, isNew = false) => writer.write(items, documents, { isNew: () => isNew }),
      checkpoints: createCheckpoints(leased),
    };
  });
}
const atOnce = <Result>(work: (state: State, caller: number) => Promise<Result>, states = openStates()) =>
  Promise.all(states.map(work));
const outcomes = async (work: (state: State, caller: number) => Promise<unknown>, states = openStates()) =>
  (await Promise.allSettled(states.map(work))).map((outcome) =>
    outcome.status === 'fulfilled'
      ? outcome.value
      : ((outcome.reason as { code?: unknown }).code ?? (outcome.reason as Error).name),
  );

test('six concurrent writers, look-ups and deletions share one call of each kind, and each gets its own result', async () => {
  expect(await atOnce(({ items }, caller) => insertMissing(items, own(caller)))).toEqual(Array(6).fill(2));
  expect(
    await atOnce(({ items }, caller) => insertMissing(items, [...own(caller), item(20 + caller)])),
  ).toEqual(Array(6).fill(1));
  expect(await atOnce(({ write }, caller) => write([item(30 + caller)], true))).toEqual(
    Array(6).fill({ inserted: 1, found: 0 }),
  );
  expect(await atOnce(({ write }, caller) => write(own(caller, 2)))).toEqual(
    Array(6).fill({ inserted: 0, found: 2 }),
  );
  const found = await atOnce(({ items }, caller) => findByIds(items, [caller, 10 + caller, 99]));
  expect(found.map(sorted)).toEqual(callers.map((caller) => own(caller, 2)));
  expect(await atOnce(({ items }, caller) => findStoredIds(items, [caller, 99]))).toEqual(
    callers.map((caller) => [caller]),
  );
  await atOnce(({ items }, caller) => deleteByIds(items, [10 + caller, 20 + caller, 30 + caller]));
  expect(await stored()).toEqual(callers.map((caller) => item(caller, 2)));
  const replace = throwaway.readModel.engine === 'ferretdb' ? 'updateMany' : 'bulkWrite';
  expect(calls).toEqual(['insertMany', 'insertMany', 'insertMany', replace, 'find', 'find', 'deleteMany']);
});

test('each look-up of the same document gets its own copy', async () => {
  await throwaway.readModel.collection(declaration).insertOne(item(7));
  const found = await atOnce(async ({ items }) => {
    const [one] = await findByIds(items, [7]);
    one?.tags.push('b');
    return one;
  });
  expect(found).toEqual(Array(6).fill({ ...item(7), tags: ['a', 'b'] }));
  expect(calls).toEqual(['find']);
});

const writes: Record<string, (state: State, documents: Item[]) => Promise<unknown>> = {
  insertMissing: ({ items }, documents) => insertMissing(items, documents),
  'a guarded insert': ({ write }, documents) => write(documents, true),
  'a guarded replacement': ({ write }, documents) => write(documents),
};
const cases = Object.entries(writes);
const resultOf = (name: string) => (name === 'insertMissing' ? 2 : { inserted: 2, found: 0 });

test.each(cases)(
  '%s: a caller with an ended lease writes nothing, the others write all',
  async (name, write) => {
    const states = openStates();
    const lost = (caller: number) => caller === 3;
    const done = outcomes((state, caller) => {
      const written = write(state, own(caller));
      // In the same event loop iteration as the other calls; nothing has been sent.
      if (lost(caller)) state.lease.lose();
      return written;
    }, states);
    expect(await done).toEqual(callers.map((caller) => (lost(caller) ? 'lease_ended' : resultOf(name))));
    expect(await stored()).toEqual(
      sorted(callers.filter((caller) => !lost(caller)).flatMap((caller) => own(caller))),
    );
  },
);

test.each(cases)(
  '%s: a caller whose lease ends inside the driver writes nothing, the others write all',
  async (name, write) => {
    const states = openStates();
    onceCalled = () => {
      states[3]?.lease.lose();
    };
    const done = await outcomes((state, caller) => write(state, own(caller)), states);
    expect(done).toEqual(callers.map((caller) => (caller === 3 ? 'lease_ended' : resultOf(name))));
    expect((await stored()).map(({ _id }) => _id)).toEqual([0, 1, 2, 4, 5, 10, 11, 12, 14, 15]);
  },
);

const faults: Record<string, () => Item> = {
  'the driver refuses': () => ({ ...item(13), ['bad\0key']: 1 }),
  'is larger than a document may be': () => item(13, 1, 'x'.repeat(17_000_000)),
  'the server refuses': () => ({ ...item(13), _id: [13] as never }),
  'has a unique value that is taken': () => item(13, 1, 'taken'),
};

test.each(
  cases.flatMap(([name, write]) =>
    Object.entries(faults).map(([fault, faulty]) => [name, fault, write, faulty] as const),
  ),
)(
  '%s: a caller with a document that %s gets its own error, and the others write all',
  async (name, _fault, write, faulty) => {
    await throwaway.readModel.collection(declaration).insertOne(item(99, 1, 'taken'));
    const refused = () => [item(3), faulty()];
    const [lonely] = await outcomes((state) => write(state, refused()), openStates().slice(0, 1));
    expect(lonely).not.toEqual(resultOf(name));
    await deleteByIds(throwaway.readModel.collection(declaration), [3]);
    const done = await outcomes((state, caller) => write(state, caller === 3 ? refused() : own(caller)));
    expect(done).toEqual(callers.map((caller) => (caller === 3 ? lonely : resultOf(name))));
    expect((await stored()).map(({ _id }) => _id).filter((id) => id !== 3)).toEqual([
      0, 1, 2, 4, 5, 10, 11, 12, 14, 15, 99,
    ]);
  },
);

test('of two concurrent writes of a document the newer remains, in any order of calls', async () => {
  for (const offsets of [
    [5, 7],
    [7, 5],
  ]) {
    await throwaway.readModel.collection(declaration).deleteMany({});
    for (const isNew of [true, false])
      await atOnce(({ write }, caller) =>
        write([item(100, (offsets[caller % 2] ?? 0) + (isNew ? 0 : 10)), item(caller)], isNew),
      );
    expect(await stored()).toEqual([...callers.map((caller) => item(caller)), item(100, 17)]);
  }
  expect(
    (await atOnce(({ items }) => insertMissing(items, [item(200)]))).reduce((sum, count) => sum + count),
  ).toBe(1);
});

test('concurrent stores of checkpoints are one call; a superseded owner is refused, and the others are stored', async () => {
  const states = openStates();
  await atOnce(({ checkpoints }, caller) => checkpoints.load('coalesced', caller), states);
  calls.length = 0;
  const at = (offset: bigint) => ({ offset, positions: {} });
  await atOnce(({ checkpoints }, caller) => checkpoints.store('coalesced', caller, at(1n)), states);
  expect(calls).toEqual(['bulkWrite']);
  const thief = createCheckpoints(throwaway.readModel);
  await thief.load('coalesced', 2);
  // Its revision is then the one that the previous owner would store next.
  await thief.store('coalesced', 2, at(10n));
  await thief.store('coalesced', 2, at(11n));
  const done = await outcomes(({ checkpoints, lease }, caller) => {
    const written = checkpoints.store('coalesced', caller, at(2n));
    if (caller === 4) lease.lose();
    return written;
  }, states);
  expect(done).toEqual([undefined, undefined, 'checkpoint_superseded', undefined, 'lease_ended', undefined]);
  expect(states.map(({ lease }) => lease.hasEnded())).toEqual([false, false, true, false, true, false]);
  const places = await thief.loadAll('coalesced');
  expect(callers.map((caller) => places.get(caller)?.offset)).toEqual([2n, 2n, 11n, 2n, 1n, 2n]);
});
