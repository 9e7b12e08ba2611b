// Deals as pure functions: what events say of them, the points that rules give, and the laws of both.
import { describe, expect, test } from '@jest/globals';
import {
  dealFieldNames,
  records,
  routeDeclarations,
  type DealChange,
  type JsonValue,
  type RecordDeclaration,
} from '@lead-scoring/contracts';
import { emptyConfiguration, pointsByRuleset, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { compileConditionRules, matchingRules } from '../condition-rules/rules-model.js';
import { testConditionRules } from '../condition-rules/tests-model.js';
import { decideConfiguration } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import {
  at,
  createRuleset,
  deleteRule,
  idOf,
  ingested,
  ouId,
  updateRule,
  updateRuleset,
} from '../testing/builders.js';
import { configuredFrom } from '../testing/configured.js';
import {
  createDealRule,
  forgetDealLead,
  isLarge,
  isWon,
  keyOf,
  naming,
  recordDeal,
} from '../testing/deal-builders.js';
import { dealAnswer } from './answers.js';
import { decideDeal, type DealRules } from './decide.js';
import { evolveDeal } from './evolve.js';
import { mentionsIn, nameDeals } from './mention-model.js';
import { dealEvents, type DealCommand, type DealEvent } from './messages.js';
import { conditionFieldsOf, type Deal } from './state.js';

const start = configuredFrom(
  emptyConfiguration(ouId),
  createRuleset('Deals', { score_type: 'deal' }),
  createDealRule('won', isWon, { weight: 50, label: 'Won deal' }),
  createDealRule('large', isLarge, { weight: 30 }),
);

const rulesOf = ({ version, deals, rulesets }: ScoringConfiguration): DealRules => ({
  version,
  compiled: compileConditionRules(deals?.rules ?? new Map(), rulesets),
});

/** Decides commands one after the other, as the deal's partition does. */
function lived(
  commands: readonly DealCommand[],
  configuration = start,
  before: Deal | null = null,
): { deal: Deal | null; log: DealEvent[] } {
  const rules = rulesOf(configuration);
  return commands.reduce<{ deal: Deal | null; log: DealEvent[] }>(
    ({ deal, log }, command) => {
      const events = decideDeal(command, deal, rules);
      for (const { type, payload } of events) {
        const declaration: RecordDeclaration = dealEvents[type];
        expect(declaration.schema.safeParse(payload).error).toBeUndefined();
      }
      return { deal: events.reduce(evolveDeal, deal), log: [...log, ...events] };
    },
    { deal: before, log: [] },
  );
}

const hour = (hours: number) => new Date(Date.parse(at) + hours * 3_600_000).toISOString();
const stage = (value: string | null, hours = 0): DealChange => ({ field: 'stage', value, at: hour(hours) });
const amount = (value: number, hours = 0): DealChange => ({ field: 'amount', value, at: hour(hours) });
const deals = (...found: JsonValue[]) => mentionsIn(naming('ada', found).events);

describe('what events say of deals', () => {
  test('is read with its fields in one form, and fields that a deal has not are left alone', () => {
    const found = {
      id: ' D-1 ',
      stage: ' Won ',
      amount: '12500.50',
      currency: 'eur',
      closed_at: '2026-03-31',
      owner: 'Ada',
    };
    const time = '2026-01-01T11:00:00.000Z';
    expect(deals(found)).toEqual({
      deals: [
        {
          deal_id: 'D-1',
          changes: [
            { field: 'stage', value: 'Won', at: time },
            { field: 'amount', value: 12_500.5, at: time },
            { field: 'currency', value: 'EUR', at: time },
            { field: 'closed_at', value: '2026-03-31T00:00:00.000Z', at: time },
          ],
        },
      ],
      ignored: [],
    });
  });

  test('numbers name deals and stages too, null says that a field has no value, an absent field says nothing', () => {
    expect(deals({ id: 1042, stage: 3, closed_at: null }).deals).toMatchObject([
      {
        deal_id: '1042',
        changes: [
          { field: 'stage', value: '3' },
          { field: 'closed_at', value: null },
        ],
      },
    ]);
  });

  test.each<[JsonValue, string]>([
    ['D-1', 'metadata.deal'],
    [['D-1'], 'metadata.deal'],
    [true, 'metadata.deal'],
    [{}, 'metadata.deal.id'],
    [{ id: '' }, 'metadata.deal.id'],
    [{ id: ' ' }, 'metadata.deal.id'],
    [{ id: 'x'.repeat(201) }, 'metadata.deal.id'],
    [{ id: 'a\u0000b' }, 'metadata.deal.id'],
    [{ id: 'a\ud800' }, 'metadata.deal.id'],
    [{ id: { a: 1 } }, 'metadata.deal.id'],
    [{ id: 'D-1', stage: 'x'.repeat(101) }, 'metadata.deal.stage'],
    [{ id: 'D-1', stage: ['won'] }, 'metadata.deal.stage'],
    [{ id: 'D-1', amount: '12,5' }, 'metadata.deal.amount'],
    [{ id: 'D-1', amount: '1'.repeat(41) }, 'metadata.deal.amount'],
    [{ id: 'D-1', amount: 'NaN' }, 'metadata.deal.amount'],
    [{ id: 'D-1', amount: true }, 'metadata.deal.amount'],
    [{ id: 'D-1', currency: 'Euro' }, 'metadata.deal.currency'],
    [{ id: 'D-1', currency: 'E1R' }, 'metadata.deal.currency'],
    [{ id: 'D-1', closed_at: 'soon' }, 'metadata.deal.closed_at'],
    [{ id: 'D-1', closed_at: '2026-02-30' }, 'metadata.deal.closed_at'],
    [{ id: 'D-1', closed_at: '0000-01-01T00:00:00+10:00' }, 'metadata.deal.closed_at'],
    [{ id: 'D-1', closed_at: 1_700_000_000 }, 'metadata.deal.closed_at'],
  ])('%j is no deal: it is ignored, and the problem is named', (found, path) => {
    const { deals: read, ignored } = deals(found, { id: 'D-2' });
    expect(read).toMatchObject([{ deal_id: 'D-2' }]);
    expect(ignored).toEqual([
      { event_id: expect.any(String), path, problem: expect.stringMatching(/^must /) },
    ]);
    const payload = { ou_id: ouId, lead_id: idOf('ada'), count: 1, deals: ignored, decided_at: at };
    expect(records.dealsIgnored.schema.safeParse(payload).error).toBeUndefined();
  });

  test('any JSON is a deal that its record can hold, or ignored', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          id: fc.oneof(fc.string({ unit: 'binary', maxLength: 210 }), fc.jsonValue()),
          stage: fc.jsonValue(),
          amount: fc.oneof(fc.double(), fc.string(), fc.jsonValue()),
          currency: fc.oneof(fc.constantFrom('EUR', 'eur'), fc.jsonValue()),
          closed_at: fc.oneof(
            fc.date({ noInvalidDate: true }).map((date) => date.toJSON()),
            fc.jsonValue(),
          ),
        },
        { requiredKeys: [] },
      ),
    ) as fc.Arbitrary<JsonValue>;
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), (found) => {
        const { deals: read, ignored } = deals(...found);
        for (const { deal_id, changes } of read) {
          const { payload } = recordDeal(deal_id, [...changes]);
          expect(records.recordDeal.schema.safeParse(payload).error).toBeUndefined();
          expect(JSON.parse(JSON.stringify(changes))).toEqual(changes);
        }
        expect(ignored.length).toBeLessThanOrEqual(found.length);
        for (const one of ignored) expect(one.problem.length).toBeGreaterThan(5);
      }),
      { numRuns: 2_000 },
    );
  });

  test('an event without a deal costs one look at a property', () => {
    const { events } = ingested('ada', [{}, { metadata: { path: '/' } }, { metadata: { deal: null } }]);
    expect(nameDeals(events)).toBe(false);
    expect(mentionsIn(events)).toEqual({ deals: [], ignored: [] });
    expect(nameDeals(naming('ada', [{ id: 'D-1' }]).events)).toBe(true);
  });
});

