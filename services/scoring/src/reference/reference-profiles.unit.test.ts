// Random histories with profiles are given to scoring's deciders and folds and to a second, plain scoring of profiles: profiles, their
// scores and explanations have to be equal at every moment.
import { expect, test } from '@jest/globals';
import type { AttributeFilter, JsonObject, records } from '@lead-scoring/contracts';
import { profileOf } from '@lead-scoring/scoring-domain';
import { isFullSize } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import type { LeadCause } from '../scores/messages.js';
import { addMapping, deleted, idOf, ingested, removeMapping, resetScores } from '../testing/builders.js';
import { createDecay } from '../testing/decay-builders.js';
import {
  createRuleStep,
  isRuleStep,
  RulePlay,
  rulePageViews,
  ruleSteps,
  Tally,
  type MeantConditions,
} from './condition-rule-steps.js';
import {
  ReferenceProfiles,
  type ProfileEvent,
  type ProfileFacts,
  type ReferenceMapping,
} from './reference-profiles.js';
import { ReferenceScoring } from './reference-scoring.js';
import { ScoringInMemory } from './scoring-in-memory.js';

const histories = isFullSize ? 20_000 : 500;
const leads = ['ada', 'grace', 'linus'];
const day = 86_400_000;
const firstDay = Date.parse('2026-03-01T00:00:00.000Z');
const start = firstDay + 45 * day;
const timeAt = (time: number) => new Date(time).toISOString();
const timeOf = (hour: number) => timeAt(firstDay + hour * 3_600_000);
const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
const lead = some(leads);

