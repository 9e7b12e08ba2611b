// Accounts that lose their last lead, on a real database: their stored firings are deleted, for any batches and crashes.
import { expect, test } from '@jest/globals';
import { accountIdOf, records } from '@lead-scoring/contracts';
import type { FoldedRecord, OutgoingRecord } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  foldedInSteps,
  foldedRecord,
  inThrowawayReadModel,
  oneByOne,
  type FoldStep,
} from '@lead-scoring/testing/fold-laws';
import fc from 'fast-check';
import { firingCollections } from '../firing/documents.js';
import { isEnded } from '../firing/forget-model.js';
import { compileTriggers } from '../firing/trigger-model.js';
import { accountEmptied, accountMilestone, accountScored } from '../testing/account-builders.js';
import { configurationOf, idOf, ouId, scoredAt, second } from '../testing/firing-builders.js';
import { decideAccountScored } from './decide.js';
import { accountFiringCollections } from './documents.js';
import { evolveAccount } from './evolve.js';
import { accountFiringRecords, type AccountFiringEvent } from './messages.js';
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
          payload: {
            ...{ ou_id: ouId, account_id, configuration_version: 1, source },
            trigger: { id: hot.id, name: hot.name, kind: hot.kind },
            ...{ firings: 20, window_seconds: 600, at: second(index), until: second(index) },
          },
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

/** The events that are not forgotten. */
function left(events: readonly AccountFiringEvent[]): AccountFiringEvent[] {
  return events.filter(
    ({ payload: { account_id, source } }) =>
      !events.some(
        (end) =>
          end.type === 'AccountForgotten' &&
          end.payload.account_id === account_id &&
          isEnded(source, end.payload.source),
      ),
  );
}

/** Between the records of two transactions there is one of the log's own. */
const recorded = (event: AccountFiringEvent, index: number): FoldedRecord =>
  foldedRecord(accountFiringRecords[event.type], event.payload, index * 2);

const step = fc.record({
  size: fc.integer({ min: 1, max: 8 }),
  killedAfter: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.constant(Infinity)),
  isStored: fc.boolean(),
});

test('any division into batches, killed at any write, gives the documents of one record per batch', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { minLength: 20, maxLength: 50 }),
      fc.array(step, { minLength: 5, maxLength: 15 }),
      async (happened, steps) => {
        const events = logOf(happened);
        const folded = (cut: FoldStep[]) =>
          foldedInSteps({ collections, log: events.map(recorded), steps: cut, open });
        const documents = await folded(oneByOne(events));
        const alive = left(events);
        expect(documents.fired_events).toHaveLength(
          alive.filter(({ type }) => type === 'AccountMilestoneFired').length,
        );
        const silent = alive.filter(({ type }) => type === 'AccountTriggerSuppressed');
        expect(documents.suppressions).toHaveLength(
          new Set(silent.map(({ payload }) => payload.account_id)).size,
        );
        expect(await folded(steps)).toEqual(documents);
      },
    ),
    { numRuns: 20 },
  );
}, 240_000);

test('in one batch with a firing the firing is forgotten, and a new account of the id fires again', async () => {
  await inThrowawayReadModel(collections, async (readModel) => {
    const firing = open(readModel);
    let next = 0;
    const take = async (...scored: readonly (readonly [offset: number, records.AccountScored])[]) => {
      const decision = await firing.decide(
        scored.map(([offset, payload]) => foldedRecord(records.accountScored, payload, offset)),
      );
      if (decision.outcome === 'split') throw new Error(decision.reason);
      const { events, commands = [] } = decision;
      await firing.fold(
        events.map(({ declaration, payload }: OutgoingRecord) => foldedRecord(declaration, payload, next++)),
      );
      await firing.write(AbortSignal.abort());
      return { types: events.map(({ declaration }) => declaration.type), commands };
    };
    const fired = () => readModel.db.collection('fired_events').countDocuments();
    const { types, commands } = await take(
      [1, accountScored(0, 15, 1)],
      [2, accountEmptied(15, 2)],
      [3, accountScored(0, 20, 3)],
    );
    expect(types).toEqual(['AccountMilestoneFired', 'AccountForgotten', 'AccountMilestoneFired']);
    expect(commands.map(({ declaration }) => declaration.type)).toEqual([
      ...channels.map(() => 'RequestNotification'),
      ...channels.map(() => 'ForgetAccount'),
      ...channels.map(() => 'RequestNotification'),
    ]);
    expect(await fired()).toBe(1);
    // Records that come again change nothing.
    expect(await take([2, accountEmptied(15, 2)], [3, accountScored(0, 20, 3)])).toEqual({
      types: [],
      commands: [],
    });
    const { commands: forgetting } = await take([9, accountEmptied(20, 4)]);
    expect(forgetting.map(({ key }) => key)).toEqual(channels);
    expect(forgetting[0]?.payload).toMatchObject({
      before: { topic: 'scoring.events', partition, offset: 9 },
    });
    expect(await fired()).toBe(0);
  });
}, 60_000);
