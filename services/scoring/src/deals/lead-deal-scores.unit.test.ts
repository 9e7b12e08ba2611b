// The deal scores of leads as pure functions: the commands of deals to their leads, the decisions of the leads, and their explanations.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { emptyConfiguration, explainDeals } from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { compileConditionRules } from '../condition-rules/rules-model.js';
import { toLead, toLeadDocument } from '../leads/documents.js';
import { foldAdjusted } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import { leadName } from '../leads/lead-batch.js';
import type { Lead } from '../leads/state.js';
import { decideLeads } from '../scores/decide.js';
import { causedEvents } from '../testing/caused-events.js';
import { at, createRuleset, deleted, idOf, ouId, updateRule, updateRuleset } from '../testing/builders.js';
import { configuredFrom } from '../testing/configured.js';
import { createDealRule, isLarge, isWon, keyOf, naming } from '../testing/deal-builders.js';
import { viewRules } from '../testing/view-rules.js';
import { withDeals } from './decide-batch.js';
import { decideLeadDealScores } from './decide-lead-deal-scores.js';
import { decideDeal } from './decide.js';
import { evolveDeal } from './evolve.js';
import { dealScoreOf } from './lead-deal-score-model.js';
import type { DealCommand } from './messages.js';
import type { Deal } from './state.js';
import { commandsOfDecision, sentPointsOf } from './deal-score-commands.js';

const start = configuredFrom(
  emptyConfiguration(ouId),
  createRuleset('Deals', { score_type: 'deal' }),
  createDealRule('won', isWon, { weight: 50, label: 'Won deal' }),
  createDealRule('large', isLarge, { weight: 30 }),
);
const configurations = [
  start,
  configuredFrom(start, updateRule('won', { weight: 70 })),
  configuredFrom(start, updateRuleset('Deals', { max_score: 60 })),
  configuredFrom(start, updateRule('large', { active: false })),
  // The limit holds all points of the second rule that a deal meets: its score stays.
  configuredFrom(start, updateRuleset('Deals', { max_score: 50 })),
  // The two rules take from each other what they give.
  configuredFrom(start, updateRule('large', { weight: -50 })),
];
/** With more rules that a deal meets than a lead is sent reasons. */
const manyRules = Array.from({ length: 60 }, (_, nth) =>
  createDealRule(`rule ${String(nth)}`, isWon, { weight: 1 }),
).reduce((configuration, rule) => configuredFrom(configuration, rule), start);

type Happened = records.EventsIngested | records.LeadDeleted;
type ToLead = records.RecordDealScore;

/** The partitions of leads and of deals; what they send each other waits until it is delivered. */
class World {
  readonly leads = new Map<string, Lead>();
  readonly deals = new Map<string, Deal>();
  readonly decisions: records.ScoreAdjusted[] = [];
  readonly #toDeals: DealCommand[] = [];
  readonly #toLeads: ToLead[] = [];
  configuration = start;
  #offset = 0;

