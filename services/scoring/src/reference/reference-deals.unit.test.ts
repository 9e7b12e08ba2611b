// Random histories with deals are given to the deciders and folds of leads and deals and to a second, plain scoring of deals: deals,
// deal scores of leads and their explanations have to be equal, in whatever order the partitions hear of each other.
import { expect, test } from '@jest/globals';
import type { JsonValue, records } from '@lead-scoring/contracts';
import { isFullSize } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import { decideDeal } from '../deals/decide.js';
import { dealScoreOf } from '../deals/lead-deal-score-model.js';
import type { Deal } from '../deals/state.js';
import type { LeadCause } from '../scores/messages.js';
import { deleted, idOf, ingested, resetScores } from '../testing/builders.js';
import { keyOf } from '../testing/deal-builders.js';
import {
  createRuleStep,
  isRuleStep,
  RulePlay,
  rulePageViews,
  ruleSteps,
  Tally,
  type MeantConditions,
} from './condition-rule-steps.js';
import { DealsInMemory, type DealAndLead } from './deals-in-memory.js';
import { ReferenceDeals, type DealFacts, type SaidOfDeal } from './reference-deals.js';
import { ReferenceScoring } from './reference-scoring.js';
import { ScoringInMemory } from './scoring-in-memory.js';

const histories = isFullSize ? 20_000 : 500;
const leads = ['ada', 'grace', 'linus'];
const deals = ['D-1', 'd-1', 'D 2', '7'];
const firstDay = Date.parse('2026-03-01T00:00:00.000Z');
const timeAt = (time: number) => new Date(time).toISOString();
const timeOf = (hour: number) => timeAt(firstDay + hour * 3_600_000);

/** How senders write a value, and what they mean by it. Undefined: the field is not written. */
interface Written<Value> {
  as: JsonValue | undefined;
  means: Value | null | undefined;
}
const written = <Value extends string | number>(
  ...values: [as: JsonValue, means: Value][]
): Written<Value>[] => [
  { as: undefined, means: undefined },
  { as: undefined, means: undefined },
  { as: null, means: null },
  ...values.map(([as, means]) => ({ as, means })),
];
const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
const lead = some(leads);

const mention = fc
  .record({
    id: some<[JsonValue, string]>([
      ['D-1', 'D-1'],
      ['d-1', 'd-1'],
      ['  D 2 ', 'D 2'],
      [7, '7'],
    ]),
    stage: some(written(['won', 'won'], [' Won ', 'Won'], ['lost', 'lost'], ['open', 'open'], [3, '3'])),
    amount: some(written([10, 10], [9_999.5, 9_999.5], ['20000', 20_000], ['12500.50', 12_500.5])),
    currency: some(written(['eur', 'EUR'], ['USD', 'USD'])),
    closed_at: some(
      written(
        ['2026-03-31', '2026-03-31T00:00:00.000Z'],
        ['2026-02-01T01:00:00+01:00', '2026-02-01T00:00:00.000Z'],
      ),
    ),
  })
  .map(({ id: [writtenId, id], ...fields }) => {
    const entries = Object.entries(fields).filter(([, { as }]) => as !== undefined);
    return {
      as: { id: writtenId, ...Object.fromEntries(entries.map(([field, { as }]) => [field, as ?? null])) },
      means: { id, ...Object.fromEntries(entries.map(([field, { means }]) => [field, means])) },
    };
  });
const noDeals: JsonValue[] = ['sale', { stage: 'won' }, { id: '' }, { id: 'D-1', amount: '12k' }, ['D-1']];

