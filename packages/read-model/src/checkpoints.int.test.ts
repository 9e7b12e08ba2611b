// Checkpoints on the running engine.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCheckpoints, type Checkpoint } from './checkpoints.js';
import type { ReadModel } from './connection.js';
import { throwawayReadModel } from './testing/throwaway.js';

let readModel: ReadModel;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ readModel, drop } = await throwawayReadModel());
});
afterAll(() => drop());

const at = (offset: bigint, commands = offset): Checkpoint => ({
  offset,
  positions: { 'ingest.commands': commands },
});

describe('checkpoints', () => {
  test('an absent checkpoint is at the beginning', async () => {
    expect(await createCheckpoints(readModel).load('new', 0)).toEqual({ offset: 0n, positions: {} });
  });

  test('a stored checkpoint is loaded by name and partition, with offsets beyond 32 bits', async () => {
    const checkpoints = createCheckpoints(readModel);
    const both: Checkpoint = {
      offset: 9_007_199_254_740_991n,
      positions: { 'ingest.commands': 3n, 'gateway.events': 2_147_483_648n },
    };
    await checkpoints.store('scoring', 0, both);
    await checkpoints.store('scoring', 1, at(5n));
    await checkpoints.store('other', 0, at(7n));
    expect(await createCheckpoints(readModel).load('scoring', 0)).toEqual(both);
    expect(await checkpoints.loadAll('scoring')).toEqual(
      new Map([
        [0, both],
        [1, at(5n)],
      ]),
    );
    expect(await checkpoints.loadAll('scoring', [1, 9])).toEqual(new Map([[1, at(5n)]]));
    await checkpoints.store('scoring', 1, at(6n));
    expect(await checkpoints.load('scoring', 1)).toEqual(at(6n));
  });

  test('one of several concurrent takeovers remains the owner, and the others are refused', async () => {
    const owners = await Promise.all(
      [1n, 2n, 3n, 4n, 5n].map(async (offset) => {
        const checkpoints = createCheckpoints(readModel);
        await checkpoints.load('race', 0);
        return { checkpoints, offset };
      }),
    );
    const outcomes = await Promise.allSettled(
      owners.map(({ checkpoints, offset }) => checkpoints.store('race', 0, at(offset))),
    );
    const stored = owners.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    expect(stored).toHaveLength(1);
    expect(await createCheckpoints(readModel).loadAll('race')).toEqual(
      new Map([[0, at(stored[0]?.offset ?? -1n)]]),
    );
  });

  test('load takes the checkpoint over: its previous owner cannot store any more', async () => {
    const old = createCheckpoints(readModel);
    await old.load('taken', 0);
    await old.store('taken', 0, at(100n));
    const successor = createCheckpoints(readModel);
    expect(await successor.load('taken', 0)).toEqual(at(100n));
    await expect(old.store('taken', 0, at(200n))).rejects.toMatchObject({
      code: 'checkpoint_superseded',
      retriable: true,
    });
    await expect(old.reset('taken', 0)).rejects.toMatchObject({ code: 'checkpoint_superseded' });
    await successor.store('taken', 0, at(101n));
    expect(await successor.loadAll('taken')).toEqual(new Map([[0, at(101n)]]));
  });

  test('a store is refused when the database holds an older revision than the last one stored', async () => {
    const collection = readModel.db.collection<{ _id: string }>('checkpoints');
    const owner = createCheckpoints(readModel);
    await owner.load('lost', 0);
    await owner.store('lost', 0, at(100n));
    const before = await collection.findOne({ _id: 'lost:0' });
    await owner.store('lost', 0, at(200n));
    // As after a crash that has lost the last writes.
    await collection.replaceOne({ _id: 'lost:0' }, before ?? {});
    await expect(owner.store('lost', 0, at(300n))).rejects.toMatchObject({ code: 'checkpoint_superseded' });
    expect(await createCheckpoints(readModel).load('lost', 0)).toEqual(at(100n));
  });

  test('a checkpoint of another run of the server counts up to its confirmed place', async () => {
    const collection = readModel.db.collection<{ _id: string }>('checkpoints');
    const owner = createCheckpoints(readModel);
    await owner.load('restarted', 0);
    await owner.store('restarted', 0, at(50n));
    await createCheckpoints(readModel).load('restarted', 0);
    const successor = createCheckpoints(readModel);
    await successor.load('restarted', 0);
    await successor.store('restarted', 0, at(70n));
    if (readModel.engine === 'mongodb') return;
    await collection.updateOne({ _id: 'restarted:0' }, { $set: { server_start: 'another' } });
    expect(await createCheckpoints(readModel).load('restarted', 0)).toEqual(at(50n));
  });

  test('a checkpoint without an owner is taken over unchanged', async () => {
    const collection = readModel.db.collection<{ _id: string }>('checkpoints');
    const old = {
      name: 'older',
      partition: 0,
      generation: 2,
      offset: 9,
      positions: [],
      stored_at: new Date(),
    };
    await collection.insertOne({ _id: 'older:0', ...old });
    const checkpoints = createCheckpoints(readModel);
    expect(await checkpoints.load('older', 0)).toEqual({ offset: 9n, positions: {} });
    await checkpoints.store('older', 0, at(10n));
    expect(await collection.findOne({ _id: 'older:0' })).toMatchObject({ generation: 2, offset: 10 });
  });

  test('after a reset by another process every store is refused until the partition is opened again', async () => {
    const old = createCheckpoints(readModel);
    await old.load('reset', 0);
    await old.store('reset', 0, at(100n));
    const successor = createCheckpoints(readModel);
    await successor.load('reset', 0);
    await successor.reset('reset', 0);
    expect(await successor.load('reset', 0)).toEqual({ offset: 0n, positions: {} });
    await expect(old.store('reset', 0, at(101n))).rejects.toMatchObject({
      code: 'checkpoint_superseded',
      retriable: true,
    });
    await successor.store('reset', 0, at(10n));
    expect(await old.load('reset', 0)).toEqual(at(10n));
    await old.store('reset', 0, at(11n));
  });

  test('a reset of an absent checkpoint counts too', async () => {
    const old = createCheckpoints(readModel);
    await old.load('early', 0);
    await createCheckpoints(readModel).reset('early', 0);
    await expect(old.store('early', 0, at(1n))).rejects.toMatchObject({ code: 'checkpoint_superseded' });
  });
});
