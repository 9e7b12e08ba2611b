// Random histories with accounts are given to the deciders and folds of leads and accounts and to a second, plain scoring of accounts:
// accounts, their scores and what explains them have to be equal, in whatever order the partitions hear of each other.
import { expect, test } from '@jest/globals';
import type { JsonValue, records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { isFullSize } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import type { LeadCause } from '../scores/messages.js';
import { accountReference, deleted, idOf, ingested, resetScores, setRollUp } from '../testing/builders.js';
import { createDecay } from '../testing/decay-builders.js';
import {
  accountDeciders,
  AccountsInMemory,
  type AccountDeciders,
  type LeadAndAccount,
} from './accounts-in-memory.js';
import {
  createRuleStep,
  isRuleStep,
  manyRules,
  RulePlay,
  rulePageViews,
  ruleSteps,
  Tally,
  type MeantConditions,
} from './condition-rule-steps.js';
import {
  partsOf,
  ReferenceAccounts,
  type AccountFacts,
  type AccountName,
  type KnownSettings,
  type ReferenceContribution,
  type ReferenceMove,
  type ReferenceRollUp,
  type SaidOfAccount,
} from './reference-accounts.js';
import { ReferenceScoring } from './reference-scoring.js';
import { Ways } from './ways.js';

const histories = isFullSize ? 20_000 : 500;
const addresses: Record<string, [email: string, account: AccountName | null]> = {
  ada: ['ada@acme.com', 'domain acme.com'],
  grace: ['grace@sales.acme.com', 'domain acme.com'],
  linus: ['linus@globex.co.uk', 'domain globex.co.uk'],
  edsger: ['edsger@gmail.com', null],
};
const leads = Object.keys(addresses);
const byId = (one: string, other: string) => (idOf(one) < idOf(other) ? -1 : 1);
const accounts: AccountName[] = ['domain acme.com', 'domain globex.co.uk', 'named Crm-17', 'named 7'];
const referenceTo = (account: AccountName) => {
  const [kind, key] = partsOf(account);
  return accountReference(key, kind);
};
const accountId = (account: AccountName) => referenceTo(account).account_id;
const day = 86_400_000;
const firstDay = Date.parse('2026-03-01T00:00:00.000Z');
const timeAt = (time: number) => new Date(time).toISOString();
const timeOf = (hour: number) => timeAt(firstDay + hour * 3_600_000);
const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
const lead = some(leads);

/** `metadata.account` as senders write it, and what they mean by it. */
interface Written {
  as: JsonValue | undefined;
  means: Pick<SaidOfAccount, 'account' | 'values'>;
}
const fields = fc.record(
  {
    name: some(['Acme', 'Globex Corporation']),
    industry: some(['Mining', 'Retail']),
    size: some([20, 200]),
  },
  { requiredKeys: [] },
);
const named: fc.Arbitrary<Written> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ as: undefined, means: {} }) },
  {
    weight: 1,
    arbitrary: some<JsonValue>([null, '', ['Crm-17'], {}, { industry: 'Mining' }]).map((as) => ({
      as,
      means: {},
    })),
  },
  {
    weight: 4,
    arbitrary: some<[JsonValue, AccountName]>([
      ['acme.com', 'domain acme.com'],
      ['https://www.Acme.com/about', 'domain acme.com'],
      ['globex.co.uk', 'domain globex.co.uk'],
      [' Crm-17 ', 'named Crm-17'],
      [7, 'named 7'],
    ]).map(([as, account]) => ({ as, means: { account } })),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(some(accounts), fields).map(([account, values]) => {
      const [kind, key] = partsOf(account);
      const id = kind === 'named' ? { id: key } : {};
      const as = kind === 'named' ? id : { domain: key };
      return { as: { ...as, ...values }, means: { account, values: { ...id, ...values } } };
    }),
  },
);