const metadata = fc.record(
  {
    job_title: some(['VP of Sales', 'Director', 'engineer', ' ', null]),
    role: some(['Buyer', 'vp']),
    company: some([{ size: '1,200' }, { size: 50 }, { size: 'many' }, {}, 'Acme']),
    tags: some([['a', 'b'], ['b', '', null], [], 'a']),
    firm: some(['  Acme  ', 'Umbrella']),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

const textOf = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);

/** Mappings as they are written, and what they mean. */
const mappings: (ReferenceMapping & Pick<records.AddProfileMapping, 'source' | 'transform'>)[] = [
  {
    field: 'title',
    source: 'metadata.job_title',
    transform: 'lower',
    read: ({ job_title }) => textOf(job_title)?.toLowerCase(),
  },
  { field: 'title', source: 'role', read: ({ role }) => textOf(role) },
  {
    field: 'size',
    source: 'metadata.company.size',
    transform: ['trim', 'number'],
    read: ({ company }) =>
      ({ '1,200': 1_200, '50': 50 })[String((company as { size?: unknown } | undefined)?.size)],
  },
  {
    field: 'tags',
    source: 'metadata.tags',
    read: ({ tags }) => {
      if (!Array.isArray(tags)) return textOf(tags);
      const texts = tags.flatMap((tag) => textOf(tag) ?? []);
      return texts.length > 0 ? texts : undefined;
    },
  },
  {
    field: 'seniority',
    source: 'metadata.job_title',
    transform: { first_of: ['VP', 'Director'] },
    read: ({ job_title }) =>
      ['VP', 'Director'].find((one) => textOf(job_title)?.toLowerCase().includes(one.toLowerCase())),
  },
  // It takes the place of the company that ingest reads.
  { field: 'company', source: 'firm', transform: 'trim', read: ({ firm }) => textOf(firm)?.trim() },
];

const lowered = (value: ProfileFacts[string] | undefined): string[] =>
  value === undefined ? [] : [value].flat().map((one) => String(one).toLowerCase());
const met = (written: AttributeFilter[], meets: (facts: ProfileFacts) => boolean) => ({ written, meets });
const conditions: MeantConditions<ProfileFacts>[] = [
  met([{ field: 'title', operator: 'contains', value: 'VP' }], ({ title }) =>
    lowered(title).some((one) => one.includes('vp')),
  ),
  met([{ field: 'title', operator: 'not_exists' }], ({ title }) => title === undefined),
  met(
    [{ field: 'size', operator: 'gte', value: 100 }],
    ({ size }) => typeof size === 'number' && size >= 100,
  ),
  met([{ field: 'tags', operator: 'equals', value: 'B' }], ({ tags }) => lowered(tags).includes('b')),
  met([{ field: 'seniority', operator: 'exists' }], ({ seniority }) => seniority !== undefined),
  met([{ field: 'company', operator: 'in', value: ['acme', 'initech'] }], ({ company }) =>
    ['acme', 'initech'].includes(lowered(company)[0] ?? ''),
  ),
  met(
    [
      { field: 'email_domain', operator: 'ends_with', value: 'example.com' },
      { field: 'size', operator: 'exists' },
    ],
    ({ size }) => size !== undefined,
  ),
];

const step = fc.oneof(
  ...ruleSteps,
  {
    weight: 10,
    arbitrary: fc.record({
      does: fc.constant('events' as const),
      lead,
      events: fc.array(
        fc.record({ event_type: some(['Page View', 'Email Open']), hour: fc.nat(12), metadata }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      /** Decided together with the step before it, if that brought events too. */
      sameBatch: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('map' as const),
      mapping: fc.nat(mappings.length - 1),
      to: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('delete' as const), lead, sameBatch: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('reset' as const), lead }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('days' as const), days: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('restart' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Named<Does> = Extract<Step, { does: Does }>;

/** What an explanation of a profile score says, without the words for it. */
interface Said {
  score: number;
  unattributed: number;
  drivers: [rule: string, count: number, weight: number, total: number][];
  held: Record<string, number>;
}

/** Plays a history to both, and compares them after each step. */
class Play {
  readonly #scoring = new ScoringInMemory();
  readonly #reference = new ReferenceProfiles();
  readonly #engagement = new ReferenceScoring();
  readonly #rules: RulePlay<ProfileFacts>;
  readonly #changes = new Map<string, Step['does']>();
  #batch: LeadCause[] = [];
  #clock = start;
  #events = 0;
  #mappings = 0;
  /** The names of mappings that are there, by their index. */
  readonly #mapped = new Map<number, string>();
  /** Explanations that were given, of leads that are still there. */
  #answers: { lead: string; at: string; said: Said }[] = [];

  constructor(private readonly tally: Tally) {
    rulePageViews(this.#scoring, this.#engagement, this.#tick());
    // Its ticks are decided before the events of a batch.
    const requested_at = this.#tick();
    const decay = {
      id: idOf('fades'),
      mode: 'inactivity_points',
      amount: -1,
      interval_days: 1,
      floor: 0,
    } as const;
    this.#scoring.command(createDecay('fades', { points: -1, interval_days: 1, floor: 0, requested_at }));
    this.#engagement.startDecay(decay, requested_at);
    this.#rules = new RulePlay({
      scoring: this.#scoring,
      reference: this.#reference.rules,
      score_type: 'profile',
      conditions,
      tick: () => this.#tick(),
    });
  }

  step(step: Step): void {
    if (!('sameBatch' in step && step.sameBatch)) this.#decideBatch();
    this.tally.add(step.does);
    if (isRuleStep(step)) {
      this.#rules.step(step);
      this.#changes.set(step.does, step.does);
    } else this.#play(step);
    this.#compare();
  }

  #play(step: Exclude<Step, Parameters<RulePlay<ProfileFacts>['step']>[0]>): void {
    switch (step.does) {
      case 'events':
        this.#takeEvents(step);
        return;
      case 'map':
        this.#map(step);
        return;
      case 'delete':
        this.#delete(step.lead);
        return;
      case 'reset': {
        const requested_at = this.#tick();
        this.#scoring.reset(resetScores(step.lead, { reset_id: idOf(requested_at), requested_at }));
        this.#engagement.reset(step.lead, requested_at);
        return;
      }
      case 'days':
        this.#clock += step.days * day;
        return;
      case 'crash':
        this.#scoring.crash();
        return;
      case 'restart':
        this.#scoring.restart();
    }
  }

  /** @param moments days of the clock of the system, at which explanations add up */
  end(moments: readonly number[]): void {
    this.#decideBatch();
    for (const { lead: name, at, said } of this.#answers) expect(this.#said(name, at)).toEqual(said);
    for (const days of moments)
      for (const name of this.#engagement.leads()) expectSum(this.#said(name, timeAt(start + days * day)));
  }

  #takeEvents({ lead: name, events }: Named<'events'>): void {
    const received_at = this.#tick();
    const before = {
      score: this.#reference.scoreOf(name),
      facts: JSON.stringify(this.#reference.factsOf(name)),
    };
    const taken = events.map(({ hour, metadata: found, event_type }) => {
      const event = { id: idOf(`event ${String((this.#events += 1))}`), event_type, timestamp: timeOf(hour) };
      this.#engagement.take(name, event, received_at);
      const company = textOf(found['company']);
      const said: ProfileEvent = {
        at: event.timestamp,
        metadata: found,
        ...(company !== undefined && { company }),
      };
      return { event: { ...event, metadata: found }, said };
    });
    this.#reference.take(
      name,
      taken.map(({ said }) => said),
    );
    this.#count(before, name);
    const fields = taken.flatMap(({ said: { at, company } }): records.EventsIngested['fields'] & {} =>
      company === undefined ? [] : [{ field: 'company', value: company, at }],
    );
    const payload = ingested(
      name,
      taken.map(({ event }) => event),
      { received_at, ...(fields.length > 0 && { fields }) },
    );
    this.#batch.push({ type: 'EventsIngested', payload, source: { offset: this.#events } });
  }

  #count(before: { score: number; facts: string }, name: string): void {
    const changes = before.score !== this.#reference.scoreOf(name);
    const isOther = before.facts !== JSON.stringify(this.#reference.factsOf(name));
    this.tally.add('the profile changes, and with it the score', changes && isOther);
    this.tally.add('rules changed since, and with them the score', changes && !isOther);
    this.tally.add('the profile changes, and no score', !changes && isOther);
    this.tally.add('a score falls', before.score > this.#reference.scoreOf(name));
    this.tally.add('limits hold points', this.#reference.pointsOf(name).held.size > 0);
    for (const does of this.#changes.values())
      this.tally.add(`${does}: a score changes with the next event`, changes && !isOther);
    this.#changes.clear();
  }

  #map({ mapping: nth, to }: Named<'map'>): void {
    const mapping = mappings[nth];
    const known = this.#mapped.get(nth);
    if (!mapping || (known !== undefined) === to) return;
    if (known !== undefined) {
      this.#scoring.command(removeMapping(known));
      this.#reference.mappings.delete(known);
      this.#mapped.delete(nth);
      return;
    }
    const name = `mapping ${String((this.#mappings += 1))}`;
    const { field, source, transform } = mapping;
    this.#scoring.command(addMapping(name, field, source, transform));
    this.#reference.mappings.set(name, mapping);
    this.#mapped.set(nth, name);
  }

  #delete(name: string): void {
    const payload = deleted(name, { deleted_at: this.#tick() });
    this.#batch.push({ type: 'LeadDeleted', payload, source: { offset: (this.#events += 1) } });
    this.tally.add('a lead with points is deleted', this.#reference.scoreOf(name) !== 0);
    this.#engagement.delete(name);
    this.#reference.delete(name);
    this.#answers = this.#answers.filter((answer) => answer.lead !== name);
  }

  #decideBatch(): void {
    if (this.#batch.length === 0) return;
    this.tally.add('several records in a batch', this.#batch.length > 1);
    const ticks = this.#scoring.log.length;
    this.#scoring.decide(this.#batch);
    const [first] = this.#scoring.log.slice(ticks);
    this.tally.add('ticks come before the events of a batch', first?.type === 'ScoreAdjusted');
    this.#batch = [];
    this.#compare();
  }

  #compare(): void {
    if (this.#batch.length > 0) return;
    const expected = this.#engagement.leads();
    expect([...this.#scoring.leads.keys()].sort()).toEqual(expected.map(idOf).sort());
    for (const name of expected) {
      const known = this.#scoring.leads.get(idOf(name));
      expect(known?.score).toBe(this.#engagement.score(name));
      expect(known && profileOf({ ...known, values: known.profile?.values ?? [] })).toEqual(
        this.#reference.factsOf(name),
      );
      const said = this.#said(name);
      expectSum(said);
      const { given, held } = this.#reference.pointsOf(name);
      expect(said).toEqual({
        score: this.#reference.scoreOf(name),
        unattributed: 0,
        drivers: [...given]
          .map(([rule, { weight }]): Said['drivers'][number] => [idOf(rule), 1, weight, weight])
          .sort(byRule),
        held: Object.fromEntries([...held].map(([ruleset, points]) => [idOf(ruleset), points])),
      });
      this.#answers.push({ lead: name, at: timeAt(this.#clock), said });
    }
  }

  #said(name: string, at?: string): Said {
    const found = this.#scoring.explainProfile(idOf(name), at);
    const { score, unattributed, top_drivers, adjustments = [] } = found;
    return {
      score,
      unattributed,
      drivers: top_drivers
        .map(({ rule_id, count, weight, total }): Said['drivers'][number] => [rule_id, count, weight, total])
        .sort(byRule),
      held: Object.fromEntries(adjustments.map(({ ruleset_id = '', points }) => [ruleset_id, points])),
    };
  }

  #tick(): string {
    this.#clock += 60_000;
    return timeAt(this.#clock);
  }
}

function byRule([one]: Said['drivers'][number], [other]: Said['drivers'][number]): number {
  return one < other ? -1 : 1;
}

/** An explanation adds up, at whatever moment. */
function expectSum({ score, unattributed, drivers, held }: Said): void {
  expect(unattributed).toBe(0);
  const ofRules = drivers.reduce((sum, [, , , total]) => sum + total, 0);
  expect(Object.values(held).reduce((sum, points) => sum + points, ofRules)).toBe(score);
}

test('profiles, their scores and explanations equal those of the plain scoring, and past answers stay', () => {
  const tally = new Tally();
  const history = fc.record({
    rules: fc.array(createRuleStep, { minLength: 1, maxLength: 3 }),
    // With size max, because arrays else have a few steps, which reach little.
    steps: fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
    moments: fc.array(fc.nat(60), { minLength: 1, maxLength: 3 }),
  });
  fc.assert(
    fc.property(history, ({ rules, steps, moments }) => {
      const play = new Play(tally);
      for (const one of [...rules, ...steps]) play.step(one);
      play.end(moments);
    }),
    { numRuns: histories },
  );
  expect(tally.rarerThan(histories / 100)).toEqual([]);
});
