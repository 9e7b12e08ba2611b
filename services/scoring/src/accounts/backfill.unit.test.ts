// Laws of a backfill of accounts, on random histories: whenever account scoring began, after it leads and accounts are as if it had
// always been there; and a second one changes nothing.
import { describe, expect, test } from '@jest/globals';
import { records, type JsonObject } from '@lead-scoring/contracts';
import { emptyConfiguration, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import type { LeadCause } from '../scores/messages.js';
import { compileRules } from '../scores/rule-model.js';
import { AccountWorld } from '../testing/account-world.js';
import {
  accountReference,
  at,
  createAccountRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  mergeAccounts,
  ouId,
} from '../testing/builders.js';
import { configuredFrom } from '../testing/configured.js';
import { backfilled, decideBackfilled, NamedHistory, outcomeOf } from './backfill-model.js';

const without = configuredFrom(emptyConfiguration(ouId), createRule('view', { weight: 3 }));
const scored = configuredFrom(
  without,
  createRuleset('Companies', { score_type: 'account' }),
  createAccountRule('several', [{ field: 'leads', operator: 'gte', value: 2 }]),
);
const ofSoftware = configuredFrom(
  scored,
  createAccountRule('software', [{ field: 'industry', operator: 'equals', value: 'Software' }], {
    weight: 40,
  }),
);
const merged = configuredFrom(
  scored,
  mergeAccounts(accountReference('acme.com'), accountReference('globex.com')),
);

/** Tells every lead of a world what its history has named, and settles what they contribute. */
function backfill(world: AccountWorld, causes: readonly LeadCause[], cut = causes.length) {
  const history = new NamedHistory();
  history.take(causes.slice(0, cut));
  history.take(causes.slice(cut));
  const rules = compileRules(world.configuration);
  const by = { merged: rules.mergedAccounts, configuration_version: rules.version };
  const commands = [...world.leads.keys()].map((lead_id): records.ContributeLead => {
    const command = {
      ...{ ou_id: ouId, lead_id, decided_at: at, fire_triggers: false },
      named: history.of(lead_id),
    };
    expect(records.contributeLead.schema.safeParse(command).error).toBeUndefined();
    return command;
  });
  const outcomes = commands.flatMap((command) => {
    const lead = world.leads.get(command.lead_id);
    return lead ? [outcomeOf(lead, backfilled(lead, command, by))] : [];
  });
  const decided = decideBackfilled(commands, {
    rulesOf: () => (rules.accounts ? by : null),
    leadBefore: (_, leadId) => world.leads.get(leadId) ?? null,
    decided: new Map(),
  });
  for (const event of decided.events) world.append(event);
  world.waiting.push(...decided.commands);
  world.settleMoves();
  return { ...decided, outcomes };
}

/** The leads with their accounts and what counts of them, and the accounts, without the versions and times of decisions. */
function contents({ leads, counted, accounts }: AccountWorld) {
  return {
    leads: new Map(
      [...leads].map(([id, { score, account }]) => [
        id,
        { score, account: account && [account.account_id, account.score, account.named_at] },
      ]),
    ),
    counted,
    accounts: new Map([...accounts].map(([id, account]) => [id, [account.score, account.leads]])),
  };
}

function valuesIn({ accounts }: AccountWorld) {
  const byField = ({ field }: { field: string }, other: { field: string }) => (field < other.field ? -1 : 1);
  return new Map([...accounts].map(([id, { values }]) => [id, values.toSorted(byField)]));
}

const leads = {
  ada: 'ada@acme.com',
  bob: 'bob@globex.com',
  cy: 'cy@initech.com',
  dee: 'dee@acme.com',
  eve: 'eve@gmail.com',
} as const;
type LeadName = keyof typeof leads;

const names = Object.keys(leads) as LeadName[];
const eventOf = (name: LeadName, hour: number, { company, ...metadata }: JsonObject = {}): LeadCause => {
  const timestamp = `2026-01-01T${String(hour)}:00:00.000Z`;
  const value = typeof company === 'string' ? company : undefined;
  return {
    type: 'EventsIngested',
    payload: ingested(name, [{ metadata, timestamp }], {
      aliases: [{ alias_kind: 'email', alias: leads[name] }],
      ...(value !== undefined && { fields: [{ field: 'company', value, at: timestamp }] }),
    }),
  };
};
const hour = fc.integer({ min: 10, max: 23 });
const industry = fc.constantFrom('Software', 'Steel');

const happening = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        name: fc.constantFrom(...names),
        hour,
        account: fc.oneof(
          fc.constantFrom(undefined, 'acme.com', 'globex.com', 'Crm-17'),
          fc.record({ domain: fc.constantFrom('acme.com', 'initech.com'), industry }),
        ),
      })
      .map(({ name, hour: at, account }) => eventOf(name, at, account === undefined ? {} : { account })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...names)
      .map((name): LeadCause => ({ type: 'LeadDeleted', payload: deleted(name) })),
  },
);
const history = fc.array(happening, { minLength: 1, maxLength: 25 });

