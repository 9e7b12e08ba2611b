import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  createCheckpointVerifier,
  type WatchedCheckpoint,
  type StoredRevision,
} from './checkpoint-verifier.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

interface Database {
  start: string | null;
  revisions: StoredRevision[];
  verifiedTimes: number;
}

function setUp(stored: Partial<StoredRevision> = {}, start = 'first') {
  const database: Database = {
    start,
    revisions: [{ _id: 'a:0', owner: 'me', revision: 7, ...stored }],
    verifiedTimes: 0,
  };
  const confirmed: number[] = [];
  const verifications: Promise<unknown>[] = [];
  let ended: Error | undefined;
  let isStoring = false;
  let isAway = false;
  const checkpointVerifier = createCheckpointVerifier({
    serverStart: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(database.start)),
    revisions: () => {
      database.verifiedTimes += 1;
      return Promise.resolve(database.revisions);
    },
  });
  const held: WatchedCheckpoint = {
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
      holdDecisionsUntil: (verified) => verifications.push(verified),
    },
  };
  checkpointVerifier.watch(held);
  return {
    checkpointVerifier,
    held,
    database,
    verifications,
    confirmed,
    ended: () => ended,
    storing: () => (isStoring = true),
    away: () => (isAway = true),
    later: () => jest.advanceTimersByTimeAsync(2_000),
  };
}

describe('the checkpoint verifier', () => {
  test('confirms stored revisions, and ends no lease', async () => {
    const { confirmed, ended, later } = setUp();
    await later();
    await later();
    expect(confirmed).toEqual([7, 7]);
    expect(ended()).toBeUndefined();
  });

  test('accepts a session that takes over its own checkpoint, as a rebuild does, and notices another owner', async () => {
    const { checkpointVerifier, held, database, confirmed, ended, later } = setUp();
    checkpointVerifier.watch({ ...held, owner: 'me after the rebuild' });
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
  ])('ends the lease when the database holds %s', async (_, stored, code) => {
    const { confirmed, ended, later } = setUp(stored);
    await later();
    expect(ended()).toMatchObject({ code, retriable: true });
    expect(confirmed).toEqual([]);
  });

  test('ends every lease after a restart of the server', async () => {
    const { ended, later } = setUp({}, 'second');
    await later();
    expect(ended()).toMatchObject({ code: 'checkpoint_lost', retriable: true });
  });

  test('skips a partition that is storing, and stops once all leases have ended', async () => {
    const { confirmed, database, ended, later, storing } = setUp({ revision: 6 });
    storing();
    await later();
    expect([confirmed, ended()]).toEqual([[], undefined]);
    database.start = 'second';
    await later();
    expect(ended()).toBeDefined();
    const { verifiedTimes } = database;
    await later();
    await later();
    expect(database.verifiedTimes).toBe(verifiedTimes);
  });

  test('a broken connection blocks decisions until a verification settles, and a failed verification ends the lease', async () => {
    const { checkpointVerifier, verifications, ended, away } = setUp();
    checkpointVerifier.connectionLost();
    await Promise.all(verifications);
    expect([verifications.length, ended()]).toEqual([1, undefined]);
    away();
    checkpointVerifier.connectionLost();
    await Promise.all(verifications);
    expect(ended()).toMatchObject({ message: 'away' });
  });
});