/** Conditions, and when a deal meets them. */
const conditions: MeantConditions<DealFacts>[] = [
  {
    written: [{ field: 'stage', operator: 'equals', value: 'won' }],
    meets: ({ stage }) => stage?.toLowerCase() === 'won',
  },
  {
    written: [{ field: 'stage', operator: 'not_equals', value: 'lost' }],
    meets: ({ stage }) => stage !== undefined && stage !== 'lost',
  },
  {
    written: [{ field: 'stage', operator: 'not_equals', value: 'Lost', match_missing: true }],
    meets: ({ stage }) => stage !== 'lost',
  },
  { written: [{ field: 'stage', operator: 'not_exists' }], meets: ({ stage }) => stage === undefined },
  {
    written: [{ field: 'amount', operator: 'gte', value: 10_000 }],
    meets: ({ amount }) => amount !== undefined && amount >= 10_000,
  },
  {
    written: [{ field: 'amount', operator: 'between', value: [1, 10_000] }],
    meets: ({ amount }) => amount !== undefined && amount >= 1 && amount <= 10_000,
  },
  {
    written: [
      { field: 'currency', operator: 'in', value: ['EUR', 'CHF'] },
      { field: 'stage', operator: 'in', value: ['won', 'open'] },
    ],
    meets: ({ currency, stage = '' }) => currency === 'EUR' && ['won', 'open'].includes(stage.toLowerCase()),
  },
  {
    written: [{ field: 'closed_at', operator: 'starts_with', value: '2026-03' }],
    meets: ({ closed_at }) => closed_at?.startsWith('2026-03') === true,
  },
  {
    written: [{ field: 'id', operator: 'starts_with', value: 'd-' }],
    meets: ({ id }) => id.toLowerCase().startsWith('d-'),
  },
];
const step = fc.oneof(
  ...ruleSteps,
  {
    weight: 10,
    arbitrary: fc.record({
      does: fc.constant('events' as const),
      lead,
      events: fc.array(
        fc.record({
          event_type: some(['Page View', 'Email Open']),
          hour: fc.nat(12),
          deal: fc.oneof(
            { weight: 12, arbitrary: mention },
            { weight: 2, arbitrary: fc.constant(null) },
            { weight: 1, arbitrary: some(noDeals).map((as) => ({ as, means: null })) },
          ),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      fire_triggers: fc.boolean(),
      /** Decided together with the step before it, if that brought events too. */
      sameBatch: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('delete' as const), lead, sameBatch: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('reset' as const), lead }) },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('hear' as const),
      leads: fc.subarray(leads, { minLength: 1 }),
      deals: fc.subarray(deals, { minLength: 1 }),
      count: fc.integer({ min: 1, max: 3 }),
      times: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('tell' as const),
      leads: fc.subarray(leads, { minLength: 1 }),
      deals: fc.subarray(deals, { minLength: 1 }),
      count: fc.integer({ min: 1, max: 3 }),
      times: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('settle' as const), order: fc.nat(11) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('restart' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Named<Name> = Extract<Step, { does: Name }>;

/** What an explanation of a deal score says, without the words for it. */
interface Said {
  score: number;
  unattributed: number;
  drivers: string[];
  held: Record<string, number>;
  whole: number;
}

/** What waits on its way from a lead to a deal. */
interface OnItsWay {
  at: string;
  /** Which of the leads of this name said it; absent: it was deleted. */
  said?: { life: number; of: { at: string; of: SaidOfDeal }[] };
}

/** Plays a history to both, and compares them after each step. */
class Play {
  readonly #scoring = new ScoringInMemory();
  readonly #deals: DealsInMemory;
  readonly #reference = new ReferenceDeals();
  readonly #engagement = new ReferenceScoring();
  readonly #rules: RulePlay<DealFacts>;
  readonly #toDeals = new Map<string, OnItsWay[]>();
  /** The steps that changed rules, and how many of them each deal has counted. */
  readonly #changes: Step['does'][] = [];
  readonly #changesBefore = new Map<string, number>();
  #batch: LeadCause[] = [];
  #clock = firstDay + 45 * 86_400_000;
  #events = 0;
  /** Explanations that were given when nothing was on its way, of leads that are still there. */
  #answers: { lead: string; at: string; said: Said }[] = [];

  constructor(
    private readonly tally: Tally,
    decide = decideDeal,
  ) {
    this.#deals = new DealsInMemory(this.#scoring, decide);
    rulePageViews(this.#scoring, this.#engagement, this.#tick());
    this.#rules = new RulePlay({
      scoring: this.#scoring,
      reference: this.#reference.rules,
      score_type: 'deal',
      conditions,
      tick: () => this.#tick(),
    });
  }

  step(step: Step): void {
    if (!('sameBatch' in step && step.sameBatch)) this.#decideBatch();
    this.tally.add(step.does);
    if (isRuleStep(step)) this.#changes.push(step.does);
    const before = this.#scores();
    this.#play(step);
    const isOther = before !== this.#scores();
    if (['hear', 'tell', 'settle'].includes(step.does))
      this.tally.add(`${step.does}: a score changes`, isOther);
    else expect([step.does, isOther]).toEqual([step.does, false]);
    if (!isRuleStep(step)) this.#compare();
  }

  #play(step: Step): void {
    if (isRuleStep(step)) {
      this.#rules.step(step);
      return;
    }
    switch (step.does) {
      case 'events':
        this.#takeEvents(step);
        break;
      case 'delete':
        this.#delete(step.lead);
        break;
      case 'reset':
        this.#reset(step.lead);
        break;
      case 'hear':
        for (const lead of step.leads) for (const deal of step.deals) this.#hear({ lead, deal }, step);
        break;
      case 'tell':
        this.#tell(step);
        break;
      case 'settle':
        this.#settle(step.order);
        break;
      case 'crash':
        this.tally.add('a crash while something is on its way', !this.#isSettled());
        this.#scoring.crash();
        this.#deals.crash();
        break;
      case 'restart':
        this.#scoring.restart();
        this.#deals.restart();
    }
  }

  /** @param moments minutes of the clock of the system, at which explanations add up */
  end(moments: readonly number[]): void {
    this.#decideBatch();
    this.#settle(0);
    this.#compare();
    for (const { lead, at, said } of this.#answers) expect(this.#said(lead, at)).toEqual(said);
    for (const minutes of moments)
      for (const lead of this.#engagement.leads())
        expectSum(this.#said(lead, timeAt(firstDay + 45 * 86_400_000 + minutes * 60_000)));
  }

  #takeEvents({ lead, events, fire_triggers }: Named<'events'>): void {
    const received_at = this.#tick();
    const said = new Map<string, { at: string; of: SaidOfDeal }[]>();
    const taken = events.map(({ event_type, hour, deal: found }) => {
      const event = { id: idOf(`event ${String((this.#events += 1))}`), event_type, timestamp: timeOf(hour) };
      this.#engagement.take(lead, event, received_at);
      if (found?.means) {
        const { id } = found.means;
        this.#reference.name(lead, id);
        said.set(id, [...(said.get(id) ?? []), { at: event.timestamp, of: found.means }]);
      } else if (found) this.#reference.ignore(lead, event.id, received_at);
      return { ...event, metadata: { deal: found && found.as } };
    });
    for (const [deal, of] of said)
      this.#send(lead, deal, { at: received_at, said: { life: this.#reference.life(lead), of } });
    const payload = ingested(lead, taken, { received_at, fire_triggers });
    this.#batch.push({ type: 'EventsIngested', payload, source: { offset: this.#events } });
  }

  #delete(lead: string): void {
    const deleted_at = this.#tick();
    const payload = deleted(lead, { deleted_at });
    this.#batch.push({ type: 'LeadDeleted', payload, source: { offset: (this.#events += 1) } });
    this.tally.add('a lead with points of deals is deleted', this.#reference.givingDeals(lead).length > 0);
    this.#engagement.delete(lead);
    for (const deal of this.#reference.delete(lead)) this.#send(lead, deal, { at: deleted_at });
    this.#answers = this.#answers.filter((answer) => answer.lead !== lead);
  }

  #reset(lead: string): void {
    const requested_at = this.#tick();
    this.#scoring.reset(resetScores(lead, { reset_id: idOf(`reset ${requested_at}`), requested_at }));
    this.#engagement.reset(lead, requested_at);
    this.tally.add('a lead with points of deals is reset', this.#reference.explain(lead).score !== 0);
  }

  #send(lead: string, deal: string, sent: OnItsWay): void {
    const way = `${lead}/${deal}`;
    this.#toDeals.set(way, [...(this.#toDeals.get(way) ?? []), sent]);
  }

  /** A deal hears so much of what a lead said of it. */
  #hear({ lead, deal }: DealAndLead, { count = Infinity, times = 1 } = {}): void {
    this.#decideBatch();
    const way = `${lead}/${deal}`;
    const heard = this.#toDeals.get(way)?.splice(0, count) ?? [];
    if (this.#toDeals.get(way)?.length === 0) this.#toDeals.delete(way);
    const until = heard.at(-1)?.at;
    if (until === undefined) return;
    for (const { said } of heard)
      if (said) this.#hearSaid({ lead, deal }, said);
      else {
        const isThere = this.#reference.leadsOf(deal).includes(lead);
        this.#reference.forget(lead, deal);
        const isLeft = this.#reference.deals().includes(deal);
        this.tally.add('a deal stays with its other leads', isThere && isLeft);
        this.tally.add('a deal goes with its last lead', isThere && !isLeft);
      }
    this.#deals.hear({ lead: idOf(lead), deal }, until, times);
    this.#compareDeals();
  }

  #hearSaid({ lead, deal }: DealAndLead, { life, of }: NonNullable<OnItsWay['said']>): void {
    const state = () => ({
      facts: JSON.stringify(this.#reference.factsOf(deal)),
      score: this.#reference.scoreOf(deal),
      leads: this.#reference.leadsOf(deal),
    });
    const before = state();
    this.#reference.hear({ name: lead, life }, deal, of);
    const after = state();
    for (const does of new Set(this.#changes.slice(this.#changesBefore.get(deal) ?? this.#changes.length)))
      this.tally.add(
        `${does}: a score changes with the next event that names the deal`,
        before.score !== after.score && before.facts === after.facts,
      );
    this.#changesBefore.set(deal, this.#changes.length);
    const changes = before.score !== after.score;
    const isNewLead = after.leads.length > before.leads.length;
    this.tally.add('fields change, and with them a score', changes && before.facts !== after.facts);
    this.tally.add('rules changed since, and with them a score', changes && before.facts === after.facts);
    this.tally.add('fields change, and no score', !changes && before.facts !== after.facts);
    this.tally.add('a changed score has several leads', changes && after.leads.length > 1);
    this.tally.add('a lead names a deal that has points', isNewLead && before.score !== 0 && !changes);
    this.tally.add('a lead that was deleted names a deal anew', isNewLead && life > 0);
    this.tally.add('points change, and no score', this.#reference.untoldOf(deal) > 0);
    this.tally.add('limits hold points', this.#reference.pointsOf(deal).held.size > 0);
  }

  #tell({ leads: named, deals: by, count, times }: Omit<Named<'tell'>, 'does'>): void {
    this.#decideBatch();
    for (const lead of named)
      this.tally.add(
        'a lead that was deleted is told a score',
        this.#scoring.leads.get(idOf(lead)) === undefined && this.#deals.isAwaitedBy(idOf(lead)),
      );
    const ways = by.flatMap((deal) => named.map((lead) => ({ lead: idOf(lead), deal })));
    this.#deals.deliver(ways, count, times);
  }

  /** Everything arrives, in one of many orders. */
  #settle(order: number): void {
    this.#decideBatch();
    const ways = [...this.#toDeals.keys()].sort();
    const first = order % Math.max(1, ways.length);
    for (const way of [...ways.slice(first), ...ways.slice(0, first)]) {
      const [lead = '', deal = ''] = way.split('/');
      this.#hear({ lead, deal });
      if (order % 3 === 0) this.#tell({ leads, deals, count: Infinity, times: 1 });
    }
    this.#tell({ leads, deals: order % 2 === 0 ? deals : deals.toReversed(), count: Infinity, times: 1 });
  }

  #decideBatch(): void {
    if (this.#batch.length === 0) return;
    this.tally.add('several records in a batch', this.#batch.length > 1);
    this.#deals.take(this.#batch);
    this.#batch = [];
    this.#compare();
  }

  #isSettled(): boolean {
    return (
      this.#batch.length === 0 &&
      this.#toDeals.size === 0 &&
      !leads.some((lead) => this.#deals.isAwaitedBy(idOf(lead)))
    );
  }

  /** Whether the lead knows what its deals know. */
  #isTold(lead: string): boolean {
    return (
      !this.#deals.isAwaitedBy(idOf(lead)) &&
      ![...this.#toDeals].some(([way, sent]) => way.startsWith(`${lead}/`) && sent.some(({ said }) => !said))
    );
  }

  #compare(): void {
    if (this.#batch.length > 0) return;
    this.#compareDeals();
    const expected = this.#engagement.leads();
    expect([...this.#scoring.leads.keys()].sort()).toEqual(expected.map(idOf).sort());
    for (const lead of expected) {
      const known = this.#scoring.leads.get(idOf(lead));
      expect(known?.score).toBe(this.#engagement.score(lead));
      const said = this.#said(lead);
      expectSum(said);
      expect(said.score).toBe(dealScoreOf(known?.deal_scores));
      const named = this.#reference.namedBy(lead).map(keyOf);
      expect(named).toEqual(expect.arrayContaining(Object.keys(known?.deal_scores ?? {})));
      if (this.#isTold(lead)) this.#compareLead(lead, said);
      if (this.#isSettled()) this.#answers.push({ lead, at: timeAt(this.#clock), said });
    }
  }

  #compareLead(lead: string, said: Said): void {
    const { score, drivers, held, whole } = this.#reference.explain(lead);
    expect(said).toEqual({
      score,
      unattributed: 0,
      drivers: drivers
        .map(({ rule, weight, count }) => driverText(idOf(rule), { weight, count, total: count * weight }))
        .sort(),
      held: Object.fromEntries([...held].map(([ruleset, sum]) => [idOf(ruleset), sum])),
      whole,
    });
    this.tally.add('several deals give a lead points', this.#reference.givingDeals(lead).length > 1);
    this.tally.add(
      'several deals meet a rule',
      drivers.some(({ count }) => count > 1),
    );
    this.tally.add('a deal counts as a whole', whole !== 0);
    this.tally.add('held points are explained', held.size > 0);
  }

  #compareDeals(): void {
    const expected = this.#reference.deals();
    expect(this.#deals.ids().sort()).toEqual([...expected].sort());
    for (const deal of expected) {
      const { reasons, ...answer } = this.#deals.answer(deal);
      const { given, held } = this.#reference.pointsOf(deal);
      expect(answer).toMatchObject({
        ...{ stage: null, amount: null, currency: null, closed_at: null },
        ...this.#reference.factsOf(deal),
        score: this.#reference.scoreOf(deal),
        lead_ids: this.#reference.leadsOf(deal).map(idOf),
        reasons_total: given.size + held.size,
      });
      const due = [
        ...[...given].map(([rule, { weight, ruleset }]) => [idOf(ruleset), idOf(rule), weight]),
        ...[...held].map(([ruleset, sum]) => [idOf(ruleset), null, sum]),
      ];
      const found = reasons.map(({ ruleset_id, rule_id = null, points: sum }) => [ruleset_id, rule_id, sum]);
      expect(found.map(String).sort()).toEqual(due.map(String).sort());
      expect(this.#deals.tested(deal)).toBe(this.#reference.dueOf(deal));
    }
    expect(this.#deals.ignored().map(({ lead_id, event_id, at }) => [lead_id, event_id, at])).toEqual(
      this.#batch.length > 0
        ? expect.anything()
        : this.#reference.ignored.map(({ lead, event, at }) => [idOf(lead), event, at]),
    );
  }

  #said(lead: string, at?: string): Said {
    const found = this.#scoring.explainDeals(idOf(lead), at);
    const { score, unattributed, top_drivers, adjustments = [], deal_entries = [] } = found;
    const entries = deal_entries.reduce((sum, entry) => sum + entry.points, 0);
    expect(entries).toBe(score);
    const held = adjustments.flatMap(({ ruleset_id, points: sum }) =>
      ruleset_id === undefined ? [] : [[ruleset_id, sum] as const],
    );
    return {
      score,
      unattributed,
      drivers: top_drivers.map((driver) => driverText(driver.rule_id, driver)).sort(),
      held: Object.fromEntries(held),
      whole: adjustments.find(({ reason }) => reason === 'deal')?.points ?? 0,
    };
  }

  #scores(): string {
    return JSON.stringify([
      this.#reference.deals().map((deal) => [deal, this.#reference.scoreOf(deal)]),
      leads.map((lead) => dealScoreOf(this.#scoring.leads.get(idOf(lead))?.deal_scores)),
    ]);
  }

  #tick(): string {
    this.#clock += 60_000;
    return timeAt(this.#clock);
  }
}

function driverText(
  rule: string,
  { weight, count, total }: { weight: number; count: number; total: number },
): string {
  return `${rule}: ${String(count)} of ${String(weight)} are ${String(total)}`;
}

/** An explanation adds up, at whatever moment. */
function expectSum({ score, unattributed, drivers, held, whole }: Said): void {
  expect(unattributed).toBe(0);
  const ofRules = drivers.reduce((sum, text) => sum + Number(text.split(' ').at(-1)), 0);
  expect(ofRules + Object.values(held).reduce((sum, more) => sum + more, 0) + whole).toBe(score);
}

const history = fc.record({
  rules: fc.array(createRuleStep, { minLength: 1, maxLength: 3 }),
  // With size max, because arrays else have a few steps, which reach little.
  steps: fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
  moments: fc.array(fc.nat(60), { minLength: 1, maxLength: 3 }),
});

/** The law, by the deciders of this decider of deals. */
function law(tally: Tally, decide = decideDeal) {
  return fc.property(history, ({ rules, steps, moments }) => {
    const play = new Play(tally, decide);
    for (const one of [...rules, ...steps]) play.step(one);
    play.end(moments);
  });
}

test('deals, deal scores of leads and explanations equal those of the plain scoring, and past answers stay', () => {
  const tally = new Tally();
  fc.assert(law(tally), { numRuns: histories });
  // The histories are worth something: all of this happened often.
  expect(tally.rarerThan(histories / 100)).toEqual([]);
});

type Decider = typeof decideDeal;

/** The decider with other decisions on a deal. */
const deciding =
  (changed: (decision: records.DealScored, deal: Deal | null) => records.DealScored): Decider =>
  (command, deal, rules) =>
    decideDeal(command, deal, rules).map((event) =>
      event.type === 'DealScored' ? { ...event, payload: changed(event.payload, deal) } : event,
    );
/** The decider without some of the reasons. */
const without = (isLeftOut: (reason: records.DealAdjustment) => boolean): Decider =>
  deciding(({ adjustments: all = [], ...decision }) => {
    const adjustments = all.filter((one) => !isLeftOut(one));
    const score = adjustments.reduce((sum, { points: more }) => sum + more, decision.previous_score);
    return { ...decision, score, ...(adjustments.length > 0 && { adjustments }) };
  });
const brokenDeciders: [broken: string, decide: Decider][] = [
  [
    'takes what arrives last for the latest',
    (command, deal, rules) => {
      if (command.type === 'ForgetDealLead') return decideDeal(command, deal, rules);
      const { payload } = command;
      const changes = payload.changes.map((change) => ({ ...change, at: payload.decided_at }));
      return decideDeal({ ...command, payload: { ...payload, changes } }, deal, rules);
    },
  ],
  ['never takes points back', without(({ counted }) => counted === 0)],
  ['forgets the limits of rulesets', without(({ reason }) => reason === 'held_by_ruleset')],
  [
    'keeps deleted leads',
    (command, deal, rules) => (command.type === 'ForgetDealLead' ? [] : decideDeal(command, deal, rules)),
  ],
  [
    'knows the first lead only',
    deciding(({ lead_id, ...decision }, deal) => ({
      ...decision,
      ...(lead_id !== undefined && !deal && { lead_id }),
    })),
  ],
  [
    'does not look at rules when an event says nothing new',
    (command, deal, rules) =>
      decideDeal(command, deal, rules).filter(
        ({ type, payload }) => type !== 'DealScored' || 'changes' in payload || 'lead_id' in payload,
      ),
  ],
];

test.each(brokenDeciders)('a decider of deals that %s does not keep this law', (_, decide) => {
  const found = fc.check(law(new Tally(), decide), { numRuns: histories, endOnFailure: true });
  expect(found.failed).toBe(true);
});
