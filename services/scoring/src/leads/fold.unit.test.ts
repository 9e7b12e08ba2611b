// The folds of leads and histograms: repeated decisions, and the division of decisions into batches, do not change the result.
import { describe, expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import { bytesOf } from '@lead-scoring/read-model';
import fc from 'fast-check';
import { at, idOf, ouId } from '../testing/builders.js';
import { rankEdge, rankKey, rankPosition } from '../keys.js';
import { foldLead } from './fold.js';
import {
  bucketOf,
  bucketRange,
  countWithin,
  joinHistograms,
  moveLead,
  skipWithin,
  stretchEnd,
} from './histogram-fold.js';
import { loweredTextsOf, nameOf, searchTextOf, type Lead } from './state.js';

const rulesets = ['intent', 'attention'];
const decisionArbitrary = fc.record({
  points: fc.array(
    fc.record({ ruleset: fc.constantFrom(...rulesets), points: fc.integer({ min: -20, max: 20 }) }),
    { maxLength: 3 },
  ),
  day: fc.integer({ min: 1, max: 28 }),
  alias: fc.constantFrom('a@example.com', 'b@example.com', 'c@example.com'),
  name: fc.option(fc.constantFrom('Ada', 'Björn')),
});

function decisions(
  parts: readonly (typeof decisionArbitrary extends fc.Arbitrary<infer Part> ? Part : never)[],
): records.LeadScored[] {
  let score = 0;
  return parts.map(({ points, day, alias, name }, index) => {
    const previous = score;
    for (const one of points) score += one.points;
    const time = `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z`;
    return {
      ou_id: ouId,
      lead_id: idOf('ada'),
      previous_score: previous,
      score,
      configuration_version: 1,
      event_count: 1,
      fire_triggers: true,
      aliases: [{ alias_kind: 'email', alias }],
      ...(name !== null && { fields: [{ field: 'name' as const, value: name, at: time }] }),
      first_activity_at: time,
      last_activity_at: time,
      decided_at: at,
      scored_events: points.map((one) => ({
        event_id: idOf(`event ${String(index)}`),
        event_type: 'Page View',
        timestamp: time,
        matches: [
          { rule_id: idOf('rule'), rule_version: 1, ruleset_id: idOf(one.ruleset), points: one.points },
        ],
      })),
    };
  });
}

describe('a lead', () => {
  test('does not change when some or all decisions are folded again', () => {
    fc.assert(
      fc.property(fc.array(decisionArbitrary, { minLength: 1, maxLength: 12 }), (parts) => {
        const all = decisions(parts);
        const once = all.reduce<Lead | null>(
          (lead, decision, offset) => foldLead(lead, decision, offset),
          null,
        );
        const twice = all.reduce<Lead | null>(
          (lead, decision, offset) => foldLead(foldLead(lead, decision, offset), decision, offset),
          null,
        );
        expect(twice).toEqual(once);
        expect(
          all.reduce<Lead | null>((lead, decision, offset) => foldLead(lead, decision, offset), once),
        ).toBe(once);
        expect(once?.score).toBe(all.at(-1)?.score);
        expect(once?.rulesets.reduce((sum, { score }) => sum + score, 0)).toBe(once?.score);
        expect(once?.event_count).toBe(all.length);
      }),
    );
  });

  test('is shown by its latest name, or else by its first alias; text search covers name, company and aliases', () => {
    const [first, second] = decisions([
      { points: [], day: 2, alias: 'a@example.com', name: null },
      { points: [], day: 1, alias: 'b@example.com', name: 'Ada' },
    ]);
    if (!first || !second) throw new Error('two decisions');
    const unnamed = foldLead(null, first, 0);
    expect(nameOf(unnamed)).toBe('a@example.com');
    const named = foldLead(unnamed, second, 1);
    expect(nameOf(named)).toBe('Ada');
    expect(searchTextOf(loweredTextsOf(named))).toBe('ada\na@example.com\nb@example.com');
    expect([named.first_activity_at, named.last_activity_at]).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-01-02T00:00:00.000Z',
    ]);
  });

  test('keeps its first hundred aliases', () => {
    const [decision] = decisions([{ points: [], day: 1, alias: 'a@example.com', name: null }]);
    if (!decision) throw new Error('one decision');
    let lead: Lead | null = null;
    for (let offset = 0; offset < 150; offset += 1)
      lead = foldLead(
        lead,
        { ...decision, aliases: [{ alias_kind: 'cookie', alias: String(offset) }] },
        offset,
      );
    expect(lead?.aliases).toHaveLength(100);
    expect(lead?.aliases[99]).toEqual({ alias_kind: 'cookie', alias: '99' });
  });
});

