// Random histories are given to scoring's deciders and folds and to a second, plain scoring: scores and explanations have to be equal
// at every moment, whatever happened and however often the states were folded anew.
import { expect, test } from '@jest/globals';
import { isFullSize } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import { createDecay, deleteDecay, updateDecay } from '../testing/decay-builders.js';
import {
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  resetScores,
  setRulesActive,
  updateRuleset,
} from '../testing/builders.js';
import {
  ReferenceScoring,
  type ReferenceDecay,
  type ReferenceEvent,
  type ReferenceRule,
} from './reference-scoring.js';
import { ScoringInMemory } from './scoring-in-memory.js';

const leads = ['ada', 'grace', 'linus'];
const rulesets = ['Intent', 'Interest'];
/** The limits of this one change. Its rules have small weights, as requests may have. */
const limitedRuleset = 'Interest';
const eventTypes = ['Page View', 'Email Open', 'Form Submit'];
const paths = ['/pricing', '/Pricing/team', '/blog', undefined];
const firstDay = Date.parse('2026-03-01T00:00:00.000Z');
const timeOf = (hour: number) => new Date(firstDay + hour * 3_600_000).toISOString();

/** Between one and 90 days: events' times are before and after the moments at which the system takes them. */
const hour = fc.integer({ min: 0, max: 90 * 24 });
const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
const largeWeights = [2_000_000_000, -2_000_000_000];

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant('events' as const),
      lead: some(leads),
      events: fc.array(fc.record({ event_type: some(eventTypes), path: some(paths), hour }), {
        minLength: 1,
        maxLength: 4,
      }),
      /** Decided together with the step before it, if that brought events too. */
      sameBatch: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('rule' as const),
      ruleset: some(rulesets),
      event_type: some(eventTypes),
      weight: fc.oneof(
        { weight: 20, arbitrary: fc.integer({ min: -20, max: 20 }).filter((weight) => weight !== 0) },
        { weight: 1, arbitrary: some(largeWeights) },
      ),
      path_contains: some(['/pricing', '/blog', undefined]),
      active: fc.boolean(),
      starts: fc.option(hour, { nil: undefined, freq: 4 }),
      ends: fc.option(hour, { nil: undefined, freq: 4 }),
      limits: fc.record(
        {
          max_count: fc.integer({ min: 1, max: 4 }),
          once_per: some(['event', 'lead', 'value:path'] as const),
          cap_points: fc.integer({ min: 1, max: 60 }),
          cap_days: fc.integer({ min: 1, max: 40 }),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('limit' as const),
      min_score: fc.option(fc.integer({ min: -40, max: 0 })),
      max_score: fc.option(fc.integer({ min: 0, max: 40 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('switch' as const),
      rules: fc.array(fc.nat(9), { maxLength: 3 }),
      active: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('ruleset' as const),
      ruleset: some(rulesets),
      active: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('delete' as const),
      lead: some(leads),
      sameBatch: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('reset' as const), lead: some(leads), again: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('crash' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('decay' as const),
      mode: some(['inactivity_points', 'percent_interval', 'half_life'] as const),
      amount: fc.integer({ min: 1, max: 40 }),
      interval_days: fc.integer({ min: 1, max: 9 }),
      ruleset: some([limitedRuleset, undefined]),
      floor: some([0, 0, -10, 15]),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('change decay' as const),
      decay: fc.nat(9),
      to: some(['paused', 'active', 'another amount', 'another name', 'deleted'] as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('days' as const), days: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('ticks' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** What an explanation says, without the words for it. */
interface Said {
  score: number;
  unattributed: number;
  drivers: [rule: string, count: number, weight: number, total: number][];
  /** Of rules and rulesets that held points back. */
  adjustments: [ruleOrRuleset: string, points: number][];
  decay_applied: number;
}

/** Plays a history to both, and compares them after each step. */
class Play {
  readonly #scoring = new ScoringInMemory();
  readonly #reference = new ReferenceScoring();
  readonly #rules: string[] = [];
  readonly #decays: { name: string; isActive: boolean; decay: ReferenceDecay | null }[] = [];
  #batch: Parameters<ScoringInMemory['decide']>[0][number][] = [];
  #clock = firstDay + 45 * 86_400_000;
  #events = 0;
  /** Explanations that were given in earlier moments, of leads that are still there. */
  #answers: { lead: string; at: string; said: Said }[] = [];

  /** @param runsTicks whether ticks are run in time; else they are decided when the next event comes */
  constructor(private readonly runsTicks = true) {
    for (const name of rulesets) {
      this.#scoring.command(createRuleset(name, { requested_at: this.#tick() }));
      this.#reference.rulesets.set(name, { active: true });
    }
  }

  step(step: Step): void {
    if (!('sameBatch' in step && step.sameBatch)) this.#decideBatch();
    switch (step.does) {
      case 'events':
        this.#takeEvents(step);
        break;
      case 'delete':
        this.#delete(step.lead);
        break;
      case 'reset':
        this.#reset(step);
        break;
      case 'rule':
        this.#createRule(step);
        break;
      case 'switch':
        this.#switchRules(step);
        break;
      case 'ruleset':
        this.#scoring.command(
          updateRuleset(step.ruleset, { active: step.active, requested_at: this.#tick() }),
        );
        this.#reference.rulesets.set(step.ruleset, {
          ...this.#reference.rulesets.get(step.ruleset),
          active: step.active,
        });
        break;
      case 'limit':
        this.#limitRuleset(step);
        break;
      case 'decay':
        this.#createDecay(step);
        break;
      case 'change decay':
        this.#changeDecay(step);
        break;
      case 'days':
        this.#clock += step.days * 86_400_000;
        break;
      case 'ticks':
        if (this.runsTicks) this.runTicks();
        else this.#tick();
        break;
      case 'crash':
        this.#scoring.crash();
    }
  }

  /** @param moments hours of the clock of the events, at which the past is compared */
  end(moments: readonly number[]): void {
    this.#decideBatch();
    for (const { lead, at, said } of this.#answers) expect(this.#said(lead, { known_at: at })).toEqual(said);
    for (const hour of moments)
      for (const lead of this.#reference.leads()) {
        this.#comparePast(lead, timeOf(hour));
        for (const { at } of this.#answers.slice(-3)) this.#comparePast(lead, timeOf(hour), at);
      }
  }

  /** Every tick up to now is decided. */
  runTicks(): void {
    this.#decideBatch();
    const now = this.#tick();
    for (const lead of this.#reference.leads()) {
      this.#scoring.runDecay(idOf(lead), now);
      // Twice changes nothing.
      this.#scoring.runDecay(idOf(lead), now);
      this.#reference.pass(lead, now);
    }
    this.#compare();
  }

  /** What remains of each lead. */
  scores(): [lead: string, score: number | null, rulesets: unknown, decay_applied: number][] {
    return this.#reference
      .leads()
      .sort()
      .map((lead) => [
        lead,
        this.#reference.score(lead),
        this.#scoring.leads.get(idOf(lead))?.rulesets,
        this.#said(lead).decay_applied,
      ]);
  }

  #comparePast(lead: string, at: string, knownAt?: string): void {
    const said = this.#said(lead, { at, ...(knownAt !== undefined && { known_at: knownAt }) });
    const expected = this.#reference.byRule(lead, at, knownAt);
    expect(said.unattributed).toBe(0);
    expect(totalsOf(said)).toEqual(renamed(expected));
    const faded = this.#reference.faded(lead, at, knownAt);
    expect(said.decay_applied).toBe(faded);
    if (!this.#reference.isPlainSum(lead)) return;
    const held = this.#reference.heldBack(lead, at, knownAt);
    expect(heldIn(said)).toEqual(renamed(held));
    const sum = [...expected.values(), ...held.values()].reduce((total, points) => total + points, faded);
    expect(said.score).toBe(Math.max(-2_147_483_648, Math.min(2_147_483_647, sum)));
  }

  #takeEvents({ lead, events }: Extract<Step, { does: 'events' }>): void {
    const received_at = this.#tick();
    const taken = events.map(({ event_type, path, hour }): ReferenceEvent => ({
      id: idOf(`event ${String((this.#events += 1))}`),
      event_type,
      timestamp: timeOf(hour),
      ...(path !== undefined && { path }),
    }));
    for (const event of taken) this.#reference.take(lead, event, received_at);
    const payload = ingested(
      lead,
      taken.map(({ path, ...event }) => ({ ...event, ...(path !== undefined && { metadata: { path } }) })),
      { received_at },
    );
    this.#batch.push({ type: 'EventsIngested', payload });
  }

  #delete(lead: string): void {
    this.#batch.push({ type: 'LeadDeleted', payload: deleted(lead, { deleted_at: this.#tick() }) });
    this.#reference.delete(lead);
    this.#answers = this.#answers.filter((answer) => answer.lead !== lead);
  }

  #reset({ lead, again }: Extract<Step, { does: 'reset' }>): void {
    const requested_at = this.#tick();
    const command = resetScores(lead, { reset_id: idOf(`reset ${requested_at}`), requested_at });
    this.#scoring.reset(command);
    if (again) this.#scoring.reset(command);
    this.#reference.reset(lead, requested_at);
    this.#compare();
  }

  #createRule(step: Extract<Step, { does: 'rule' }>): void {
    const { starts, ends, ruleset, path_contains, event_type, active } = step;
    const isLarge = largeWeights.includes(step.weight);
    const weight = isLarge && ruleset === limitedRuleset ? 20 : step.weight;
    const limits = isLarge ? {} : sensibleLimits(weight, step.limits);
    const fields = { event_type, weight, active, ...limits };
    const id = `rule ${String(this.#rules.length)}`;
    // A rule that ends before it starts is refused.
    if (starts !== undefined && ends !== undefined && ends <= starts) return;
    const times = {
      ...(starts !== undefined && { starts_at: timeOf(starts) }),
      ...(ends !== undefined && { ends_at: timeOf(ends) }),
    };
    this.#scoring.command(
      createRule(id, {
        ...fields,
        ...times,
        ruleset_id: idOf(ruleset),
        requested_at: this.#tick(),
        ...(path_contains !== undefined && {
          filters: [{ field: 'path', operator: 'contains', value: path_contains }],
        }),
      }),
    );
    this.#rules.push(id);
    this.#reference.rules.set(id, {
      id,
      ruleset,
      ...fields,
      ...times,
      ...(path_contains !== undefined && { path_contains }),
    });
  }

  #createDecay({ mode, amount, interval_days, ruleset, floor }: Extract<Step, { does: 'decay' }>): void {
    // An organizational unit has a limited number of them.
    if (this.#decays.length >= 10) return;
    const name = `decay ${String(this.#decays.length)}`;
    const requested_at = this.#tick();
    const decay: ReferenceDecay = {
      id: idOf(name),
      mode,
      amount: mode === 'inactivity_points' ? -amount : amount,
      interval_days,
      ...(ruleset !== undefined && { ruleset }),
      floor,
    };
    this.#scoring.command(
      createDecay(name, {
        mode,
        ...amountOf(decay),
        interval_days,
        floor,
        ...(ruleset !== undefined && { ruleset_id: idOf(ruleset) }),
        requested_at,
      }),
    );
    this.#decays.push({ name, isActive: true, decay });
    this.#reference.startDecay(decay, requested_at);
  }

  #changeDecay({ decay: index, to }: Extract<Step, { does: 'change decay' }>): void {
    const known = this.#decays[index];
    if (!known?.decay) return;
    const { name, isActive, decay } = known;
    const requested_at = this.#tick();
    const id = idOf(name);
    switch (to) {
      case 'deleted':
        this.#scoring.command(deleteDecay(name, { requested_at }));
        this.#reference.endDecay(id, requested_at);
        known.decay = null;
        return;
      case 'another name':
        this.#scoring.command(updateDecay(name, { name: `${name} at ${requested_at}`, requested_at }));
        return;
      case 'another amount': {
        const other = { ...decay, amount: decay.amount + Math.sign(decay.amount) };
        this.#scoring.command(updateDecay(name, { ...amountOf(other), requested_at }));
        known.decay = other;
        if (!isActive) return;
        this.#reference.endDecay(id, requested_at);
        this.#reference.startDecay(other, requested_at);
        return;
      }
      default: {
        const active = to === 'active';
        this.#scoring.command(updateDecay(name, { active, requested_at }));
        if (active === isActive) return;
        known.isActive = active;
        if (active) this.#reference.startDecay(decay, requested_at);
        else this.#reference.endDecay(id, requested_at);
      }
    }
  }

  #limitRuleset({ min_score, max_score }: Extract<Step, { does: 'limit' }>): void {
    // A ruleset that can give nothing is refused.
    if (min_score === 0 && max_score === 0) return;
    this.#scoring.command(
      updateRuleset(limitedRuleset, { min_score, max_score, requested_at: this.#tick() }),
    );
    const known = this.#reference.rulesets.get(limitedRuleset) ?? { active: true };
    this.#reference.rulesets.set(limitedRuleset, { ...known, min_score, max_score });
  }

  #switchRules({ rules, active }: Extract<Step, { does: 'switch' }>): void {
    const named = rules.flatMap((index) => this.#rules[index] ?? []);
    this.#scoring.command(setRulesActive(named, active, { requested_at: this.#tick() }));
    for (const id of named) {
      const rule = this.#reference.rules.get(id);
      if (rule) rule.active = active;
    }
  }

  #decideBatch(): void {
    if (this.#batch.length === 0) return;
    this.#scoring.decide(this.#batch);
    this.#batch = [];
    this.#compare();
  }

  #compare(): void {
    const expected = this.#reference.leads().sort();
    expect([...this.#scoring.leads.keys()].sort()).toEqual(expected.map(idOf).sort());
    for (const lead of expected) {
      const scored = this.#scoring.leads.get(idOf(lead));
      expect(scored?.score).toBe(this.#reference.score(lead));
      const points = new Map(scored?.rulesets.map(({ ruleset_id, score }) => [ruleset_id, score]));
      expect(points).toEqual(renamed(this.#reference.rulesetScores(lead)));
      const said = this.#said(lead);
      expect(said).toMatchObject({ score: this.#reference.score(lead), unattributed: 0 });
      expect(totalsOf(said)).toEqual(renamed(this.#reference.byRule(lead)));
      expect(heldIn(said)).toEqual(renamed(this.#reference.heldBack(lead)));
      expect(said.decay_applied).toBe(this.#reference.faded(lead));
      this.#answers.push({ lead, at: timeAt(this.#clock), said });
    }
  }

  #said(lead: string, asked: { at?: string; known_at?: string } = {}): Said {
    const {
      score,
      unattributed,
      top_drivers,
      adjustments = [],
      decay_applied,
    } = this.#scoring.explain(idOf(lead), asked);
    return {
      score,
      unattributed,
      drivers: top_drivers.map(({ rule_id, count, weight, total }) => [rule_id, count, weight, total]),
      adjustments: adjustments.flatMap(({ rule_id, ruleset_id, points }) => {
        const name = rule_id ?? ruleset_id;
        return name === undefined ? [] : [[name, points] satisfies Said['adjustments'][number]];
      }),
      decay_applied,
    };
  }

  #tick(): string {
    this.#clock += 60_000;
    return timeAt(this.#clock);
  }
}

/** The limits without those that are refused beside the others. */
function sensibleLimits(
  weight: number,
  { max_count, once_per, cap_points, cap_days }: Extract<Step, { does: 'rule' }>['limits'],
): Pick<ReferenceRule, 'max_count' | 'once_per' | 'cap_points' | 'cap_days'> {
  if (once_per === 'lead') return { once_per };
  return {
    ...(max_count !== undefined && { max_count }),
    ...(once_per !== undefined && { once_per }),
    ...(cap_points !== undefined && { cap_points: Math.max(cap_points, Math.abs(weight)) }),
    ...(cap_points !== undefined && cap_days !== undefined && { cap_days }),
  };
}

function amountOf({ mode, amount }: ReferenceDecay) {
  switch (mode) {
    case 'inactivity_points':
      return { points: amount };
    case 'percent_interval':
      return { percent: amount };
    case 'half_life':
      return { half_life_days: amount };
  }
}

const timeAt = (time: number) => new Date(time).toISOString();

/** By ids in place of names. */
function renamed(byName: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...byName].map(([name, points]) => [idOf(name), points]));
}

function heldIn({ adjustments }: Said): Map<string, number> {
  const held = new Map<string, number>();
  for (const [name, points] of adjustments) held.set(name, (held.get(name) ?? 0) + points);
  return held;
}

function totalsOf({ drivers }: Said): Map<string, number> {
  const totals = new Map<string, number>();
  for (const [rule, , , total] of drivers) totals.set(rule, (totals.get(rule) ?? 0) + total);
  return totals;
}

test('scores, ruleset scores and explanations equal those of the plain scoring at every moment, and past answers stay', () => {
  const moments = fc.array(hour, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), moments, (steps, past) => {
      const play = new Play();
      for (const one of steps) play.step(one);
      play.end(past);
    }),
    { numRuns: isFullSize ? 20_000 : 500 },
  );
});

test('it makes no difference to a score when ticks are run', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), (steps) => {
      const plays = [true, false].map((runsTicks) => {
        const play = new Play(runsTicks);
        for (const one of steps) play.step(one);
        play.runTicks();
        return play.scores();
      });
      expect(plays[0]).toEqual(plays[1]);
    }),
    { numRuns: isFullSize ? 20_000 : 500 },
  );
});
