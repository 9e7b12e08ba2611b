// How rules are suggested: which traits count, that memory is bounded, that nothing of an outcome or after it is learned from, and that
// what is suggested is a draft.
import { describe, expect, test } from '@jest/globals';
import { records, routes } from '@lead-scoring/contracts';
import fc from 'fast-check';
import type { LeadCause } from '../scores/messages.js';
import { compileRules } from '../scores/rule-model.js';
import {
  addMapping,
  createProfileRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
} from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { draftOf } from '../what-if/draft-model.js';
import { Outcomes } from '../what-if/replay-model.js';
import { association } from './association-model.js';
import { joinedFound, suggestionResultOf } from './found-model.js';
import { isHeldOut } from './held-out-model.js';
import { packRows, TraitRows, unpackRows } from './rows-model.js';
import { suggestedBy } from './suggest-model.js';
import { chosenTraits, joinedSurvey, TraitSurvey } from './survey-model.js';
import { coveredBy, eventTraits, EventWalk, nameOf, type Trait } from './trait-model.js';

const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString();
const range = { until: day(99) };
const leadOf = (number: number) => `lead ${String(number)}`;

const nothing = configured();

interface Done {
  type: string;
  day: number;
  metadata?: Record<string, string | number>;
}
const did = (lead: string, ...events: Done[]): LeadCause => ({
  type: 'EventsIngested',
  payload: ingested(
    lead,
    events.map(({ type, day: at, metadata }, index) => ({
      id: idOf(`${lead} ${type} ${String(at)} ${String(index)}`),
      event_type: type,
      timestamp: day(at),
      ...(metadata && { metadata }),
    })),
  ),
});
const gone = (lead: string): LeadCause => ({ type: 'LeadDeleted', payload: deleted(lead) });

/** A survey of a history, and the leads by the traits that it chose. */
function learnedFrom(causes: readonly LeadCause[], configuration = nothing) {
  const outcomes = new Outcomes({ event_type: 'Deal Won' }, range);
  outcomes.take(causes);
  const hasOutcome = (leadId: string) => outcomes.times.has(leadId);
  const bounds = { range, outcomeTimes: outcomes.times };
  const traitsOf = eventTraits(compileRules(configuration));
  const surveyed = new TraitSurvey(hasOutcome);
  new EventWalk(surveyed, traitsOf, bounds).take(causes);
  const survey = surveyed.found(coveredBy(configuration));
  const chosen = chosenTraits(survey);
  const sink = new TraitRows(chosen, hasOutcome);
  new EventWalk(sink, traitsOf, bounds).take(causes);
  return { survey, chosen, rows: unpackRows(sink.found()), size: surveyed.size };
}

/** 200 leads: half saw a demo, and half of those won; of the others one in ten. */
const demos = Array.from({ length: 200 }, (_, index) => {
  const saw = index < 100;
  const won = saw ? index % 2 === 0 : index % 10 === 0;
  return did(
    leadOf(index),
    { type: 'Page View', day: 0, metadata: { source: index % 3 === 0 ? 'Ads' : 'Mail' } },
    ...(saw ? [{ type: 'Demo', day: 1 }] : []),
    ...(won
      ? [
          { type: 'Deal Won', day: 2 },
          { type: 'Invoice', day: 3 },
        ]
      : []),
  );
});

describe('what leads did', () => {
  test('before the outcome is counted, by leads, and so are those without it', () => {
    const { survey } = learnedFrom(demos);
    expect(survey).toMatchObject({ leads: 200, won: 60 });
    expect(survey.traits).toContainEqual({ trait: { event_type: 'Demo' }, leads: 100, won: 50 });
    expect(survey.traits.map(({ trait }) => nameOf(trait))).not.toContain(nameOf({ event_type: 'Invoice' }));
    expect(survey.traits.map(({ trait }) => nameOf(trait))).not.toContain(nameOf({ event_type: 'Deal Won' }));
  });

  test('is weighed when it goes with the outcome more clearly than chance makes it once in a thousand times', () => {
    // By hand: 30 are expected of the 100, 50 are there; (50 - 30)² / (200 · ½ · ½ · 0.3 · 0.7) = 38.1.
    expect(association({ leads: 100, won: 50 }, { leads: 200, won: 60 })).toBeCloseTo(38.095, 3);
    expect(learnedFrom(demos).chosen).toEqual([{ event_type: 'Demo' }]);
  });

  test('of a lead that was deleted does not count', () => {
    const { survey } = learnedFrom([...demos, gone(leadOf(0)), gone(leadOf(1))]);
    expect(survey).toMatchObject({ leads: 198, won: 59 });
    expect(survey.traits).toContainEqual({ trait: { event_type: 'Demo' }, leads: 98, won: 49 });
  });

  test('100,000 event types of nobody else do not hide what many leads did, and memory stays bounded', () => {
    const garbage = Array.from({ length: 100_000 }, (_, index) =>
      did(leadOf(1_000 + (index % 2_000)), { type: `Garbage ${String(index)}`, day: 0 }),
    );
    const half = garbage.length / 2;
    const { chosen, survey, size } = learnedFrom([
      ...garbage.slice(0, half),
      ...demos,
      ...garbage.slice(half),
    ]);
    expect(size).toBeLessThanOrEqual(10_000);
    expect(survey.traits.length).toBeLessThanOrEqual(records.suggestionLimits.traitsPerStep);
    expect(chosen).toContainEqual({ event_type: 'Demo' });
  });

  test('that fewer than five leads of a partition share is recorded nowhere', () => {
    const mail = (index: number) => ({
      type: 'Mail',
      day: 0,
      metadata: { to: `person${String(index)}@example.com` },
    });
    const causes = [
      ...demos,
      ...Array.from({ length: 20 }, (_, index) => did(leadOf(index), mail(Math.floor(index / 4)))),
    ];
    expect(JSON.stringify(learnedFrom(causes).survey)).not.toContain('person');
  });
});

