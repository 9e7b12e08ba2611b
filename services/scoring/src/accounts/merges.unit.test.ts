// Laws of merged accounts over random histories, and the decisions on merges.
import { describe, expect, test } from '@jest/globals';
import type { AccountReference, JsonObject } from '@lead-scoring/contracts';
import {
  configurationRecords,
  emptyConfiguration,
  evolveConfiguration,
  noAccounts,
  packConfiguration,
  unpackConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { decideConfiguration, resultOf } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import type { LeadCause } from '../scores/messages.js';
import { AccountWorld } from '../testing/account-world.js';
import {
  accountReference,
  createAccountRule,
  createRule,
  createRuleset,
  deleted,
  ingested,
  mergeAccounts,
  ouId,
} from '../testing/builders.js';
import { accountIdMeant } from './merge-model.js';
import { movesOf } from './moves.js';

const acme = accountReference('acme.com');
const globex = accountReference('globex.com');
const initech = accountReference('initech.com');
const crm = accountReference('Crm-17', 'named');
const accounts = [acme, globex, initech, crm];

const decide = (command: ConfigurationCommand, configuration: ScoringConfiguration) =>
  decideConfiguration(command, configuration);

function configured(
  configuration: ScoringConfiguration,
  ...commands: ConfigurationCommand[]
): ScoringConfiguration {
  return commands.reduce((state, command) => {
    const decision = decide(command, state);
    if (decision.outcome === 'rejected') return state;
    for (const { type, payload } of decision.events)
      expect(configurationRecords[type].schema.safeParse(payload).error).toBeUndefined();
    return decision.events.reduce(evolveConfiguration, state);
  }, configuration);
}

const start = configured(
  emptyConfiguration(ouId),
  createRule('view', { weight: 3 }),
  createRuleset('Companies', { score_type: 'account' }),
  createAccountRule('several', [{ field: 'leads', operator: 'gte', value: 2 }]),
  createAccountRule('warm', [{ field: 'leads_score', operator: 'gt', value: 6 }], { weight: -5 }),
);

const mergedIn = ({ accounts: scoring }: ScoringConfiguration) => scoring?.merged ?? new Map<never, never>();

const leads = {
  ada: 'ada@acme.com',
  bob: 'bob@globex.com',
  cy: 'cy@initech.com',
  dee: 'dee@acme.com',
} as const;
type LeadName = keyof typeof leads;
const names = Object.keys(leads) as LeadName[];

const event = (name: LeadName, metadata?: JsonObject): LeadCause => ({
  type: 'EventsIngested',
  payload: ingested(name, [{ ...(metadata && { metadata }) }], {
    aliases: [{ alias_kind: 'email', alias: leads[name] }],
  }),
});

describe('a merge', () => {
  const merge = mergeAccounts(acme, globex, { leads_reassigned: 3, deals_reassigned: 2 });
  const after = configured(start, merge);

  test('is recorded once: again it gives no event, and answers as the first time', () => {
    expect(decide(merge, start)).toMatchObject({
      events: [{ type: 'AccountsMerged', payload: { source: acme, target: globex, leads_reassigned: 3 } }],
    });
    const again = mergeAccounts(acme, globex, { leads_reassigned: 0 });
    expect(decide(again, after)).toMatchObject({ outcome: 'done', events: [] });
    expect(resultOf(again, after)).toEqual({ leads_reassigned: 3, deals_reassigned: 2 });
    expect(unpackConfiguration(after, packConfiguration(after))).toEqual(after);
  });

  test('starts the move of the leads, in the partition of the merged account, with the version that has it', () => {
    const decision = decide(merge, start);
    if (decision.outcome !== 'done') throw new Error('it is refused');
    expect(movesOf(start, decision.events)).toMatchObject([
      { key: acme.account_id, payload: { account_id: acme.account_id, version: after.version, after: null } },
    ]);
  });

  test('of a target that is merged later leads to the account at the end', () => {
    const chain = configured(after, mergeAccounts(globex, crm));
    for (const account of [acme, globex, crm])
      expect(accountIdMeant(account.account_id, mergedIn(chain))).toBe(crm.account_id);
    // The target was merged before: the merge goes to where that belongs.
    expect(decide(mergeAccounts(initech, acme), chain)).toMatchObject({
      events: [{ payload: { source: initech, target: crm } }],
    });
    expect(decide(mergeAccounts(acme, globex), chain)).toMatchObject({ outcome: 'done', events: [] });
  });

  test.each<[string, AccountReference, AccountReference, RegExp]>([
    [
      'an account that was merged into another',
      acme,
      initech,
      /was merged into the account .*Merge that one/,
    ],
    ['an account and itself', initech, initech, /are one already/],
    ['a target that was merged into the source', globex, acme, /are one already/],
  ])('of %s is refused', (_, source, target, message) => {
    expect(decide(mergeAccounts(source, target), after)).toMatchObject({
      outcome: 'rejected',
      code: 'already_merged',
      message: expect.stringMatching(message),
    });
  });

  test('beyond 5,000 in an OU is refused', () => {
    const merged = new Map(
      Array.from({ length: 5_000 }, (_, index) => {
        const source = accountReference(`a${String(index)}.com`);
        return [source.account_id, { source, target: globex, leads_reassigned: 1, deals_reassigned: 0 }];
      }),
    );
    const full = { ...start, accounts: { ...noAccounts, merged } };
    expect(decide(mergeAccounts(initech, globex), full)).toMatchObject({ code: 'limit_reached' });
  });
});

describe('the leads of a merged account', () => {
  const merged = (world: AccountWorld, source: AccountReference, target: AccountReference) => {
    world.configuration = configured(world.configuration, mergeAccounts(source, target));
    world.moveLeadsOf(source.account_id);
  };

  test('move to the target without an event of theirs, and no trigger fires', () => {
    const world = new AccountWorld(start);
    world.ingest([event('ada'), event('dee'), event('bob')]);
    world.settle();
    const before = world.log.length;
    merged(world, acme, globex);
    world.settleMoves();
    expect([...world.accounts.keys()]).toEqual([globex.account_id]);
    expect(world.accounts.get(globex.account_id)).toMatchObject({ leads: 3, leads_points: 9, score: 24 });
    const decided = world.log
      .slice(before)
      .flatMap(({ payload }) => ('fire_triggers' in payload ? [payload.fire_triggers] : []));
    expect(decided).toEqual([false, false]);
  });

  test('later events of its domain, or that name it, count in the target, and so do its fields', () => {
    const world = new AccountWorld(start);
    world.ingest([event('bob')]);
    world.settle();
    merged(world, acme, globex);
    merged(world, crm, globex);
    world.ingest([event('ada'), event('cy', { account: { id: 'Crm-17', industry: 'Mining' } })]);
    world.settleMoves();
    expect([...world.accounts.keys()]).toEqual([globex.account_id]);
    expect(world.accounts.get(globex.account_id)).toMatchObject({
      leads: 3,
      values: expect.arrayContaining([expect.objectContaining({ field: 'industry', value: 'Mining' })]),
    });
  });

  test('a deleted lead leaves the target, and the last one takes the account with it', () => {
    const world = new AccountWorld(start);
    world.ingest([event('ada'), event('bob')]);
    world.settle();
    merged(world, acme, globex);
    world.settleMoves();
    world.ingest([{ type: 'LeadDeleted', payload: deleted('bob') }]);
    world.settle();
    expect(world.accounts.get(globex.account_id)).toMatchObject({ leads: 1 });
    world.ingest([{ type: 'LeadDeleted', payload: deleted('ada') }]);
    world.settle();
    expect(world.accounts.size).toBe(0);
  });

  test('a move that comes again, or of a lead that went elsewhere meanwhile, changes nothing', () => {
    const world = new AccountWorld(start);
    world.ingest([event('ada'), event('bob')]);
    world.settle();
    merged(world, acme, globex);
    const [move] = world.moving;
    world.settleMoves();
    const { length } = world.log;
    if (move) world.moving = [move, move];
    world.settleMoves();
    expect(world.log).toHaveLength(length);
  });
});

const step = fc.record({
  causes: fc.array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc
          .tuple(
            fc.constantFrom(...names),
            fc.constantFrom(undefined, { account: 'Crm-17' }, { account: 'acme.com' }),
          )
          .map(([name, metadata]) => event(name, metadata)),
      },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(...names)
          .map((name): LeadCause => ({ type: 'LeadDeleted', payload: deleted(name) })),
      },
    ),
    { maxLength: 5 },
  ),
  merge: fc.option(fc.tuple(fc.constantFrom(...accounts), fc.constantFrom(...accounts))),
  /** Decided by partitions that do not know the merge yet. */
  late: fc.array(fc.constantFrom(...names), { maxLength: 2 }),
  sizes: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 }),
  settles: fc.boolean(),
});