describe('the points of a deal', () => {
  test('are given and taken as it begins and ceases to meet rules, each decision with its reasons', () => {
    const { deal, log } = lived([
      recordDeal('D-1', [stage('open'), amount(20_000)]),
      recordDeal('D-1', [stage('won', 1)]),
      recordDeal('D-1', [amount(500, 2)]),
    ]);
    expect(log.map(({ payload }) => payload)).toMatchObject([
      { new_deal: true, previous_score: 0, score: 30, adjustments: [{ rule_id: idOf('large'), points: 30 }] },
      {
        previous_score: 30,
        score: 80,
        adjustments: [{ reason: 'deal_rule', rule_id: idOf('won'), rule_version: 1, points: 50 }],
        configuration_version: start.version,
      },
      { previous_score: 80, score: 50, adjustments: [{ rule_id: idOf('large'), points: -30, matched: 0 }] },
    ]);
    expect(deal).toMatchObject({ score: 50, leads: [idOf('ada')] });
  });

  test('follow a changed rule, a limit and a deletion with the next event that names the deal', () => {
    const before = lived([recordDeal('D-1', [stage('won'), amount(20_000)])]).deal;
    const again = [recordDeal('D-1', [])];
    expect(lived(again, start, before).log).toEqual([]);
    const changed = configuredFrom(
      start,
      updateRule('won', { weight: 70 }),
      updateRuleset('Deals', { max_score: 90 }),
    );
    const after = lived(again, changed, before);
    expect(after.log).toMatchObject([
      {
        payload: {
          previous_score: 80,
          score: 90,
          adjustments: [
            { rule_id: idOf('won'), rule_version: 2, points: 20 },
            { reason: 'held_by_ruleset', ruleset_id: idOf('Deals'), points: -10 },
          ],
        },
      },
    ]);
    const deleted = lived(again, configuredFrom(changed, deleteRule('won')), after.deal);
    expect(deleted.log).toMatchObject([{ payload: { score: 30 } }]);
    const off = lived(again, configuredFrom(start, updateRuleset('Deals', { active: false })), before);
    expect(off.log).toMatchObject([{ payload: { score: 0, adjustments: [{ matched: 1 }, { matched: 1 }] } }]);
  });

  test('are explained by the rules that give them, in the words of their versions', () => {
    const configuration = configuredFrom(start, updateRuleset('Deals', { max_score: 60 }));
    const { deal } = lived([recordDeal('D-1', [stage('won'), amount(20_000)])], configuration);
    if (!deal) throw new Error('there is a deal');
    const now = configuredFrom(
      configuration,
      updateRule('won', { conditions: isLarge, label: 'Big' }),
      deleteRule('large'),
    );
    const answer = routeDeclarations.deal.parse(dealAnswer(deal, now, 100));
    expect(answer).toMatchObject({
      id: 'D-1',
      stage: 'won',
      amount: 20_000,
      currency: null,
      closed_at: null,
      score: 60,
      reasons_total: 3,
      reasons: [
        {
          rule_id: idOf('won'),
          label: 'Won deal',
          points: 50,
          text: 'stage is "won"',
          ruleset_name: 'Deals',
        },
        { rule_id: idOf('large'), points: 30, text: 'amount is at least 10000' },
        { points: -20, text: 'Deals: 20 points held back, at most 60 a deal' },
      ],
    });
    expect(answer.reasons.reduce((sum, { points }) => sum + points, 0)).toBe(answer.score);
    expect(dealAnswer(deal, now, 1)).toMatchObject({ reasons: [{ points: 50 }], reasons_total: 3 });
  });
});

