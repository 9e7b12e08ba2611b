// Random histories of a few leads for laws: rules with limits, decay rules and profiles, and the steps that live scoring decides.
import fc from 'fast-check';
import type { ConfigurationCommand } from '../configuration/messages.js';
import type { ScoringInMemory } from '../reference/scoring-in-memory.js';
import type { Happening } from '../what-if/track-model.js';
import type { PlacedCause } from '../what-if/resets-model.js';
import {
  addMapping,
  createProfileRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  resetScores,
  setLevels,
} from './builders.js';
import { createDecay } from './decay-builders.js';

const firstDay = Date.parse('2026-03-01T00:00:00.000Z');
export const timeOf = (hour: number) => new Date(firstDay + hour * 3_600_000).toISOString();
const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
export const names = ['ada', 'grace', 'linus', 'edsger'];

export const base = { requested_at: timeOf(-1) };
const inWeb = { ruleset_id: idOf('Web'), ...base };
export const commands: ConfigurationCommand[] = [
  createRuleset('Web', { max_score: 60, ...base }),
  createRule('view', { weight: 7, max_count: 5, ...inWeb }),
  createRule('page', { weight: 4, once_per: 'value:path', ...inWeb }),
  createRule('open', { event_type: 'Email Open', weight: 9, cap_points: 20, cap_days: 10, ...base }),
  createRule('gone', { event_type: 'Unsubscribe', weight: -15, ...base }),
  setLevels([['Hot', 30, null]], base),
];
export const decays: ConfigurationCommand[] = [
  createDecay('Weekly', { points: -3, interval_days: 7, ...base }),
  createDecay('Half', {
    mode: 'half_life',
    half_life_days: 20,
    interval_days: 2,
    ruleset_id: idOf('Web'),
    ...base,
  }),
];
export const profiles: ConfigurationCommand[] = [
  createRuleset('Fit', { score_type: 'profile', ...base }),
  addMapping('title', 'title', 'metadata.title'),
  createProfileRule('chief', [{ field: 'title', operator: 'contains', value: 'chief' }], base),
];

export const event = fc.record({
  event_type: some(['Page View', 'Email Open', 'Unsubscribe', 'Deal Won', 'Other']),
  path: some(['/pricing', '/blog', undefined]),
  title: some(['Chief of staff', 'Clerk', undefined]),
  /** Before and after the moments at which the system takes them. */
  hour: fc.integer({ min: 0, max: 100 * 24 }),
});
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant('events' as const),
      lead: some(names),
      events: fc.array(event, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('delete' as const), lead: some(names) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('reset' as const), lead: some(names) }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('days' as const), days: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('ticks' as const) }) },
);
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
export const histories = fc.array(step, { maxLength: 40 });
/** For laws about three steps and more of one lead, which short histories rarely have. */
export const longHistories = fc.array(step, { minLength: 20, maxLength: 40 });

/** Plays steps to live scoring, and keeps what happened. */
export class Player {
  readonly happenings: Happening[] = [];
  #hours = 40 * 24;
  #events = 0;
  #steps = 0;

  constructor(private readonly live: ScoringInMemory) {}

  /** The records of ingest among what happened. */
  get causes(): PlacedCause[] {
    return this.happenings.filter((one): one is PlacedCause => one.type !== 'ScoreReset');
  }

  /** The moment of the last step. */
  get now(): string {
    return timeOf(this.#hours);
  }

  play(steps: readonly Step[]): void {
    for (const step of steps) this.#play(step, timeOf((this.#hours += 1)));
  }

  /** Decides the ticks that are due at the end. @returns the moment of the end */
  end(): string {
    const until = timeOf(this.#hours + 1);
    for (const lead of names) this.live.runDecay(idOf(lead), until);
    return until;
  }

  #play(step: Step, now: string): void {
    this.#steps += 1;
    if (step.does === 'days') this.#hours += step.days * 24;
    else if (step.does === 'ticks') for (const lead of names) this.live.runDecay(idOf(lead), now);
    else if (step.does === 'reset') {
      const reset_id = idOf(`reset ${String(this.#steps)}`);
      const payload = resetScores(step.lead, { reset_id, requested_at: now });
      this.live.reset(payload);
      this.happenings.push({ type: 'ScoreReset', payload });
    } else {
      const cause = this.#causeOf(step, now);
      this.live.decide([cause]);
      this.happenings.push(cause);
    }
  }

  #causeOf(step: Extract<Step, { does: 'events' | 'delete' }>, now: string): PlacedCause {
    const source = { offset: this.#steps };
    if (step.does === 'delete')
      return { type: 'LeadDeleted', payload: deleted(step.lead, { deleted_at: now }), source };
    const events = step.events.map(({ event_type, path, title, hour }) => ({
      id: idOf(`event ${String((this.#events += 1))}`),
      event_type,
      timestamp: timeOf(hour),
      metadata: { ...(path !== undefined && { path }), ...(title !== undefined && { title }) },
    }));
    return { type: 'EventsIngested', payload: ingested(step.lead, events, { received_at: now }), source };
  }
}