function lived(
  steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
): AccountWorld {
  const world = new AccountWorld(start);
  for (const { causes, merge, late, sizes, settles } of steps) {
    world.ingest(causes, sizes);
    const before = world.configuration;
    if (merge) {
      const after = configured(before, mergeAccounts(...merge));
      world.configuration = before;
      world.ingest(late.map((name) => event(name)));
      world.configuration = after;
      if (after !== before) world.moveLeadsOf(merge[0].account_id);
    }
    if (settles) world.settleMoves(sizes);
  }
  world.settleMoves();
  return world;
}

describe('laws of merges', () => {
  const history = fc.array(step, { maxLength: 6 });

  test('no lead stays in a merged account, and each account has the score that its joined leads give', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const world = lived(steps);
        const merged = mergedIn(world.configuration);
        for (const id of merged.keys()) expect(world.accounts.has(id)).toBe(false);
        const counted = new Map<string, number[]>();
        for (const { account, score } of world.leads.values())
          if (account) {
            expect(accountIdMeant(account.account_id, merged)).toBe(account.account_id);
            counted.set(account.account_id, [...(counted.get(account.account_id) ?? []), score]);
          }
        const expected = [...counted].map(([id, scores]) => {
          const sum = scores.reduce((total, score) => total + score, 0);
          return [id, scores.length, sum + (scores.length >= 2 ? 20 : 0) + (sum > 6 ? -5 : 0)];
        });
        const found = [...world.accounts.values()].map(({ id, leads: number, score }) => [id, number, score]);
        expect(found.sort()).toEqual(expected.sort());
      }),
    );
  });

  test('a replay gives the same leads and accounts', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const live = lived(steps);
        const replayed = new AccountWorld(live.configuration);
        for (const one of live.log) replayed.append(JSON.parse(JSON.stringify(one)) as typeof one);
        expect(replayed.accounts).toEqual(live.accounts);
        expect(replayed.leads).toEqual(live.leads);
      }),
    );
  });

  test('whatever is merged in whichever order, no account leads to one that was merged', () => {
    const pair = fc.tuple(fc.constantFrom(...accounts), fc.constantFrom(...accounts));
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 12 }), (pairs) => {
        const merged = mergedIn(
          configured(start, ...pairs.map(([source, target]) => mergeAccounts(source, target))),
        );
        for (const { account_id } of accounts)
          expect(merged.has(accountIdMeant(account_id, merged))).toBe(false);
      }),
    );
  });
});