describe('a suggestion', () => {
  const many = (count: number) => [
    { has: [0], leads: 100 * count, won: 50 * count },
    { has: [], leads: 100 * count, won: 10 * count },
  ];

  test('gives 10 points for odds that are doubled, once a lead, with the leads behind it', () => {
    // The odds ratio is 9, and 10 · log2(9) = 31.7.
    const { changes, support, leads, won } = suggestedBy([{ event_type: 'Demo' }], many(100), {
      configuration: nothing,
    });
    expect(changes).toEqual([
      { op: 'add', rule: { event_type: 'Demo', weight: 32, max_count: 1, label: 'Demo' } },
    ]);
    expect({ leads, won }).toEqual({ leads: 20_000, won: 6_000 });
    expect(support).toEqual([
      {
        with: { leads: 10_000, won: 5_000 },
        without: { leads: 10_000, won: 1_000 },
        odds_ratio: expect.closeTo(9, 1),
      },
    ]);
  });

  test('changes the weight of a rule that there is, and switches one off that does nothing', () => {
    const configuration = configured(
      createRule('demo', { event_type: 'Demo', weight: 3, cap_points: 5 }),
      createRule('idle', { event_type: 'Page View', weight: 7 }),
    );
    const rows = many(100).flatMap(({ has, leads, won }) => [
      { has: [...has, 1], leads: leads / 2, won: won / 2 },
      { has, leads: leads / 2, won: won / 2 },
    ]);
    const traits: Trait[] = [{ rule_id: idOf('demo') }, { rule_id: idOf('idle') }];
    expect(suggestedBy(traits, rows, { configuration }).changes).toEqual([
      { op: 'change', rule_id: idOf('demo'), rule: { weight: 32, max_count: 1, cap_points: null } },
      { op: 'change', rule_id: idOf('idle'), rule: { active: false } },
    ]);
  });

  test.each([
    ['once for every lead', { once_per: 'lead' as const }, {}],
    ['for every event', {}, { max_count: 1 }],
    ['once for every value', { once_per: 'value:source' as const }, { max_count: 1 }],
  ])('lets a rule that counts %s count once a lead, in a draft that a what-if takes', (_, limits, added) => {
    const configuration = configured(createRule('demo', { event_type: 'Demo', weight: 5, ...limits }));
    const { changes } = suggestedBy([{ rule_id: idOf('demo') }], many(100), { configuration });
    expect(changes).toEqual([{ op: 'change', rule_id: idOf('demo'), rule: { weight: 32, ...added } }]);
    expect(
      draftOf({ changes, score_type: 'engagement' }, configuration, { job_id: idOf('job'), at: day(99) }),
    ).toMatchObject({
      outcome: 'done',
    });
  });

  test('weighs the rule in place of the trait that it is about', () => {
    const configuration = configured(createRule('demo', { event_type: 'demo', weight: 3 }));
    expect(learnedFrom(demos, configuration).chosen).toEqual([{ rule_id: idOf('demo') }]);
  });

  test('is empty where too few leads had the outcome, or too few had the trait', () => {
    const context = { configuration: nothing };
    const few = [
      { has: [0], leads: 9, won: 9 },
      { has: [], leads: 900, won: 0 },
    ];
    expect(suggestedBy([{ event_type: 'Demo' }], few, context).changes).toEqual([]);
    const rare = [
      { has: [0], leads: 19, won: 19 },
      { has: [], leads: 900, won: 20 },
    ];
    expect(suggestedBy([{ event_type: 'Demo' }], rare, context).changes).toEqual([]);
    expect(suggestedBy([], [], context)).toEqual({ leads: 0, won: 0, changes: [], support: [] });
  });

  test('is a draft that a what-if takes, for events and for profiles, whatever the values', () => {
    const property = fc.record({
      field: fc.string({ minLength: 1, maxLength: 200 }),
      value: fc.oneof(
        fc.string({ maxLength: 100 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
      ),
    });
    const configuration = configured(
      createRuleset('Fit', { score_type: 'profile' }),
      addMapping('title', 'title', 'metadata.title'),
      createProfileRule('chief', [{ field: 'title', operator: 'contains', value: 'chief' }]),
    );
    fc.assert(
      fc.property(property, fc.boolean(), (of, isOfEvent) => {
        const trait = isOfEvent ? { event_type: 'Demo', property: of } : { property: of };
        const { changes } = suggestedBy([trait], many(100), { configuration, ruleset_id: idOf('Fit') });
        expect(changes).toHaveLength(1);
        const body = { changes, score_type: isOfEvent ? 'engagement' : 'profile' };
        expect(routes.startWhatIf.body.safeParse(body).success).toBe(true);
        expect(
          draftOf({ changes, score_type: 'engagement' }, configuration, { job_id: idOf('job'), at: day(0) }),
        ).toMatchObject({ outcome: 'done' });
      }),
    );
  });
});

describe('the laws', () => {
  test('nothing that comes with the outcome or after it is learned from', () => {
    const late = fc.array(
      fc.record({ type: fc.constantFrom('Demo', 'Invoice'), day: fc.integer({ min: 2, max: 9 }) }),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(fc.array(late, { minLength: 100, maxLength: 100 }), (tails) => {
        const winners = Array.from({ length: 100 }, (_, index) => leadOf(index)).filter(
          (_, index) => index % 2 === 0,
        );
        const more = winners.flatMap((lead, index) =>
          tails[index]?.length ? [did(lead, ...(tails[index] ?? []))] : [],
        );
        const { rows, survey } = learnedFrom([...demos, ...more]);
        const before = learnedFrom(demos);
        expect({ rows, survey }).toEqual({ rows: before.rows, survey: before.survey });
      }),
      { numRuns: 20 },
    );
  });

  test('rows are the same whatever the order, and packed as they are unpacked', () => {
    const row = fc.record({
      has: fc.uniqueArray(fc.nat(63)),
      leads: fc.integer({ min: 1, max: 9 }),
      won: fc.constant(1),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const packed = packRows(rows);
        expect(packRows([...rows].reverse())).toEqual(packed);
        expect(packRows(unpackRows(packed))).toEqual(packed);
        const wanted = rows.map(({ has }) => [...has].sort((one, other) => one - other).join());
        expect(new Set(unpackRows(packed).map(({ has }) => has.join()))).toEqual(new Set(wanted));
      }),
    );
  });

  test('surveys of two partitions are that of both', () => {
    const [one, other] = [learnedFrom(demos.slice(0, 90)).survey, learnedFrom(demos.slice(90)).survey];
    const joined = joinedSurvey(one, other);
    expect(joined).toMatchObject({ leads: 200, won: 60 });
    expect(joined.traits).toContainEqual({ trait: { event_type: 'Demo' }, leads: 100, won: 50 });
  });

  test('one lead in four is held out, always the same ones', () => {
    const leads = Array.from({ length: 4_000 }, (_, index) => idOf(leadOf(index)));
    const heldOut = leads.filter(isHeldOut);
    expect(heldOut.length).toBeGreaterThan(900);
    expect(heldOut.length).toBeLessThan(1_100);
    expect(leads.filter(isHeldOut)).toEqual(heldOut);
  });
});

test('a result judges by the leads that were held out, and forgets the leads that it learned from', () => {
  const suggested = { leads: 10, won: 5, changes: [], support: [] };
  const found = [
    { survey: { leads: 10, won: 5, traits: [] } },
    { rows: packRows([{ has: [], leads: 10, won: 5 }]) },
    { suggested },
    { judged: { live: { won: [0, 2], others: [0, 2] }, draft: { won: [5, 2], others: [0, 2] } } },
    { judged: { live: { won: [0, 1], others: [0, 1] }, draft: { won: [5, 1], others: [0, 1] } } },
  ].reduce<records.SuggestionFound>(joinedFound, {});
  expect(Object.keys(found).sort()).toEqual(['judged', 'suggested']);
  expect(suggestionResultOf(found, { configuration_version: 3 }, 4)).toMatchObject({
    learned_from: { leads: 10, won: 5 },
    held_out: { leads: 6, won: 3, auc: 1, live: { auc: 0.5 } },
    overtaken: true,
  });
});
