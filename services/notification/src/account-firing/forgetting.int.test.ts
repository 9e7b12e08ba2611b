// Accounts that lose their last lead, on a real database: their stored firings are deleted, for any batches and crashes.
import { describe, expect, test } from '@jest/globals';
import { accountIdOf, records } from '@lead-scoring/contracts';
import { hexOf, type ReadModel } from '@lead-scoring/read-model';
import { foldedRecord, inThrowawayReadModel } from '@lead-scoring/testing/fold-laws';
import fc from 'fast-check';
import { compileTriggers } from '@lead-scoring/scoring-domain/triggers';
import { firedEvents, firingCollections } from '../firing/documents.js';
import { accountEmptied, accountMilestone, accountScored } from '../testing/account-builders.js';
import { configurationOf, idOf, ouId, scoredAt } from '../testing/firing-builders.js';
import { commandsIn, expectForgetting, silenced, withOwnLog } from '../testing/forgetting-law.js';
import { decideAccountScored } from './decide.js';
import { accountFiringCollections, accountStates } from './documents.js';
import { evolveAccount } from './evolve.js';
import type { AccountFiringEvent } from './messages.js';
import { AccountFiringPartition } from './partition.js';
import { initialAccountState, type AccountState } from './state.js';

const partition = 0;
const collections = [...firingCollections, ...accountFiringCollections];
const channels = [idOf('channel a'), idOf('channel b')];
const hot = accountMilestone({ score_threshold: 10, channel_ids: channels });
const triggers = compileTriggers(configurationOf([hot]), { levels: [] });

const open = (readModel: ReadModel) =>
  new AccountFiringPartition(
    { readModel, partition },
    // Fewer than there are accounts, so that states are evicted.
    { triggers: { load: () => Promise.resolve(() => triggers) }, cachedAccounts: 2 },
  );

const keys = ['acme.com', 'globex.com', 'initech.com'] as const;
const identityOf = (account_key: string) => ({
  account_key,
  account_id: accountIdOf(ouId, { account_kind: 'domain', account_key }),
});

const happening = fc.record({
  key: fc.constantFrom(...keys),
  what: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: -15, max: 15 }) },
    { weight: 2, arbitrary: fc.constantFrom('silenced' as const, 'emptied' as const) },
  ),
});
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

/** The events that account firing records on these changes of accounts, in their order. */
function logOf(happened: readonly Happening[]): AccountFiringEvent[] {
  const states = new Map<string, AccountState>();
  const scores = new Map<string, number>();
  return happened.flatMap(({ key, what }, index) => {
    const { account_id } = identityOf(key);
    const before = states.get(key) ?? initialAccountState(ouId, account_id);
    const source = scoredAt(index);
    const score = scores.get(key) ?? 0;
    const decide = () => {
      if (what === 'silenced') {
        const event: AccountFiringEvent = {
          type: 'AccountTriggerSuppressed',
          payload: { account_id, ...silenced(hot, source, index) },
        };
        return { events: [event], state: evolveAccount(before, event) };
      }
      const after = what === 'emptied' ? 0 : score + what;
      scores.set(key, after);
      const scored =
        what === 'emptied'
          ? accountEmptied(score, index, identityOf(key))
          : accountScored(score, after, index, identityOf(key));
      return decideAccountScored(scored, source, before, triggers);
    };
    const { events, state } = decide();
    states.set(key, state);
    return [...events];
  });
}

test('any division into batches, killed at any write, gives the documents of one record per batch', async () => {
  await expectForgetting({ happening, logOf, collections, open, numRuns: 20 });
}, 240_000);

const scoredAs = (offset: number, payload: records.AccountScored) =>
  foldedRecord(records.accountScored, payload, offset);