const lowered = (value: string | number | undefined) => String(value ?? '').toLowerCase();
/** Conditions, and when an account meets them. */
const conditions: MeantConditions<AccountFacts>[] = [
  { written: [{ field: 'leads', operator: 'gte', value: 2 }], meets: (facts) => facts.leads >= 2 },
  { written: [{ field: 'leads_score', operator: 'gt', value: 6 }], meets: (facts) => facts.leads_score > 6 },
  {
    written: [{ field: 'leads_score', operator: 'lte', value: 0 }],
    meets: (facts) => facts.leads_score <= 0,
  },
  {
    written: [{ field: 'domain', operator: 'ends_with', value: '.COM' }],
    meets: ({ domain }) => lowered(domain).endsWith('.com'),
  },
  { written: [{ field: 'domain', operator: 'not_exists' }], meets: ({ domain }) => domain === undefined },
  {
    written: [{ field: 'name', operator: 'contains', value: 'acme' }],
    meets: ({ name }) => lowered(name).includes('acme'),
  },
  {
    written: [{ field: 'key', operator: 'equals', value: 'crm-17' }],
    meets: ({ key }) => key === 'Crm-17',
  },
  {
    written: [{ field: 'industry', operator: 'equals', value: 'mining' }],
    meets: ({ industry }) => industry === 'Mining',
  },
  {
    written: [{ field: 'industry', operator: 'not_equals', value: 'Retail', match_missing: true }],
    meets: ({ industry }) => industry !== 'Retail',
  },
  {
    written: [
      { field: 'size', operator: 'gte', value: 100 },
      { field: 'leads', operator: 'lte', value: 2 },
    ],
    meets: ({ size, leads: count }) => typeof size === 'number' && size >= 100 && count <= 2,
  },
  {
    written: [{ field: 'company', operator: 'exists' }],
    meets: ({ company }) => company !== undefined,
  },
];