  /** Folds events of leads. The commands to their deals wait for `decideDeals`. */
  take(...happened: Happened[]): this {
    for (const payload of happened) {
      const source = { offset: (this.#offset += 1) };
      const cause =
        'events' in payload
          ? { type: 'EventsIngested' as const, payload, source }
          : { type: 'LeadDeleted' as const, payload, source };
      const before = (_: string, leadId: string) => this.leads.get(leadId) ?? null;
      const batch = withDeals(decideLeads([cause], before, viewRules), [cause], before);
      if (!batch) throw new Error('the batch is too large');
      this.#toDeals.push(...batch.commands);
      for (const event of causedEvents(batch.decided)) {
        const { lead_id } = event.payload;
        if (event.type === 'LeadRemoved') this.leads.delete(lead_id);
        else
          this.leads.set(
            lead_id,
            foldLead(this.leads.get(lead_id) ?? null, event.payload, (this.#offset += 1)),
          );
      }
    }
    return this;
  }

  /** Decides on so many of the commands to deals. */
  decideDeals(count = Infinity): this {
    const { version, deals, rulesets } = this.configuration;
    const rules = { version, compiled: compileConditionRules(deals?.rules ?? new Map(), rulesets) };
    for (const command of this.#toDeals.splice(0, count)) {
      const { deal_key } = command.payload;
      let deal = this.deals.get(deal_key) ?? null;
      const events = decideDeal(command, deal, rules);
      for (const { type, payload } of events)
        if (type === 'DealScored') expect(records.dealScored.schema.safeParse(payload).error).toBeUndefined();
      this.#toLeads.push(...commandsOfDecision(deal, events, version));
      deal = events.reduce(evolveDeal, deal);
      if (deal) this.deals.set(deal_key, deal);
      else this.deals.delete(deal_key);
    }
    return this;
  }

  /** The deals as the version before deal scores of leads left them: scored, and nothing sent to their leads. */
  afterEarlierVersion(): this {
    this.decideDeals().#toLeads.length = 0;
    return this.withUnmarkedDeals();
  }

  withUnmarkedDeals(): this {
    for (const [key, deal] of this.deals) {
      const unmarked: { -readonly [Key in keyof Deal]: Deal[Key] } = { ...deal };
      delete unmarked.score_sent;
      this.deals.set(key, unmarked);
    }
    return this;
  }

  /** The commands to leads that wait. */
  get waiting(): readonly ToLead[] {
    return this.#toLeads;
  }

  /** Decides the commands to leads, `size` in a batch, each `times` times. */
  deliver(size = Infinity, times = 1): this {
    while (this.#toLeads.length > 0)
      this.decide(this.#toLeads.splice(0, size).flatMap((one) => Array<ToLead>(times).fill(one)));
    return this;
  }

  decide(commands: readonly ToLead[]): records.ScoreAdjusted[] {
    for (const one of commands) expect(records.recordDealScore.schema.safeParse(one).error).toBeUndefined();
    const decided = new Map<string, Lead>();
    const events = decideLeadDealScores(commands, (_, id) => this.leads.get(id) ?? null, decided);
    for (const event of events) {
      expect(records.scoreAdjusted.schema.safeParse(event).error).toBeUndefined();
      const lead = this.leads.get(event.lead_id);
      if (!lead) throw new Error('a decision on a lead that is not there');
      this.leads.set(lead.id, foldAdjusted(lead, event, (this.#offset += 1)));
    }
    for (const [name, lead] of decided)
      expect(lead.deal_scores).toEqual(this.leads.get(name.slice(leadName(ouId, '').length))?.deal_scores);
    this.decisions.push(...events);
    return events;
  }

  settle(): this {
    return this.decideDeals().deliver();
  }

  scoreOf(lead: string): number {
    return dealScoreOf(this.leads.get(idOf(lead))?.deal_scores);
  }
}

const after = (...happened: Happened[]) => new World().take(...happened).settle();
const [won, large] = [
  { id: 'D-1', stage: 'won' },
  { id: 'D-2', amount: 20_000 },
];

/** The whole explanation of a lead's deal score. */
function explained({ decisions, configuration, ...world }: World, name: string) {
  return explainDeals(
    { id: idOf(name), name, score: dealScoreOf(world.leads.get(idOf(name))?.deal_scores) },
    decisions.filter(({ lead_id }) => lead_id === idOf(name)),
    configuration,
    configuration,
    { at: '2027-01-01T00:00:00.000Z', range_hours: 876_000 },
  );
}

describe('a lead has the scores of its deals', () => {
  test('and one decision has what all deals of a batch give, each with its reasons', () => {
    const { decisions } = after(naming('ada', [won, large]));
    expect(decisions).toEqual([
      {
        ...{ ou_id: ouId, lead_id: idOf('ada'), score_type: 'deal', previous_score: 0, score: 80 },
        configuration_version: start.version,
        adjustments: [
          expect.objectContaining({ reason: 'deal_rule', deal_id: 'D-1', rule_id: idOf('won'), points: 50 }),
          expect.objectContaining({
            reason: 'deal_rule',
            deal_id: 'D-2',
            rule_id: idOf('large'),
            points: 30,
          }),
        ],
        decided_at: at,
        fire_triggers: true,
      },
    ]);
  });

  test('also if it names a deal that has points already, and is decided only when a score changes', () => {
    const world = after(naming('ada', [won]));
    world.take(naming('bob', [{ id: 'D-1' }]), naming('bob', [{ id: 'D-9', stage: 'open' }])).settle();
    expect(world.decisions.map(({ lead_id, score }) => [lead_id, score])).toEqual([
      [idOf('ada'), 50],
      [idOf('bob'), 50],
    ]);
    world.take(naming('bob', [{ id: 'D-1', stage: 'lost' }], { timestamp: '2026-01-01T12:00:00.000Z' }));
    world.settle();
    expect([world.scoreOf('ada'), world.scoreOf('bob')]).toEqual([0, 0]);
    expect(world.decisions).toHaveLength(4);
  });

  test('a command that comes twice changes nothing, nor does one of a deal that the lead has not named', () => {
    const world = new World()
      .take(naming('ada', [won, large]))
      .decideDeals()
      .deliver(1, 3);
    expect(world.decisions.map(({ score }) => score)).toEqual([50, 80]);
    const [first] = sentBy(new World().take(naming('ada', [won])));
    if (!first) throw new Error('there is one');
    expect(world.decide([first])).toEqual([]);
    expect(world.decide([{ ...first, deal_key: keyOf('D-7'), deal_id: 'D-7' }])).toEqual([]);
    expect(world.decide([{ ...first, lead_id: idOf('nobody') }])).toEqual([]);
  });

  test('a score that does not follow from the one that it was sent before counts as a whole', () => {
    const world = after(naming('ada', [{ id: 'D-1', stage: 'open' }]));
    const [first] = sentBy(new World().take(naming('ada', [won])));
    if (!first) throw new Error('there is one');
    expect(world.decide([{ ...first, previous_score: 20 }])).toMatchObject([
      { previous_score: 0, score: 50, adjustments: [{ reason: 'deal', deal_id: 'D-1', points: 50 }] },
    ]);
  });

  test('imported history and other events are not decided together', () => {
    const world = new World();
    world.take(naming('ada', [won], { fire_triggers: false }), naming('ada', [large])).settle();
    expect(world.decisions.map(({ score, fire_triggers }) => [score, fire_triggers])).toEqual([
      [50, false],
      [80, true],
    ]);
  });

  test('a sum beyond the range of scores is held in it, and comes back from there', () => {
    const world = after(naming('ada', [won, large]));
    const [first, second] = sentBy(new World().take(naming('ada', [won]), naming('ada', [large]))).map(
      withoutReasons,
    );
    if (!first || !second) throw new Error('there are two');
    const huge = 2 ** 31 - 1;
    expect(
      world.decide([
        { ...first, score: huge },
        { ...second, score: huge },
      ]),
    ).toMatchObject([
      {
        score: huge,
        adjustments: [
          { reason: 'deal', points: huge - 50 },
          { reason: 'deal', points: huge - 30 },
          { reason: 'held_at_largest_score', points: -huge },
        ],
      },
    ]);
    expect(world.decide([{ ...first, previous_score: huge, score: 5 }])).toMatchObject([
      { previous_score: huge, score: huge, adjustments: [{}, { reason: 'held_at_largest_score' }] },
    ]);
  });

  test('a deal with a hundred leads is sent to each, and with many reasons it counts as a whole', () => {
    const names = Array.from({ length: 100 }, (_, nth) => `lead${String(nth)}`);
    const world = after(...names.map((lead) => naming(lead, [{ id: 'D-1' }])));
    world.configuration = manyRules;
    world.take(naming('lead7', [won])).settle();
    expect(names.map((lead) => world.scoreOf(lead))).toEqual(names.map(() => 110));
    expect(world.decisions[0]?.adjustments).toEqual([{ reason: 'deal', deal_id: 'D-1', points: 110 }]);
  });
});

describe('a deal that counts as a whole', () => {
  const later = (minute: number) => ({ timestamp: new Date(Date.parse(at) + minute * 60_000).toISOString() });
  const both = { id: 'D-1', stage: 'won', amount: 20_000 };
  const wholeDeal = () => {
    const world = new World();
    world.configuration = manyRules;
    return world.take(naming('ada', [both], later(0))).settle();
  };

  test('counts so until its score is 0: a rule that ends is no driver, and does not begin', () => {
    const world = wholeDeal();
    world.take(naming('ada', [{ id: 'D-1', amount: 10 }], later(1))).settle();
    expect(explained(world, 'ada')).toMatchObject({
      ...{ score: 110, top_drivers: [], adjustments: [{ reason: 'deal', points: 110, count: 2 }] },
      deal_entries: [{ words: '-30: deal D-1 as a whole.' }, { words: '+140: deal D-1 as a whole.' }],
    });
    world.take(naming('ada', [{ id: 'D-1', stage: 'lost' }], later(2))).settle();
    world.take(naming('ada', [{ id: 'D-1', amount: 20_000 }], later(3))).settle();
    const now = explained(world, 'ada');
    expect(now).toMatchObject({ score: 30, top_drivers: [{ rule_id: idOf('large'), count: 1, total: 30 }] });
    expect(now).not.toHaveProperty('adjustments');
    expect(world.leads.get(idOf('ada'))).not.toHaveProperty('whole_deals');
  });

  test('has what rules and limits gave before in its sum', () => {
    const world = after(naming('ada', [both], later(0)));
    world.configuration = configurations[2] ?? start;
    world.take(naming('ada', [{ id: 'D-1', amount: 20_001 }], later(1))).settle();
    expect(explained(world, 'ada')).toMatchObject({
      top_drivers: [{ total: 50 }, { total: 30 }],
      adjustments: [{ reason: 'held_by_ruleset', points: -20 }],
    });
    const command = { ou_id: ouId, lead_id: idOf('ada'), deal_key: keyOf('D-1'), deal_id: 'D-1' };
    world.decide([
      {
        ...{ ...command, previous_score: 1, score: 70, configuration_version: 1 },
        ...{ decided_at: at, fire_triggers: true },
      },
    ]);
    expect(explained(world, 'ada')).toMatchObject({
      ...{ score: 70, top_drivers: [], adjustments: [{ reason: 'deal', points: 70, count: 1 }] },
    });
  });

  test('stays so when the lead has other events', () => {
    const world = wholeDeal();
    world.take(naming('ada', [{ id: 'D-2', stage: 'open' }], later(1))).settle();
    const lead = world.leads.get(idOf('ada'));
    expect(lead).toMatchObject({ whole_deals: [keyOf('D-1')] });
    expect(lead && toLead(toLeadDocument(lead, 0), ouId)).toEqual(lead);
  });
});

test('points that are taken back are named so, also where no decision says that they were given', () => {
  const taken = {
    ...{ reason: 'deal_rule' as const, deal_id: 'D-1', rule_id: idOf('large'), rule_version: 1, points: -30 },
    ...{ ruleset_id: idOf('Deals'), counted: 0, matched: 0 },
  };
  const { deal_entries } = explainDeals(
    { id: idOf('ada'), name: 'Ada', score: -30 },
    [{ decided_at: at, configuration_version: 1, adjustments: [taken] }],
    ...([start, start, { at, range_hours: 1 }] as const),
  );
  expect(deal_entries).toMatchObject([
    { words: '-30: deal D-1 no longer meets the rule (amount is at least 10000).' },
  ]);
});

test('a rule that several deals meet counts once for each, by the points that it gives', () => {
  const world = after(naming('ada', [won, { ...won, id: 'D-3' }]));
  world.configuration = configurations[1] ?? start;
  world.take(naming('ada', [{ ...won, id: 'D-4' }])).settle();
  expect(explained(world, 'ada').top_drivers).toMatchObject([
    { rule_id: idOf('won'), count: 2, weight: 50, total: 100, rule_version: 1 },
    { rule_id: idOf('won'), count: 1, weight: 70, total: 70, rule_version: 2 },
  ]);
});

describe('a deal of an earlier version', () => {
  const later = (minute: number) => ({ timestamp: new Date(Date.parse(at) + minute * 60_000).toISOString() });
  const earlier = () =>
    new World()
      .take(naming('ada', [won], later(0)), naming('bob', [{ id: 'D-1' }], later(0)))
      .afterEarlierVersion();

  test('counts for all of its leads, with its reasons, from the next mention on, and fires no triggers for it', () => {
    const world = earlier();
    world.take(naming('ada', [{ id: 'D-1' }], later(1))).settle();
    expect(world.decisions).toMatchObject(
      ['ada', 'bob'].map((lead) => ({
        ...{ lead_id: idOf(lead), previous_score: 0, score: 50, fire_triggers: false },
        adjustments: [{ reason: 'deal_rule', rule_id: idOf('won'), points: 50 }],
      })),
    );
    world.take(naming('bob', [{ id: 'D-1' }], later(2))).decideDeals();
    expect(world.waiting).toEqual([]);
  });

  test('that the mention changes counts as it was before, and then with the change', () => {
    const world = earlier();
    world.take(naming('ada', [{ id: 'D-1', amount: 20_000 }], later(1))).settle();
    expect(explained(world, 'bob')).toMatchObject({
      ...{ score: 80, top_drivers: [{ total: 50 }, { total: 30 }] },
      deal_entries: [{ points: 30 }, { points: 50 }],
    });
    expect(explained(world, 'bob')).not.toHaveProperty('adjustments');
  });

  test('whose score its leads know changes nothing', () => {
    const world = after(naming('ada', [won], later(0))).withUnmarkedDeals();
    world.take(naming('ada', [{ id: 'D-1' }], later(1))).settle();
    expect(world.decisions).toHaveLength(1);
    world.take(naming('ada', [{ id: 'D-1', amount: 20_000 }], later(2))).settle();
    expect(explained(world, 'ada')).toMatchObject({ top_drivers: [{ total: 50 }, { total: 30 }] });
  });

  test('a deal of this version is sent to its leads only when its score changes', () => {
    const world = after(naming('ada', [won], later(0)));
    world.take(naming('ada', [{ id: 'D-1' }], later(1)), naming('ada', [won], later(2))).decideDeals();
    expect(world.waiting).toEqual([]);
  });
});

describe('changes that leave the score of a deal as it is', () => {
  const later = (minute: number) => ({ timestamp: new Date(Date.parse(at) + minute * 60_000).toISOString() });

  test('are explained with its next change', () => {
    const world = after(naming('ada', [{ id: 'D-1', stage: 'won' }], later(0)));
    world.configuration = configurations[4] ?? start;
    world.take(naming('ada', [{ id: 'D-1', amount: 20_000 }], later(1))).settle();
    // Another lead that names the deal is sent the same reasons.
    world.take(naming('bob', [{ id: 'D-1' }], later(1))).settle();
    expect(world.decisions).toHaveLength(2);
    world.take(naming('ada', [{ id: 'D-1', stage: 'lost' }], later(2))).settle();
    for (const lead of ['ada', 'bob']) {
      expect(explained(world, lead)).toMatchObject({
        ...{ score: 30, unattributed: 0, top_drivers: [{ rule_id: idOf('large'), total: 30 }] },
      });
      expect(explained(world, lead)).not.toHaveProperty('adjustments');
    }
  });

  test('at 0 leave nothing to explain, and the next change has all reasons', () => {
    const world = new World();
    world.configuration = configurations[5] ?? start;
    world.take(naming('ada', [{ id: 'D-1', stage: 'won', amount: 20_000 }], later(0))).settle();
    expect(world.decisions).toEqual([]);
    world.take(naming('ada', [{ id: 'D-1', stage: 'lost' }], later(1))).settle();
    expect(explained(world, 'ada')).toMatchObject({
      score: -50,
      top_drivers: [{ rule_id: idOf('large'), total: -50 }],
    });
    world.take(naming('ada', [{ id: 'D-1', stage: 'won' }], later(2))).settle();
    expect(explained(world, 'ada')).toMatchObject({ score: 0, top_drivers: [] });
  });
});

function withoutReasons(command: ToLead): ToLead {
  const bare = { ...command };
  delete bare.adjustments;
  return bare;
}

/** The commands that deals send to leads once they are decided. */
function sentBy(world: World): ToLead[] {
  const found: ToLead[] = [];
  world.decideDeals();
  const decide = world.decide.bind(world);
  world.decide = (commands) => {
    found.push(...commands);
    return decide(commands);
  };
  world.deliver();
  return found;
}

describe('deletion', () => {
  test('of a lead leaves nothing of its deals, also for a later lead of its alias', () => {
    const world = new World().take(naming('ada', [won])).decideDeals();
    // The command of the deal comes after the deletion and the next lead.
    world.take(deleted('ada'), naming('ada', [{ id: 'D-1' }])).deliver();
    world.settle();
    expect(world.leads.get(idOf('ada'))?.deal_scores ?? {}).toEqual({});
    expect(world.deals.get(keyOf('D-1'))).toMatchObject({ score: 0 });
  });

  test('of another lead of the deal changes nothing', () => {
    const world = after(naming('ada', [won]), naming('bob', [won]));
    world.take(deleted('bob')).settle();
    expect(world.scoreOf('ada')).toBe(50);
    expect(world.decisions).toHaveLength(2);
  });
});

describe('whatever happens', () => {
  const leads = ['ada', 'bob', 'cy'];
  const deal = fc.record(
    {
      id: fc.constantFrom('D-1', 'D-2', 'D-3', 'D-4'),
      stage: fc.constantFrom('won', 'lost', 'open'),
      amount: fc.constantFrom(10, 20_000),
    },
    { requiredKeys: ['id'] },
  );
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('named' as const),
        lead: fc.constantFrom(...leads),
        deals: fc.array(deal, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('upgraded' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('deleted' as const), lead: fc.constantFrom(...leads) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('decided' as const), count: fc.nat(4) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('delivered' as const),
        size: fc.integer({ min: 1, max: 5 }),
        times: fc.integer({ min: 1, max: 2 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('configured' as const),
        nth: fc.nat(configurations.length),
      }),
    },
  );

  function lived(steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]): World {
    const world = new World();
    for (const [minute, one] of steps.entries()) {
      const timestamp = new Date(Date.parse(at) + minute * 60_000).toISOString();
      if (one.kind === 'named') world.take(naming(one.lead, one.deals, { timestamp }));
      else if (one.kind === 'upgraded') world.withUnmarkedDeals();
      else if (one.kind === 'deleted') world.take(deleted(one.lead));
      else if (one.kind === 'decided') world.decideDeals(one.count);
      else if (one.kind === 'delivered') world.deliver(one.size, one.times);
      else world.configuration = configurations[one.nth] ?? manyRules;
    }
    return world.settle();
  }

  test('the deal score of a lead is the sum of the scores of its deals, and its decisions explain it', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const world = lived(steps);
        for (const name of leads) {
          const lead = world.leads.get(idOf(name));
          const computed = [...world.deals.values()]
            .filter((one) => one.leads.includes(idOf(name)))
            .reduce((sum, { score }) => sum + score, 0);
          expect(world.scoreOf(name)).toBe(lead ? computed : 0);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('the entries of an explanation are all of the score, and so are its drivers with what no rule gave', () => {
    const living = step.filter(({ kind }) => kind !== 'deleted');
    fc.assert(
      fc.property(fc.array(living, { maxLength: 40 }), (steps) => {
        const world = lived(steps);
        for (const name of leads) {
          const score = world.scoreOf(name);
          const found = explained(world, name);
          expect(found).toMatchObject({ score, unattributed: 0, level: null, score_type: 'deal' });
          const sum = (all: readonly { points: number }[] = []) =>
            all.reduce((total, { points }) => total + points, 0);
          expect(sum(found.deal_entries)).toBe(score);
          const ofRules = found.top_drivers.reduce((total, driver) => total + driver.total, 0);
          expect(ofRules + sum(found.adjustments)).toBe(score);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('a driver is what its rule gives now for the deals with reasons, and its total is its count times its weight', () => {
    const living = step.filter(({ kind }) => kind !== 'deleted');
    fc.assert(
      fc.property(fc.array(living, { maxLength: 40 }), (steps) => {
        const world = lived(steps);
        for (const name of leads) {
          const drivers = explained(world, name).top_drivers;
          const { deal_scores = {}, whole_deals = [] } = world.leads.get(idOf(name)) ?? {};
          const given = new Map<string, number[]>();
          for (const deal of world.deals.values())
            if (deal_scores[deal.key] !== undefined && !whole_deals.includes(deal.key))
              for (const { rule_id, points } of sentPointsOf(deal).given)
                given.set(rule_id, [...(given.get(rule_id) ?? []), points].sort());
          const byRule = new Map<string, number[]>();
          for (const { rule_id, count, weight, total } of drivers) {
            expect(total).toBe(count * weight);
            const each = Array<number>(count).fill(weight);
            byRule.set(rule_id, [...(byRule.get(rule_id) ?? []), ...each].sort());
          }
          expect(byRule).toEqual(given);
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('an explanation names deal, rule and points in words, as of a moment', () => {
  const world = after(naming('ada', [won], { received_at: '2026-01-01T12:00:00.000Z' }));
  world.configuration = configurations[2] ?? start;
  const later = { timestamp: '2026-01-02T11:00:00.000Z', received_at: '2026-01-02T12:00:00.000Z' };
  world.take(naming('ada', [{ id: 'D-1', amount: 20_000 }], later)).settle();
  world.take(
    naming('ada', [{ id: 'D-1', stage: 'lost' }], { ...later, timestamp: '2026-01-02T11:30:00.000Z' }),
  );
  world.settle();
  const explain = (moment: string) =>
    explainDeals(
      { id: idOf('ada'), name: 'Ada', score: world.scoreOf('ada') },
      world.decisions,
      world.configuration,
      world.configuration,
      { at: moment, range_hours: 1_000 },
    );
  const now = explain('2026-01-03T00:00:00.000Z');
  expect(now.deal_entries?.map(({ deal_id, words }) => [deal_id, words])).toEqual([
    ['D-1', '+20: deal D-1: the limits of "Deals" hold other points than before.'],
    ['D-1', '-50: deal D-1 no longer meets "Won deal" (stage is "won").'],
    ['D-1', '-20: deal D-1: the limits of "Deals" hold other points than before.'],
    ['D-1', '+30: deal D-1 began to meet the rule (amount is at least 10000).'],
    ['D-1', '+50: deal D-1 began to meet "Won deal" (stage is "won").'],
  ]);
  expect(now).toMatchObject({ score: 30, top_drivers: [{ rule_id: idOf('large'), total: 30 }] });
  expect(now).not.toHaveProperty('adjustments');
  expect(explain('2026-01-01T13:00:00.000Z')).toMatchObject({
    score: 50,
    unattributed: 0,
    entries_total: 1,
    top_drivers: [{ label: 'Won deal', event_type: 'Deal', total: 50 }],
  });
});