const score = fc.oneof(
  fc.integer({ min: -30, max: 30 }),
  fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }),
);
const histogramOf = (scores: readonly number[]) => {
  const histogram = new Map<number, number>();
  for (const one of scores) moveLead(histogram, null, one);
  return histogram;
};

describe('a histogram of scores', () => {
  test('every score is in the range of its bucket, and ranges do not overlap', () => {
    fc.assert(
      fc.property(score, (one) => {
        const range = bucketRange(bucketOf(one));
        expect(range.low).toBeLessThanOrEqual(one);
        expect(range.high).toBeGreaterThanOrEqual(one);
        expect(bucketOf(range.low)).toBe(bucketOf(one));
        expect(bucketOf(range.high)).toBe(bucketOf(one));
        expect(range.high - range.low).toBeLessThanOrEqual(Math.abs(one) / 500);
      }),
      { numRuns: 2_000 },
    );
  });

  test('counts the leads within a range, except for the partly covered buckets that it returns', () => {
    fc.assert(
      fc.property(fc.array(score, { maxLength: 60 }), score, score, (scores, a, b) => {
        const range = { low: Math.min(a, b), high: Math.max(a, b) };
        const { count, toCount } = countWithin(histogramOf(scores), range);
        const cut = scores.filter((one) => toCount.some(({ low, high }) => one >= low && one <= high)).length;
        expect(count + cut).toBe(scores.filter((one) => one >= range.low && one <= range.high).length);
      }),
    );
  });

  test('skips as many leads as one-by-one skipping, in both directions', () => {
    fc.assert(
      fc.property(
        fc.array(score, { maxLength: 60 }),
        score,
        score,
        fc.nat(70),
        fc.boolean(),
        (scores, a, b, skip, up) => {
          const range = { low: Math.min(a, b), high: Math.max(a, b) };
          const ordered = (within: { low: number; high: number }) =>
            scores
              .filter((one) => one >= within.low && one <= within.high)
              .sort((left, right) => (up ? left - right : right - left));
          const start = skipWithin(histogramOf(scores), range, skip, up ? 'ascending' : 'descending');
          expect(ordered(start.range).slice(start.skip)).toEqual(ordered(range).slice(skip));
        },
      ),
    );
  });

  test('a section has the wanted number of leads, or all remaining ones, if they are evenly distributed', () => {
    fc.assert(
      fc.property(
        fc.array(score, { maxLength: 60 }),
        score,
        score,
        fc.integer({ min: 1, max: 70 }),
        fc.boolean(),
        (scores, a, b, wanted, up) => {
          const histogram = histogramOf(scores);
          const range = { low: Math.min(a, b), high: Math.max(a, b) };
          const [start, last] = up ? [range.low, range.high + 1] : [range.high + 1, range.low];
          const places = [...histogram].flatMap(([bucket, leads]) => {
            const { low, high } = bucketRange(bucket);
            return Array.from({ length: leads }, (_, at) => low + ((high + 1 - low) * (at + 0.5)) / leads);
          });
          const within = (one: number, other: number) =>
            places.filter((place) => place > Math.min(one, other) && place < Math.max(one, other)).length;
          const end = stretchEnd(histogram, range, start, wanted, up ? 'ascending' : 'descending');
          // Both edges may cut a bucket between two leads.
          if (end === last) expect(within(start, end)).toBeLessThanOrEqual(wanted + 1);
          else expect(Math.abs(within(start, end) - wanted)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  test('bounds of sections order among ranks as positions among numbers', () => {
    fc.assert(
      fc.property(
        score,
        fc.uuid(),
        score,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (one, lead, other, part) => {
          const place = rankKey(ouId, one, lead);
          const edge = rankEdge(ouId, other + part);
          const [position, at] = [rankPosition(place), rankPosition(edge)];
          const order = Math.sign(Buffer.compare(bytesOf(place), bytesOf(edge)));
          if (position !== at) expect(order).toBe(Math.sign(position - at));
          expect(at).toBeCloseTo(other + part, 2);
        },
      ),
    );
  });

  test('moving leads keeps their number; the joined histograms of partitions count all leads', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(score, score), { maxLength: 40 }), (moves) => {
        const moved = histogramOf(moves.map(([from]) => from));
        for (const [from, to] of moves) moveLead(moved, from, to);
        expect(moved).toEqual(histogramOf(moves.map(([, to]) => to)));
        const half = moves.length >> 1;
        expect(
          joinHistograms([
            histogramOf(moves.slice(0, half).map(([from]) => from)),
            histogramOf(moves.slice(half).map(([from]) => from)),
          ]),
        ).toEqual(histogramOf(moves.map(([from]) => from)));
      }),
    );
  });
});
