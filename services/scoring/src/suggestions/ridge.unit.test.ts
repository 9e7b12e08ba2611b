// The laws of logistic regression with a penalty: an example computed by hand, and that what is found is the best fit.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fitLogistic, logOddsOf, type TraitRow } from './ridge-model.js';

describe('a fit', () => {
  test('of one trait, without a penalty to speak of, is the logarithm of the odds ratio', () => {
    // With the trait 50 of 100 won: odds 1. Without it 10 of 100: odds 1/9. The ratio is 9.
    const rows = [
      { has: [0], leads: 100, won: 50 },
      { has: [], leads: 100, won: 10 },
    ];
    const { intercept, coefficients } = fitLogistic(rows, 1, 1e-9);
    expect(intercept).toBeCloseTo(Math.log(1 / 9), 6);
    expect(coefficients[0]).toBeCloseTo(Math.log(9), 6);
    expect(Math.abs(fitLogistic(rows, 1).coefficients[0] ?? 9)).toBeLessThan(Math.log(9));
  });

  test('gives each of two traits that always come together half of what one of them would get', () => {
    const rows = (has: number[]) => [
      { has, leads: 1_000, won: 500 },
      { has: [], leads: 1_000, won: 100 },
    ];
    const [one = 0, other = 1] = fitLogistic(rows([0, 1]), 2).coefficients;
    expect(one).toBeCloseTo(other, 9);
    expect(one + other).toBeCloseTo(Math.log(9), 1);
  });

  test('of leads of one kind, or of nobody, is finite', () => {
    for (const won of [0, 40]) {
      const { intercept, coefficients } = fitLogistic([{ has: [0], leads: 40, won }], 2);
      expect([intercept, ...coefficients].every(Number.isFinite)).toBe(true);
    }
    expect(fitLogistic([], 1).coefficients).toEqual([0]);
  });
});

const traits = 4;
const rowsOfLeads: fc.Arbitrary<TraitRow[]> = fc
  .array(
    fc.record({
      has: fc.uniqueArray(fc.nat(traits - 1)),
      leads: fc.integer({ min: 1, max: 500 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((rows) => rows.map(({ has, leads, share }) => ({ has, leads, won: Math.round(leads * share) })))
  .filter((rows) => {
    const [leads, won] = [
      rows.reduce((sum, row) => sum + row.leads, 0),
      rows.reduce((sum, row) => sum + row.won, 0),
    ];
    return won > 0 && won < leads;
  });

describe('on random leads', () => {
  test('nothing could be better: the slope is 0 in every direction', () => {
    fc.assert(
      fc.property(rowsOfLeads, fc.constantFrom(0.1, 1, 10), (rows, penalty) => {
        const { intercept, coefficients } = fitLogistic(rows, traits, penalty);
        const at = [...coefficients, intercept];
        const misses = rows.map((row) => ({
          ...row,
          miss: row.won - row.leads / (1 + Math.exp(-logOddsOf(row, at))),
        }));
        const sumOf = (of: typeof misses) => of.reduce((sum, { miss }) => sum + miss, 0);
        expect(sumOf(misses)).toBeCloseTo(0, 4);
        for (let trait = 0; trait < traits; trait += 1)
          expect(sumOf(misses.filter(({ has }) => has.includes(trait)))).toBeCloseTo(
            penalty * (coefficients[trait] ?? 0),
            4,
          );
      }),
    );
  });

  test('neither the order of the rows matters, nor whether leads with the same traits are one row', () => {
    fc.assert(
      fc.property(rowsOfLeads, (rows) => {
        const single = rows.flatMap(({ has, leads, won }) => [
          { has, leads: won, won },
          { has: [...has].reverse(), leads: leads - won, won: 0 },
        ]);
        const [one, other] = [fitLogistic(rows, traits), fitLogistic(single.reverse(), traits)];
        for (const [trait, coefficient] of one.coefficients.entries())
          expect(other.coefficients[trait]).toBeCloseTo(coefficient, 5);
      }),
    );
  });
});