test('in one batch with a firing the firing is forgotten, and a new account of the id fires again', async () => {
  await inThrowawayReadModel(collections, async (readModel) => {
    const { take, fired } = withOwnLog(open(readModel), readModel);
    const first = await take(
      scoredAs(1, accountScored(0, 15, 1)),
      scoredAs(2, accountEmptied(15, 2)),
      scoredAs(3, accountScored(0, 20, 3)),
    );
    expect(first.events.map(({ type }) => type)).toEqual([
      'AccountMilestoneFired',
      'AccountForgotten',
      'AccountMilestoneFired',
    ]);
    expect(commandsIn(first.commands)).toEqual([
      ...channels.map((id) => ['RequestNotification', id]),
      ...channels.map((id) => ['ForgetAccount', id]),
      ...channels.map((id) => ['RequestNotification', id]),
    ]);
    expect(await fired()).toBe(1);
    // Records that come again change nothing.
    expect(await take(scoredAs(2, accountEmptied(15, 2)), scoredAs(3, accountScored(0, 20, 3)))).toEqual({
      events: [],
      commands: [],
    });
    const { commands } = await take(scoredAs(9, accountEmptied(20, 4)));
    expect(commandsIn(commands)).toEqual(channels.map((id) => ['ForgetAccount', id]));
    expect(commands[0]?.payload).toMatchObject({
      before: { topic: 'scoring.events', partition, offset: 9 },
    });
    expect(await fired()).toBe(0);
  });
}, 60_000);

test('of a forgotten account the position of its end is stored, and no decision from before it fires again', async () => {
  await inThrowawayReadModel(collections, async (readModel) => {
    const fire = [scoredAs(1, accountScored(0, 15, 1)), scoredAs(7, accountScored(0, 30, 2))];
    const { take, fired } = withOwnLog(open(readModel), readModel);
    await take(...fire, scoredAs(9, accountEmptied(30, 3)));
    expect(await fired()).toBe(0);
    const stored = await readModel.collection(accountStates).find().toArray();
    expect(stored).toEqual([
      {
        _id: expect.anything() as unknown,
        content: '{"seen":9}',
        partition,
        offset: expect.any(Number) as unknown,
      },
    ]);
    for (const id of [ouId, identityOf('acme.com').account_id])
      expect(stored.map(({ _id }) => hexOf(_id)).join()).not.toContain(id.replaceAll('-', ''));
    // After a restart they come again, as a replay or as dead letters.
    expect(await withOwnLog(open(readModel), readModel).take(...fire)).toEqual({ events: [], commands: [] });
  });
}, 60_000);

describe('accounts that are gone in one batch', () => {
  const many = Array.from({ length: 400 }, (_, index) => identityOf(`company-${String(index)}.com`));
  const fireEach = many.map((identity, index) => scoredAs(index, accountScored(0, 15, 1, identity)));
  const emptyEach = many.map((identity, index) =>
    scoredAs(many.length + index, accountEmptied(15, 2, identity)),
  );

  test('are too many where their events and the commands to forget them are more than 1,000', async () => {
    await inThrowawayReadModel(collections, async (readModel) => {
      const firing = open(readModel);
      const { take, fired } = withOwnLog(firing, readModel);
      for (const half of [fireEach.slice(0, 200), fireEach.slice(200)]) await take(...half);
      expect(await firing.decide(emptyEach)).toMatchObject({ outcome: 'split' });
      for (const half of [emptyEach.slice(0, 200), emptyEach.slice(200)]) {
        const { commands } = await take(...half);
        expect(commandsIn(commands)).toEqual(half.flatMap(() => channels.map((id) => ['ForgetAccount', id])));
      }
      expect(await fired()).toBe(0);
    });
  }, 60_000);

  test('are looked up together when they are decided on, and when they are folded', async () => {
    await inThrowawayReadModel(collections, async (readModel) => {
      let searches = 0;
      const counting: ReadModel = {
        ...readModel,
        collection: (declaration) =>
          new Proxy(readModel.collection(declaration), {
            get: (target, name) => {
              if (name === 'find' && declaration.name === firedEvents.name) searches += 1;
              const value: unknown = Reflect.get(target, name, target);
              return typeof value === 'function' ? (value.bind(target) as unknown) : value;
            },
          }),
      };
      const { take } = withOwnLog(open(counting), readModel);
      await take(...fireEach.slice(0, 200));
      expect(searches).toBe(0);
      await take(...emptyEach.slice(0, 200));
      expect(searches).toBe(2);
    });
  }, 60_000);
});
