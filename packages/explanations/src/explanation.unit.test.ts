// What is kept of a lead, and the course of its score: laws of the folds.
import { describe, expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { at, leadScored } from './testing/builders.js';
import { foldLead } from './fold.js';
import { scoreHistory } from './history-model.js';
import { nameOf, type SharedLead } from './state.js';

const fold = (decisions: readonly records.LeadScored[], from: SharedLead | null = null, offset = 0) =>
  decisions.reduce<SharedLead | null>(
    (lead, decision, index) => foldLead(lead, decision, offset + index),
    from,
  );

const named = (value: string, time: string): Partial<records.LeadScored> => ({
  fields: [
    { field: 'company', value: 'Company', at: time },
    { field: 'name', value, at: time },
  ],
});

describe('the lead', () => {
  test('is shown by its first alias until an event gives it a name; the latest by event time counts', () => {
    const one = { rule: 'view', points: 1 };
    const first = fold([leadScored('ada', one)]);
    expect(first && nameOf(first)).toBe('ada@example.com');
    const later = fold([
      leadScored('ada', one),
      leadScored('ada', one, named('Ada Lovelace', '2026-01-03T00:00:00.000Z')),
      leadScored('ada', one, named('A. Byron', '2026-01-02T00:00:00.000Z')),
    ]);
    expect(later && nameOf(later)).toBe('Ada Lovelace');
  });

  test('nothing of it is kept but its name, an alias to be named by, and its score', () => {
    const lead = fold([leadScored('ada', { rule: 'view', points: 1 }, named('Ada', at))]);
    expect(JSON.stringify(lead)).not.toContain('Company');
    expect(Object.keys(lead ?? {}).sort()).toEqual(
      ['first_alias', 'first_offset', 'given_name', 'id', 'offset', 'ou_id', 'score'].sort(),
    );
  });

  test('stays as it is when a decision changes nothing that can be shown', () => {
    const name = named('Ada', at);
    const lead = fold([leadScored('ada', { rule: 'view', points: 1 }, name)]);
    const nothing = { rule: 'view', points: 1, times: 0, previous: 1 };
    expect(fold([leadScored('ada', nothing, name)], lead, 1)).toBe(lead);
    expect(fold([leadScored('ada', { ...nothing, previous: 2 })], lead, 1)).toMatchObject({ offset: 1 });
    expect(fold([leadScored('ada', { rule: 'view', points: 0, previous: 1 })], lead, 1)).toMatchObject({
      offset: 1,
      score: 1,
    });
  });

  const decision = fc.record({
    points: fc.integer({ min: -50, max: 50 }),
    name: fc.option(fc.constantFrom('Ada', 'Augusta', 'Byron')),
    day: fc.integer({ min: 1, max: 9 }),
  });

  test('folding again what is folded changes nothing, wherever the log is cut', () => {
    fc.assert(
      fc.property(
        fc.array(decision, { minLength: 1, maxLength: 15 }),
        fc.nat(15),
        fc.nat(15),
        (parts, cut, back) => {
          const all = parts.map(({ points, name, day }) =>
            leadScored(
              'ada',
              { rule: 'view', points },
              name === null ? {} : named(name, `2026-01-0${String(day)}T00:00:00.000Z`),
            ),
          );
          const whole = fold(all);
          const until = Math.min(cut, all.length);
          const from = Math.max(0, until - back);
          expect(fold(all.slice(from), fold(all.slice(0, until)), from)).toEqual(whole);
        },
      ),
    );
  });
});

describe('the course of the score', () => {
  const now = '2026-01-31T00:00:00.000Z';
  const change = fc.record({
    points: fc.integer({ min: -30, max: 30 }),
    time: fc.integer({ min: -1_000, max: 0 }).map((hours) => Date.parse(now) + hours * 3_600_000),
  });

  test('begins with the range, ends now with the score, and goes forward in few steps', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
        const decisions = changes.map(({ points, time }) =>
          leadScored('ada', { rule: 'view', points }, { decided_at: new Date(time).toISOString() }),
        );
        const score = changes.reduce((sum, { points }) => sum + points, 0);
        const history = scoreHistory(score, decisions, { at: now, range_hours: 720 });
        const start = Date.parse(now) - 720 * 3_600_000;
        expect(history[0]).toEqual({
          at: new Date(start).toISOString(),
          score: changes.filter(({ time }) => time <= start).reduce((sum, { points }) => sum + points, 0),
        });
        expect(history.at(-1)).toEqual({ at: now, score });
        expect(history.length).toBeLessThanOrEqual(123);
        const times = history.map(({ at: time }) => time);
        expect(times).toEqual([...times].sort());
        for (const { at: time, score: then } of history.slice(1))
          expect(then).toBe(
            changes
              .filter((one) => one.time <= Date.parse(time))
              .reduce((sum, { points }) => sum + points, 0),
          );
      }),
    );
  });

  test('has points where what gave them happened, also when it was taken in later', () => {
    const taken = leadScored('ada', { rule: 'view', points: 5 }, { decided_at: now });
    const decision = {
      ...taken,
      scored_events: taken.scored_events.map((event) => ({
        ...event,
        timestamp: '2026-01-30T12:00:00.000Z',
      })),
    };
    expect(scoreHistory(5, [decision], { at: now, range_hours: 24 })).toEqual([
      { at: '2026-01-30T00:00:00.000Z', score: 0 },
      { at: '2026-01-30T12:00:00.000Z', score: 5 },
      { at: now, score: 5 },
    ]);
  });

  test('of a lead without points is a line', () => {
    expect(scoreHistory(0, [], { at: now, range_hours: 24 })).toEqual([
      { at: '2026-01-30T00:00:00.000Z', score: 0 },
      { at: now, score: 0 },
    ]);
  });
});