const rollUp: fc.Arbitrary<ReferenceRollUp> = fc.oneof(
  some<ReferenceRollUp>([{ method: 'sum' }, { method: 'mean' }, { method: 'max' }, { method: 'none' }]),
  fc.record({ method: fc.constant('top' as const), leads: fc.integer({ min: 1, max: 3 }) }),
);
const delivered = {
  leads: fc.subarray(leads, { minLength: 1 }),
  accounts: fc.subarray(accounts, { minLength: 1 }),
  count: fc.integer({ min: 1, max: 3 }),
  times: fc.integer({ min: 1, max: 2 }),
};
const step = fc.oneof(
  ...ruleSteps,
  {
    weight: 14,
    arbitrary: fc.record({
      does: fc.constant('events' as const),
      lead,
      events: fc.array(
        fc.record({
          event_type: some(['Page View', 'Unsubscribe', 'Email Open', 'Email Open']),
          hour: fc.nat(12),
          account: named,
          company: fc.option(some(['Acme Ltd', 'Umbrella'])),
        }),
        { minLength: 1, maxLength: 2 },
      ),
      /** Decided together with the step before it, if that brought events too. */
      sameBatch: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('delete' as const), lead, sameBatch: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('reset' as const), lead }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('days' as const), days: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('roll up' as const), rollUp }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('all rulesets' as const), active: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('merge' as const),
      source: some(accounts),
      target: some(accounts),
      /** The partition of the next batch does not know of it. */
      isLate: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('walk' as const), limit: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('move' as const), ...delivered }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('hear' as const), ...delivered }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('settle' as const), order: fc.nat(11) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('restart' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Named<Name> = Extract<Step, { does: Name }>;

/** Plays a history to both, and compares them after each step. */
class Play {
  readonly #accounts: AccountsInMemory;
  readonly #reference = new ReferenceAccounts((name) => addresses[name]?.[1] ?? null);
  readonly #engagement = new ReferenceScoring();
  readonly #rules: RulePlay<AccountFacts>;
  readonly #toAccounts = new Ways<ReferenceContribution>();
  readonly #toLeads = new Ways<ReferenceMove>();
  /** Steps of moving leads of merged accounts, as they wait. */
  #steps: { account: AccountName; after: string | null }[] = [];
  /** The steps that changed rules or the roll-up, and how many of them each account has counted. */
  readonly #changes: Step['does'][] = [];
  readonly #changesBefore = new Map<AccountName, number>();
  #batch: LeadCause[] = [];
  /** The leads of the batch. */
  readonly #batched = new Set<string>();
  /** What the partition of the next batch knows, where it is behind. */
  #behind: { configuration: ScoringConfiguration; settings: KnownSettings } | null = null;
  #clock = firstDay + 45 * day;
  #events = 0;

  constructor(
    private readonly tally: Tally,
    deciders: AccountDeciders,
  ) {
    this.#accounts = new AccountsInMemory(deciders);
    const { scoring } = this.#accounts;
    rulePageViews(scoring, this.#engagement, this.#tick());
    this.#ruleUnsubscribes();
    this.#rules = new RulePlay({
      scoring,
      reference: this.#reference.rules,
      score_type: 'account',
      conditions,
      tick: () => this.#tick(),
    });
  }

  step(step: Step): void {
    if (!('sameBatch' in step && step.sameBatch)) this.#decideBatch();
    this.tally.add(step.does);
    const before = this.#scores();
    if (isRuleStep(step)) {
      this.#changes.push(step.does);
      this.#rules.step(step);
    } else this.#play(step);
    const isOther = before !== this.#scores();
    if (['hear', 'settle'].includes(step.does)) this.tally.add(`${step.does}: a score changes`, isOther);
    else expect([step.does, isOther]).toEqual([step.does, false]);
    this.#compare();
  }

  /** Everything arrives. */
  end(): void {
    this.#decideBatch();
    this.#settle(0);
    this.#compare();
  }

  #play(step: Exclude<Step, Parameters<RulePlay<AccountFacts>['step']>[0]>): void {
    switch (step.does) {
      case 'events':
        this.#takeEvents(step);
        return;
      case 'delete':
        this.#delete(step.lead);
        return;
      case 'reset':
        this.#reset(step.lead);
        return;
      case 'days':
        this.#passDays(step.days);
        return;
      case 'roll up':
        this.#setRollUp(step.rollUp);
        return;
      case 'all rulesets':
        this.#switchAll(step.active);
        return;
      case 'merge':
        this.#merge(step);
        return;
      case 'walk':
        this.#walk(step.limit);
        return;
      case 'move':
        this.#move(step);
        return;
      case 'hear':
        this.#hear(step);
        return;
      case 'settle':
        this.#settle(step.order);
        return;
      case 'crash':
        this.tally.add('a crash while something is on its way', !this.#isSettled());
        this.#accounts.crash();
        return;
      case 'restart':
        this.#accounts.restart();
    }
  }

  /** A rule that takes points, and one of decay: scores of leads fall, also below zero. */
  #ruleUnsubscribes(): void {
    const { scoring } = this.#accounts;
    const requested_at = this.#tick();
    const rule = { event_type: 'Unsubscribe', weight: -3 };
    scoring.command({
      type: 'CreateRule',
      payload: { ou_id: scoring.configuration.ou_id, rule_id: idOf('leaves'), ...rule, requested_at },
    });
    this.#engagement.rules.set('leaves', { id: 'leaves', ruleset: 'default', ...rule, active: true });
    const decay = { mode: 'inactivity_points', interval_days: 1, floor: 0 } as const;
    scoring.command(createDecay('fades', { ...decay, points: -1, requested_at }));
    this.#engagement.startDecay({ id: idOf('fades'), ...decay, amount: -1 }, requested_at);
  }

  #takeEvents({ lead: name, events }: Named<'events'>): void {
    const received_at = this.#tick();
    const taken = events.map(({ event_type, hour, account, company }) => {
      const event = { id: idOf(`event ${String((this.#events += 1))}`), event_type, timestamp: timeOf(hour) };
      this.#engagement.take(name, event, received_at);
      const said = { at: event.timestamp, ...account.means, ...(company !== null && { company }) };
      this.tally.add(
        'an event names a merged account',
        !!said.account && this.#reference.isMerged(said.account),
      );
      const metadata = account.as === undefined ? {} : { metadata: { account: account.as } };
      return { event: { ...event, ...metadata }, said };
    });
    this.#reference.take(
      name,
      taken.map(({ said }) => said),
    );
    const fieldsRead = taken.flatMap(({ said: { at, company } }): records.EventsIngested['fields'] & {} =>
      company === undefined ? [] : [{ field: 'company', value: company, at }],
    );
    const payload = ingested(
      name,
      taken.map(({ event }) => event),
      {
        received_at,
        aliases: [{ alias_kind: 'email', alias: addresses[name]?.[0] ?? '' }],
        ...(fieldsRead.length > 0 && { fields: fieldsRead }),
      },
    );
    this.#batch.push({ type: 'EventsIngested', payload, source: { offset: this.#events } });
    this.#batched.add(name);
  }

  #delete(name: string): void {
    const payload = deleted(name, { deleted_at: this.#tick() });
    this.#batch.push({ type: 'LeadDeleted', payload, source: { offset: (this.#events += 1) } });
    this.tally.add('a lead of an account is deleted', this.#reference.accountOf(name) !== null);
    this.#engagement.delete(name);
    this.#send(this.#reference.delete(name));
  }

  #reset(name: string): void {
    const requested_at = this.#tick();
    const before = this.#engagement.score(name);
    const reset = resetScores(name, { reset_id: idOf(requested_at), requested_at });
    this.#accounts.send(this.#accounts.scoring.reset(reset));
    this.#engagement.reset(name, requested_at);
    this.tally.add('a lead of an account is reset', this.#reference.accountOf(name) !== null && before !== 0);
    this.#contribute(name);
  }

  #passDays(days: number): void {
    this.#clock += days * day;
    const now = this.#tick();
    for (const name of this.#engagement.leads()) {
      const before = this.#engagement.score(name);
      this.#accounts.send(this.#accounts.scoring.runDecay(idOf(name), now));
      this.#engagement.pass(name, now);
      const isOther = before !== this.#engagement.score(name);
      this.tally.add('decay changes what a lead contributes', isOther && !!this.#reference.accountOf(name));
      if (isOther) this.#contribute(name);
    }
  }

  #setRollUp({ method, leads: highest }: ReferenceRollUp): void {
    this.#changes.push('roll up');
    this.#accounts.scoring.command(setRollUp(method, highest, { requested_at: this.#tick() }));
    this.#reference.rollUp = { method, ...(highest !== undefined && { leads: highest }) };
    this.#countSwitch();
  }

  /** Without active rulesets and without a roll-up, account scoring is off. */
  #switchAll(active: boolean): void {
    for (const ruleset of ['One', 'Other', manyRules] as const)
      this.#rules.step({ does: 'switch', ruleset, active });
    if (!active) this.#setRollUp({ method: 'none' });
    this.#countSwitch();
  }

  #countSwitch(): void {
    this.tally.add('account scoring is off', !this.#settings().isOn);
  }

  #merge({ source, target, isLate }: Named<'merge'>): void {
    const { configuration } = this.#accounts.scoring;
    const settings = this.#settings();
    const merge = () => {
      this.#accounts.merge(referenceTo(source), referenceTo(target), this.#tick());
    };
    const result = this.#reference.merge(source, target);
    this.tally.add(`a merge: ${result}`);
    if (result === 'refused') expect(merge).toThrow('MergeAccounts');
    else merge();
    if (result !== 'done') return;
    this.#steps.push({ account: source, after: null });
    this.tally.add('a merge of accounts with leads', this.#reference.leadsOf(source).size > 0);
    this.tally.add(
      'a merge into a target that others were merged into',
      accounts.some(
        (one) =>
          one !== source && one !== target && this.#reference.meant(one) === this.#reference.meant(target),
      ),
    );
    if (isLate) this.#behind = { configuration, settings };
  }

  #walk(limit: number): void {
    const [first, ...others] = this.#steps;
    this.#accounts.walk(limit, this.#tick());
    if (!first) return;
    const { account, after } = first;
    const counted = [...this.#reference.leadsOf(account).keys()].sort(byId);
    const told = counted.filter((name) => after === null || idOf(name) > after).slice(0, limit);
    this.#sendMoves(this.#reference.tell(account, told));
    const last = told.at(-1);
    this.#steps =
      last === undefined || told.length < limit ? others : [{ account, after: idOf(last) }, ...others];
    this.tally.add('a step of a merge is followed by another', this.#steps.length > others.length);
  }

  #move({ leads: by, accounts: from, count, times }: Omit<Named<'move'>, 'does'>): void {
    const ways = waysBetween(by, from);
    const moves = ways.flatMap(({ lead: name, account }) => this.#toLeads.take(`${account}/${name}`, count));
    for (const move of moves.flatMap((one) => Array<ReferenceMove>(times).fill(one))) {
      const score = this.#engagement.score(move.lead);
      const account = this.#reference.accountOf(move.lead);
      this.tally.add('a lead moves with a merge', account === move.from);
      this.tally.add('a lead that is gone is told to move', score === null);
      this.tally.add('a lead that counts elsewhere is told to move', score !== null && account !== move.from);
      this.#send(this.#reference.move(move, score ?? 0, this.#settings().version));
    }
    this.#accounts.move(ways.map(idsOf), count, times);
  }

  #hear({ leads: by, accounts: heard, count, times }: Omit<Named<'hear'>, 'does'>): void {
    const ways = waysBetween(by, heard);
    const contributions = ways
      .flatMap(({ lead: name, account }) => this.#toAccounts.take(`${name}/${account}`, count))
      .flatMap((one) => Array<ReferenceContribution>(times).fill(one));
    for (const account of heard) {
      const own = contributions.filter((one) => one.account === account);
      if (own.length > 0) this.#hearOf(account, own);
    }
    this.#accounts.hear(ways.map(idsOf), count, times);
  }

  #hearOf(account: AccountName, contributions: readonly ReferenceContribution[]): void {
    const state = () => ({
      facts: JSON.stringify(this.#reference.factsOf(account)),
      score: this.#reference.scoreOf(account),
      leads: this.#reference.leadsOf(account).size,
    });
    const before = state();
    const moves = this.#reference.hear(account, contributions);
    this.#sendMoves(moves);
    this.tally.add('a lead comes late to a merged account', moves.length > 0);
    const after = state();
    const changes = before.score !== after.score;
    const isSame = before.facts === after.facts;
    for (const does of new Set(this.#changes.slice(this.#changesBefore.get(account) ?? this.#changes.length)))
      this.tally.add(
        `${does}: a score changes with the next contribution`,
        changes && before.leads === after.leads,
      );
    this.#changesBefore.set(account, this.#changes.length);
    const { rollUp: made, points } = this.#reference.known(account);
    const isLarge = after.leads > 1;
    this.tally.add('fields change, and with them a score', changes && !isSame);
    this.tally.add('fields change, and no score', !changes && !isSame);
    this.tally.add('an account goes with its last lead', before.leads > 0 && after.leads === 0);
    this.tally.add('a lead leaves an account that stays', before.leads > after.leads && after.leads > 0);
    this.tally.add('several leads hear of each other in one decision', after.leads > before.leads + 1);
    this.tally.add('limits hold points', points.held.size > 0);
    this.tally.add('an account has a negative score', after.score < 0);
    this.tally.add(`${made.method} of several leads`, isLarge);
  }

  /** Everything arrives, in one of many orders. */
  #settle(order: number): void {
    this.#decideBatch();
    const one = { leads: order % 2 === 0 ? leads : leads.toReversed(), times: 1 };
    for (let round = 0; !this.#isSettled(); round += 1) {
      if (round > 100) throw new Error('something is sent for ever');
      const count = (order + round) % 3 === 0 ? 1 : Infinity;
      const first = (order + round) % accounts.length;
      const inOrder = [...accounts.slice(first), ...accounts.slice(0, first)];
      if (order % 4 === 0) this.#walk(3);
      this.#hear({ ...one, accounts: inOrder, count });
      if (order % 4 !== 0) this.#walk(1 + (order % 3));
      this.#move({ ...one, accounts: inOrder, count });
    }
  }

  #decideBatch(): void {
    if (this.#batch.length === 0) return;
    this.tally.add('several records in a batch', this.#batch.length > 1);
    this.tally.add('a batch is decided without a merge that is there', this.#behind !== null);
    const before = new Map(leads.map((name) => [name, this.#reference.accountOf(name)]));
    this.#accounts.take(this.#batch, this.#behind?.configuration);
    for (const name of this.#batched) this.#contribute(name, this.#behind?.settings);
    for (const [name, account] of before) {
      const now = this.#reference.accountOf(name);
      this.tally.add('a lead joins an account', account === null && now !== null);
      this.tally.add('a lead goes to another account', account !== null && now !== null && account !== now);
    }
    this.#batch = [];
    this.#batched.clear();
    this.#behind = null;
    this.#compare();
  }

  #contribute(name: string, settings = this.#settings()): void {
    const score = this.#engagement.score(name);
    if (score !== null) this.#send(this.#reference.contribute(name, score, settings));
  }

  #send(contributions: readonly ReferenceContribution[]): void {
    for (const one of contributions) this.#toAccounts.send(`${one.lead}/${one.account}`, one);
  }

  #sendMoves(moves: readonly ReferenceMove[]): void {
    for (const one of moves) this.#toLeads.send(`${one.from}/${one.lead}`, one);
  }

  #settings(): KnownSettings {
    return this.#reference.settings(this.#accounts.scoring.configuration.version);
  }

  #isSettled(): boolean {
    return (
      this.#batch.length === 0 &&
      this.#steps.length === 0 &&
      this.#toAccounts.names().length === 0 &&
      this.#toLeads.names().length === 0
    );
  }

  #compare(): void {
    if (this.#batch.length > 0) return;
    this.#compareWays();
    this.#compareAccounts();
    const { scoring } = this.#accounts;
    expect([...scoring.leads.keys()].sort()).toEqual(this.#engagement.leads().map(idOf).sort());
    for (const name of this.#engagement.leads()) this.#compareLead(name);
    if (this.#isSettled()) this.#compareSettled();
  }

  /** No more and no less is on its way than was promised. */
  #compareWays(): void {
    const { toAccounts, toLeads } = this.#accounts.waiting();
    const named = (counts: Map<string, number>, nameOf: (ends: string[]) => string) =>
      [...counts].map(([way, count]) => `${nameOf(way.split('/'))}: ${String(count)}`).sort();
    const fromLead = ([name = '', account = '']: string[]) =>
      `${idOf(name)}/${accountId(account as AccountName)}`;
    const fromAccount = ([account = '', name = '']: string[]) =>
      `${accountId(account as AccountName)}/${idOf(name)}`;
    const asIs = (ends: string[]) => ends.join('/');
    expect(named(toAccounts, asIs)).toEqual(named(this.#toAccounts.counts(), fromLead));
    expect(named(toLeads, asIs)).toEqual(named(this.#toLeads.counts(), fromAccount));
    expect(this.#accounts.steps()).toMatchObject(
      this.#steps.map(({ account, after }) => ({ account_id: accountId(account), after })),
    );
  }

  #compareAccounts(): void {
    const expected = this.#reference.accounts();
    expect(this.#accounts.ids().sort()).toEqual(expected.map(accountId).sort());
    for (const account of expected) {
      const {
        leads: counted,
        values,
        points,
        ofLeads,
        rollUp: made,
        active,
      } = this.#reference.known(account);
      const answer = this.#accounts.answer(accountId(account));
      expect(answer).toMatchObject({
        name: this.#reference.nameOf(account),
        score: this.#reference.scoreOf(account),
        leads: counted.size,
        fields: Object.fromEntries([...values].map(([field, { value }]) => [field, value])),
        roll_up: { ...made, points: ofLeads },
        unattributed: 0,
        last_activity_at: active,
      });
      expect(Object.keys(answer.fields)).toHaveLength(values.size);
      const given = answer.rules.map((rule) => [rule.ruleset_id, rule.rule_id, rule.points]);
      const held = (answer.held ?? []).map((one) => [one.ruleset_id, one.points]);
      expect([...given, ...held].map(String).sort()).toEqual(
        [
          ...[...points.given].map(([rule, { weight, ruleset }]) => [idOf(ruleset), idOf(rule), weight]),
          ...[...points.held].map(([ruleset, sum]) => [idOf(ruleset), sum]),
        ]
          .map(String)
          .sort(),
      );
      expect(new Map(this.#accounts.counted(answer.id))).toEqual(
        new Map([...counted].map(([name, score]) => [idOf(name), score])),
      );
      expect(this.#accounts.tested(answer.id)).toBe(this.#reference.dueOf(account));
    }
  }

  #compareLead(name: string): void {
    const known = this.#accounts.scoring.leads.get(idOf(name));
    const account = this.#reference.accountOf(name);
    expect(known?.score).toBe(this.#engagement.score(name));
    expect(known?.account?.account_id ?? null).toBe(account && accountId(account));
    const said = this.#accounts.explain(idOf(name));
    const score = account === null ? 0 : this.#reference.scoreOf(account);
    expect(said).toMatchObject({ score, unattributed: 0 });
    const reasons = said.account?.reasons ?? [];
    expect(reasons.reduce((sum, { points }) => sum + points, 0)).toBe(score);
  }

  /** Nothing is left in a merged account, and what counts is what the leads last contributed. */
  #compareSettled(): void {
    for (const account of this.#reference.accounts()) expect(this.#reference.isMerged(account)).toBe(false);
    for (const account of accounts) {
      const members = this.#engagement.leads().filter((name) => this.#reference.accountOf(name) === account);
      expect(new Map(this.#accounts.counted(accountId(account)))).toEqual(
        new Map(members.map((name) => [idOf(name), this.#reference.contributed(name)])),
      );
    }
  }

  #scores(): string {
    return JSON.stringify(
      this.#reference.accounts().map((account) => [account, this.#reference.scoreOf(account)]),
    );
  }

  #tick(): string {
    this.#clock += 60_000;
    return timeAt(this.#clock);
  }
}

function waysBetween(by: readonly string[], to: readonly AccountName[]) {
  return to.flatMap((account) => by.map((name) => ({ lead: name, account })));
}

function idsOf({ lead: name, account }: { lead: string; account: AccountName }): LeadAndAccount {
  return { lead: idOf(name), account: accountId(account) };
}

const history = fc.record({
  rules: fc.array(createRuleStep, { minLength: 1, maxLength: 3 }),
  // With size max, because arrays else have a few steps, which reach little.
  steps: fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
});

/** The law, by these deciders. */
function law(tally: Tally, deciders = accountDeciders) {
  return fc.property(history, ({ rules, steps }) => {
    const play = new Play(tally, deciders);
    for (const one of [...rules, ...steps]) play.step(one);
    play.end();
  });
}

test('accounts, their scores and what explains them equal those of the plain scoring', () => {
  const tally = new Tally();
  fc.assert(law(tally), { numRuns: histories });
  // The histories are worth something: all of this happened often.
  expect(tally.rarerThan(histories / 100)).toEqual([]);
});

/** The deciders with other decisions on accounts. */
const deciding = (changed: (decision: records.AccountScored) => records.AccountScored): AccountDeciders => ({
  ...accountDeciders,
  decideAccounts: (commands, sources) => accountDeciders.decideAccounts(commands, sources).map(changed),
});
/** The deciders with other contributions before accounts decide on them. */
const hearing = (
  changed: (contribution: records.ContributeToAccount) => records.ContributeToAccount[],
): AccountDeciders => ({
  ...accountDeciders,
  decideAccounts: (commands, sources) => accountDeciders.decideAccounts(commands.flatMap(changed), sources),
});
/** The deciders where leads contribute by other knowledge. */
const contributing = (
  changed: Partial<Parameters<typeof accountDeciders.contributionsOf>[2]>,
): AccountDeciders => ({
  ...accountDeciders,
  contributionsOf: (decided, causes, sources) =>
    accountDeciders.contributionsOf(decided, causes, { ...sources, ...changed }),
});
const brokenDeciders: [broken: string, deciders: AccountDeciders][] = [
  ['keep leads that have left', hearing((one) => (one.score === null ? [] : [one]))],
  [
    'count a lead anew with each contribution',
    {
      ...accountDeciders,
      decideAccounts: (commands, sources) =>
        accountDeciders.decideAccounts(commands, { ...sources, contributionBefore: () => null }),
    },
  ],
  [
    'take what arrives last for the latest',
    hearing(({ values = [], ...one }) => [
      { ...one, values: values.map((value) => ({ ...value, at: one.decided_at })) },
    ]),
  ],
  [
    'forget the limits of rulesets',
    deciding((decision) => {
      const adjustments = decision.adjustments.filter(({ reason }) => reason !== 'held_by_ruleset');
      const score = adjustments.reduce((sum, { points }) => sum + points, decision.previous_score);
      return { ...decision, adjustments, score };
    }),
  ],
  ['roll up by the sum alone', deciding((decision) => ({ ...decision, roll_up: { method: 'sum' } }))],
  ['contribute only where the score changes', contributing({ versionOf: () => 1 })],
  ['contribute though account scoring is off', contributing({ contributes: () => true })],
  ['let a lead join an account that was merged', contributing({ mergedOf: () => new Map() })],
  ['leave a lead that came late in a merged account', { ...accountDeciders, movesOfLate: () => [] }],
  [
    'move a lead that counts elsewhere by now',
    {
      ...accountDeciders,
      decideMoves: (commands, sources) =>
        accountDeciders.decideMoves(
          commands.map((one) => {
            const known = sources.leadBefore(one.ou_id, one.lead_id)?.account;
            return { ...one, from: known?.account_id ?? one.from };
          }),
          sources,
        ),
    },
  ],
  [
    'let a moved lead count in both accounts',
    {
      ...accountDeciders,
      decideMoves: (commands, sources) => {
        const { events, commands: sent } = accountDeciders.decideMoves(commands, sources);
        return { events, commands: sent.filter(({ score }) => score !== null) };
      },
    },
  ],
];

test.each(brokenDeciders)('deciders of accounts that %s do not keep this law', (_, deciders) => {
  const found = fc.check(law(new Tally(), deciders), { numRuns: histories, endOnFailure: true });
  expect(found.failed).toBe(true);
});