/** The history with account scoring from a moment in it on; and with account scoring from its beginning. */
function played(causes: readonly LeadCause[], scoring: ScoringConfiguration, began: number) {
  const always = new AccountWorld(scoring);
  always.ingest(causes);
  always.settleMoves();
  const world = new AccountWorld(without);
  world.ingest(causes.slice(0, began));
  world.configuration = scoring;
  world.ingest(causes.slice(began));
  world.settleMoves();
  return { always, world };
}

const scorings = fc.constantFrom(scored, merged);

describe('for any history, and any moment in it at which account scoring began,', () => {
  test('leads and accounts are afterwards as if it had always been there', () => {
    fc.assert(
      fc.property(history, scorings, fc.nat(25), fc.nat(25), (causes, scoring, began, cut) => {
        const { always, world } = played(causes, scoring, began);
        backfill(world, causes, cut);
        expect(contents(world)).toEqual(contents(always));
      }),
    );
  });

  test('accounts have the values that events gave before it, where leads stay in their account', () => {
    const accountOf: Record<LeadName, JsonObject> = {
      ada: {},
      bob: { domain: 'acme.com' },
      cy: { id: 'Crm-17' },
      dee: {},
      eve: { domain: 'globex.com' },
    };
    const naming = fc
      .record({
        name: fc.constantFrom(...names),
        hour,
        industry,
        company: fc.constantFrom(null, 'Acme Inc', 'Globex SA'),
      })
      .map(({ name, hour: at, company, ...values }) => {
        const account = accountOf[name];
        const isNamed = Object.keys(account).length > 0;
        return eventOf(name, at, { company, ...(isNamed && { account: { ...account, ...values } }) });
      });
    fc.assert(
      fc.property(fc.array(naming, { maxLength: 25 }), fc.nat(25), (causes, began) => {
        const { always, world } = played(causes, ofSoftware, began);
        backfill(world, causes);
        expect(valuesIn(world)).toEqual(valuesIn(always));
        expect(contents(world)).toEqual(contents(always));
      }),
    );
  });

  test('a second one, and a command that comes again, changes nothing', () => {
    fc.assert(
      fc.property(history, scorings, fc.nat(25), (causes, scoring, began) => {
        const { world } = played(causes, scoring, began);
        backfill(world, causes);
        const before = contents(world);
        const again = backfill(world, causes);
        expect(again.events).toEqual([]);
        expect(contents(world)).toEqual(before);
        for (const outcome of again.outcomes)
          expect(['unchanged', 'refreshed', 'without_account']).toContain(outcome);
      }),
    );
  });
});

describe('a backfill', () => {
  const view = (name: LeadName, metadata: JsonObject = {}, at = 10) => eventOf(name, at, metadata);

  test('says of each lead what becomes of it, and changes only what it says', () => {
    const causes = [
      view('ada'),
      view('bob', { account: 'acme.com' }),
      view('cy', { account: { domain: 'initech.com', industry: 'Steel' } }),
      view('eve'),
    ];
    const world = new AccountWorld(scored);
    // Live, the events of bob named nothing.
    world.ingest([view('dee'), view('bob')]);
    world.settleMoves();
    world.configuration = without;
    world.ingest(causes);
    world.configuration = scored;
    const { outcomes, events } = backfill(world, [view('dee'), ...causes]);
    const byName = new Map([...world.leads.keys()].map((id, index) => [id, outcomes[index]]));
    expect(Object.keys(leads).map((name) => byName.get(idOf(name)))).toEqual([
      'joining',
      'moving',
      'joining',
      'unchanged',
      'without_account',
    ]);
    expect(events).toHaveLength(3);
  });

  test('gives an account only the values that events named with it', () => {
    const causes = [
      view('ada', { account: { domain: 'acme.com', industry: 'Steel' } }),
      view('ada', { account: 'Crm-17' }, 11),
    ];
    const world = new AccountWorld(without);
    world.ingest(causes);
    world.configuration = scored;
    backfill(world, causes);
    const { account_id } = accountReference('Crm-17', 'named');
    expect(valuesIn(world)).toEqual(new Map([[account_id, []]]));
  });

  test('fires triggers only where it is to', () => {
    const world = new AccountWorld(without);
    world.ingest([view('ada')]);
    world.configuration = scored;
    const { commands } = backfill(world, [view('ada')]);
    expect(commands.map(({ fire_triggers }) => fire_triggers)).toEqual([false]);
  });

  test('without account scoring counts nobody', () => {
    const world = new AccountWorld(without);
    world.ingest([view('ada')]);
    expect(backfill(world, [view('ada')])).toMatchObject({ events: [], commands: [] });
  });

  test('tells a lead of at most 20 accounts and 50 values, those named last', () => {
    const history = new NamedHistory();
    const causes = Array.from({ length: 30 }, (_, index) =>
      view('ada', { account: { id: `crm ${String(index)}`, a: 1, b: 2, c: 3, d: 4 } }, 10 + (index % 10)),
    );
    history.take(causes);
    const told = history.of(idOf('ada'));
    expect(told).toHaveLength(20);
    expect(told[0]).toMatchObject({ account_key: 'crm 29', at: '2026-01-01T19:00:00.000Z' });
    expect(told.flatMap(({ values }) => values)).toHaveLength(50);
  });
});