describe('the leads of a deal', () => {
  test('are those whose events named it; a second lead names the same deal, and it stays one', () => {
    const { deal, log } = lived([
      recordDeal('D-1', [stage('open')]),
      recordDeal('D-1', [stage('won', 1)], { lead_id: idOf('bob') }),
      recordDeal('D-1', [stage('won', 1)], { lead_id: idOf('bob') }),
    ]);
    expect(deal).toMatchObject({ score: 50, leads: [idOf('ada'), idOf('bob')] });
    expect(log).toHaveLength(2);
  });

  test('are at most 100; a lead beyond is not remembered, and what it says counts', () => {
    const many = Array.from({ length: 101 }, (_, index) =>
      recordDeal('D-1', [stage(index === 100 ? 'won' : 'open', index)], { lead_id: idOf(String(index)) }),
    );
    expect(lived(many).deal).toMatchObject({ score: 50, leads: { length: 100 } });
  });

  test('go when they are deleted, and the deal goes with the last of them; then it may come anew', () => {
    const two = lived([recordDeal('D-1', [stage('won')]), recordDeal('D-1', [], { lead_id: idOf('bob') })]);
    const one = lived([forgetDealLead('D-1', 'ada'), forgetDealLead('D-1', 'ada')], start, two.deal);
    expect(one.log).toMatchObject([{ type: 'DealLeadRemoved', payload: { lead_id: idOf('ada') } }]);
    expect(one.deal).toMatchObject({ leads: [idOf('bob')], score: 50 });
    const none = lived([forgetDealLead('D-1', 'bob'), forgetDealLead('D-1', 'bob')], start, one.deal);
    expect(none.log).toMatchObject([{ type: 'DealRemoved', payload: { previous_score: 50 } }]);
    expect(none.deal).toBeNull();
    expect(lived([recordDeal('D-1', [])], start, none.deal).log).toMatchObject([
      { payload: { new_deal: true, previous_score: 0, score: 0 } },
    ]);
  });
});

