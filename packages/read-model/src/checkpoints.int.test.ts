// Checkpoints on the running engine.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCheckpoints, createPositionWatch, type Checkpoint } from './checkpoints.js';
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
  test('one that was never stored is at the beginning', async () => {
    expect(await createCheckpoints(readModel).load('new', 0)).toEqual({ offset: 0n, positions: {} });
  });

  test('what was stored is loaded, each name and partition by itself, beyond 32 bit too', async () => {
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

  test('two first stores at once both succeed', async () => {
    await Promise.all(
      [1n, 2n, 3n].map((offset) => createCheckpoints(readModel).store('race', 0, at(offset))),
    );
    expect((await createCheckpoints(readModel).load('race', 0)).offset).toBeGreaterThan(0n);
  });

  test('after a reset by another process nothing is stored until the partition is opened again', async () => {
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

  test('a reset of what was never stored counts too', async () => {
    const old = createCheckpoints(readModel);
    await old.load('early', 0);
    await createCheckpoints(readModel).reset('early', 0);
    await expect(old.store('early', 0, at(1n))).rejects.toMatchObject({ code: 'checkpoint_superseded' });
  });
});

describe('waiting for a position', () => {
  test('ends with the checkpoints as soon as all partitions have reached it', async () => {
    const checkpoints = createCheckpoints(readModel);
    await checkpoints.store('wait', 0, at(50n, 10n));
    const waiting = createPositionWatch(checkpoints, 'wait').wait(
      'ingest.commands',
      [
        { partition: 0, offset: 10n },
        { partition: 4, offset: 3n },
      ],
      10_000,
    );
    await createCheckpoints(readModel).store('wait', 4, at(8n, 2n));
    await createCheckpoints(readModel).store('wait', 4, at(9n, 3n));
    expect(await waiting).toEqual(
      new Map([
        [0, at(50n, 10n)],
        [4, at(9n, 3n)],
      ]),
    );
  });

  test('ends with null when the time is over or the caller has gone, and at once without positions', async () => {
    const watch = createPositionWatch(createCheckpoints(readModel), 'wait');
    const never = [{ partition: 0, offset: 99n }];
    expect(await watch.wait('ingest.commands', never, 30)).toBeNull();
    expect(await watch.wait('ingest.commands', never, 60_000, AbortSignal.abort())).toBeNull();
    expect(await watch.wait('ingest.commands', [], 0)).toEqual(new Map());
  });
});
