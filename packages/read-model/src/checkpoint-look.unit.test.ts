import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createCheckpointLook, type HeldCheckpoint, type StoredRevision } from './checkpoint-look.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

interface Database {
  start: string | null;
  revisions: StoredRevision[];
  looks: number;
}

function looking(stored: Partial<StoredRevision> = {}, start = 'first') {
  const database: Database = {
    start,
    revisions: [{ _id: 'a:0', owner: 'me', revision: 7, ...stored }],
    looks: 0,
  };
  const confirmed: number[] = [];
  const doubts: Promise<unknown>[] = [];
  let ended: Error | undefined;
  let isStoring = false;
  let isAway = false;
  const look = createCheckpointLook({
    serverStart: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(database.start)),
    revisions: () => {
      database.looks += 1;
      return Promise.resolve(database.revisions);
    },
  });
  const held: HeldCheckpoint = {
    id: 'a:0',
    owner: 'me',
    serverStart: 'first',
    revision: () => 7,
    isStoring: () => isStoring,
    confirm: (revision) => confirmed.push(revision),
    lease: {
      check: () => undefined,
      hasEnded: () => ended !== undefined,
      end: (reason) => (ended ??= reason),
      doubt: (until) => doubts.push(until),
    },
  };
  look.hold(held);
  return {
    look,
    held,
    database,
    doubts,
    confirmed,
    ended: () => ended,
    storing: () => (isStoring = true),
    away: () => (isAway = true),
    later: () => jest.advanceTimersByTimeAsync(2_000),
  };
}

describe('a look at what the database holds', () => {
  test('confirms what is there, again and again, and ends nothing', async () => {
    const { confirmed, ended, later } = looking();
    await later();
    await later();
    expect(confirmed).toEqual([7, 7]);
    expect(ended()).toBeUndefined();
  });

  test('leaves a session alone that has taken its own checkpoint over, as a rebuild does, and sees who robs that', async () => {
    const { look, held, database, confirmed, ended, later } = looking();
    look.hold({ ...held, owner: 'me after the rebuild' });
    database.revisions = [{ _id: 'a:0', owner: 'me after the rebuild', revision: 7 }];
    await later();
    expect(ended()).toBeUndefined();
    expect(confirmed).toEqual([7]);
    database.revisions = [{ _id: 'a:0', owner: 'other', revision: 7 }];
    await later();
    expect(ended()).toMatchObject({ code: 'checkpoint_superseded' });
  });

  test.each([
    ['another owner', { owner: 'other' }, 'checkpoint_superseded'],
    ['an older revision', { revision: 6 }, 'checkpoint_lost'],
    ['nothing', { _id: 'b:0' }, 'checkpoint_superseded'],
  ])('opens the partition anew that finds %s there', async (_, stored, code) => {
    const { confirmed, ended, later } = looking(stored);
    await later();
    expect(ended()).toMatchObject({ code, retriable: true });
    expect(confirmed).toEqual([]);
  });

  test('opens every partition anew after another start of the server, whatever is there', async () => {
    const { ended, later } = looking({}, 'second');
    await later();
    expect(ended()).toMatchObject({ code: 'checkpoint_lost', retriable: true });
  });

  test('says nothing of a partition that is storing, and looks no more once all have ended', async () => {
    const { confirmed, database, ended, later, storing } = looking({ revision: 6 });
    storing();
    await later();
    expect([confirmed, ended()]).toEqual([[], undefined]);
    database.start = 'second';
    await later();
    expect(ended()).toBeDefined();
    const { looks } = database;
    await later();
    await later();
    expect(database.looks).toBe(looks);
  });

  test('an interruption puts what was read in doubt until a look has ended, and one that fails ends the session', async () => {
    const { look, doubts, ended, away } = looking();
    look.interrupted();
    await Promise.all(doubts);
    expect([doubts.length, ended()]).toEqual([1, undefined]);
    away();
    look.interrupted();
    await Promise.all(doubts);
    expect(ended()).toMatchObject({ message: 'away' });
  });
});