describe('over random histories', () => {
  const change = fc.record({
    field: fc.constantFrom(...dealFieldNames),
    pick: fc.nat(3),
    hours: fc.nat(4),
  });
  const valuesOf = {
    stage: ['won', 'open', null, 'lost'],
    amount: [5, 20_000, null, 10_000],
    currency: ['EUR', 'USD', null, 'EUR'],
    closed_at: [at, hour(9), null, at],
  };
  const mention = fc
    .record({
      lead: fc.constantFrom('ada', 'bob'),
      changes: fc.uniqueArray(change, { selector: ({ field }) => field }),
    })
    .map(({ lead, changes }) =>
      recordDeal(
        'D-1',
        changes.map(({ field, pick, hours }) => ({
          field,
          value: valuesOf[field][pick] ?? null,
          at: hour(hours),
        })),
        { lead_id: idOf(lead) },
      ),
    );
  const command = fc.oneof(
    { weight: 6, arbitrary: mention },
    { weight: 1, arbitrary: fc.constantFrom('ada', 'bob').map((lead) => forgetDealLead('D-1', lead)) },
  );
  const reconfigured = fc.constantFrom<ConfigurationCommand>(
    updateRule('won', { weight: 5 }),
    updateRule('won', { weight: 50, active: false }),
    updateRule('won', { active: true }),
    updateRule('large', { conditions: [{ field: 'currency', operator: 'exists' }] }),
    updateRuleset('Deals', { max_score: 40 }),
    updateRuleset('Deals', { max_score: null }),
  );
  const history = fc.array(
    fc.record({
      changes: fc.array(reconfigured, { maxLength: 2 }),
      commands: fc.array(command, { maxLength: 6 }),
    }),
    { maxLength: 5 },
  );

  const livedThrough = (parts: typeof history extends fc.Arbitrary<infer Value> ? Value : never) => {
    let configuration = start;
    let deal: Deal | null = null;
    const log: DealEvent[] = [];
    for (const { changes, commands } of parts) {
      configuration = configuredFrom(configuration, ...changes);
      const part = lived(commands, configuration, deal);
      deal = part.deal;
      log.push(...part.log);
    }
    return { configuration, deal, log };
  };

  test('a replay gives the same deal', () => {
    fc.assert(
      fc.property(history, (parts) => {
        const { deal, log } = livedThrough(parts);
        const recorded = JSON.parse(JSON.stringify(log)) as DealEvent[];
        const replayed = recorded.reduce(evolveDeal, null);
        expect(replayed).toEqual(JSON.parse(JSON.stringify(deal)));
      }),
    );
  });

  test('a command that comes twice changes nothing the second time', () => {
    fc.assert(
      fc.property(history, command, (parts, repeated) => {
        const { configuration, deal } = livedThrough(parts);
        const once = lived([repeated], configuration, deal);
        expect(lived([repeated], configuration, once.deal).log).toEqual([]);
      }),
    );
  });

  test('the score is the sum of its recorded points, and of the rules that match now within their limits', () => {
    fc.assert(
      fc.property(history, (parts) => {
        const { configuration, deal, log } = livedThrough(parts);
        let score = 0;
        for (const event of log) {
          if (event.type === 'DealRemoved') expect(event.payload.previous_score).toBe(score);
          if (event.type !== 'DealScored') {
            if (event.type === 'DealRemoved') score = 0;
            continue;
          }
          const { previous_score, adjustments = [] } = event.payload;
          expect(previous_score).toBe(score);
          score += adjustments.reduce((sum, { points }) => sum + points, 0);
          expect(event.payload.score).toBe(score);
        }
        expect(deal?.score ?? 0).toBe(score);
        if (!deal) return;
        expect(pointsByRuleset(deal.given, deal.held).reduce((sum, { points }) => sum + points, 0)).toBe(
          score,
        );
        const now = lived([recordDeal('D-1', [])], configuration, deal).deal ?? deal;
        const fields = conditionFieldsOf(now);
        const rules = configuration.deals?.rules.values() ?? [];
        expect(now.score).toBe(
          testConditionRules({ noun: 'deal', fields }, rules, configuration.rulesets, []).points,
        );
        expect(now.given.map(({ rule_id }) => rule_id).sort()).toEqual(
          matchingRules(rulesOf(configuration).compiled, fields)
            .map(({ id }) => id)
            .sort(),
        );
      }),
    );
  });

  test('the fields do not depend on the order in which events of several leads arrive', () => {
    const some = fc.array(mention, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        some.chain((commands) =>
          fc.tuple(fc.constant(commands), fc.shuffledSubarray(commands, { minLength: commands.length })),
        ),
        ([commands, shuffled]) => {
          const one = lived(commands).deal;
          const other = lived(shuffled).deal;
          expect(other?.fields).toEqual(one?.fields);
          expect(other?.score).toBe(one?.score);
          expect(new Set(other?.leads)).toEqual(new Set(one?.leads));
        },
      ),
    );
  });

  test('every deal has the key that follows from its OU and its id', () => {
    expect(lived([recordDeal('D-1', [])]).deal?.key).toBe(keyOf('D-1'));
  });
});

describe('a deal rule', () => {
  const decide = (command: ConfigurationCommand, state = start) => decideConfiguration(command, state);

  test('is of the kind of its ruleset, and is changed and deleted like others', () => {
    expect(decide(createDealRule('other', isWon))).toMatchObject({ events: [{ type: 'DealRuleCreated' }] });
    expect(decide(updateRule('won', { weight: 5 }))).toMatchObject({
      events: [{ type: 'DealRuleUpdated', payload: { version: 2, weight: 5 } }],
    });
    expect(decide(createDealRule('won', isWon))).toEqual({ outcome: 'done', events: [] });
    const gone = configuredFrom(start, deleteRule('won'));
    expect(gone.deals?.rules.has(idOf('won'))).toBe(false);
    expect(decide(createDealRule('won', isWon), gone)).toMatchObject({ code: 'already_deleted' });
  });

  test('on a field that no deal has is refused, with the one that is meant: 400', () => {
    for (const command of [
      createDealRule('other', [...isWon, { field: 'ammount', operator: 'gt', value: 5 }]),
      updateRule('won', { conditions: [...isWon, { field: 'ammount', operator: 'gt', value: 5 }] }),
    ])
      expect(decide(command)).toMatchObject({
        outcome: 'rejected',
        code: 'invalid_request',
        errors: [
          { path: 'body.conditions[1].field', message: expect.stringContaining('did you mean "amount"') },
        ],
      });
  });

  test('moves to deal rulesets only: 400', () => {
    const profile = configuredFrom(start, createRuleset('Fit', { score_type: 'profile' }));
    expect(decide(updateRule('won', { ruleset_id: idOf('Fit') }), profile)).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'body.ruleset_id' }],
    });
  });
});
