// The figures of separation, against a published example and against hand computations; and as laws against the definitions.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bandsOf, countIn, sumOf } from './histogram.js';
import { atThreshold, liftOfTopDecile, rocOf, separationOf } from './separation.js';

const counted = (scores: readonly number[]): Map<number, number> => {
  const counts = new Map<number, number>();
  for (const score of scores) counts.set(score, (counts.get(score) ?? 0) + 1);
  return counts;
};

/** Hanley and McNeil, Radiology 143 (1982) 29-36, table I: ratings of 109 tomograms, 51 of them of patients with a disease. */
const abnormal = new Map([3, 2, 2, 11, 33].map((count, index) => [index + 1, count]));
const normal = new Map([33, 6, 6, 11, 2].map((count, index) => [index + 1, count]));

describe('the area under the curve', () => {
  test('is that of the published example, with the interval that the method of DeLong gives it', () => {
    const { auc, auc_interval } = separationOf(abnormal, normal);
    expect(auc).toBeCloseTo(0.8932, 4);
    // As Stata's manual lists it under roctab: standard error 0.0307, 0.83295 to 0.95339.
    expect(auc_interval?.low).toBeCloseTo(0.83295, 5);
    expect(auc_interval?.high).toBeCloseTo(0.95339, 5);
  });

  test('is that of a computation by hand', () => {
    // Pairs of (3, 4) with (1, 2, 3): one tie in six.
    const { auc, auc_interval } = separationOf(counted([3, 4]), counted([1, 2, 3]));
    expect(auc).toBeCloseTo(5.5 / 6, 12);
    // The shares are 5/6 and 1 of the one kind, 1, 1 and 3/4 of the other: variances 1/72 and 1/48.
    const half = 1.959963984540054 * Math.sqrt(1 / 72 / 2 + 1 / 48 / 3);
    expect(auc_interval?.low).toBeCloseTo(5.5 / 6 - half, 12);
    expect(auc_interval?.high).toBe(1);
  });

  test('is not known where all leads are of one kind, and has no interval where one kind has one lead', () => {
    const none = { auc: null, auc_interval: null };
    expect(separationOf(counted([1]), new Map())).toEqual(none);
    expect(separationOf(new Map(), counted([1]))).toEqual(none);
    expect(separationOf(counted([2]), counted([1, 1]))).toEqual({ auc: 1, auc_interval: null });
  });

  const scores = fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 30 });
  test('is the share of pairs that are in order', () => {
    fc.assert(
      fc.property(scores, scores, (won, others) => {
        let sum = 0;
        for (const one of won) for (const other of others) sum += one > other ? 1 : one === other ? 0.5 : 0;
        expect(separationOf(counted(won), counted(others)).auc).toBeCloseTo(
          sum / won.length / others.length,
          9,
        );
      }),
    );
  });

  test('is the area under the points of the curve', () => {
    fc.assert(
      fc.property(scores, scores, (won, others) => {
        const points = [{ tpr: 0, fpr: 0 }, ...rocOf(counted(won), counted(others))];
        let area = 0;
        for (const [index, { tpr, fpr }] of points.entries()) {
          const before = points[index - 1];
          if (before) area += ((fpr - before.fpr) * (tpr + before.tpr)) / 2;
        }
        expect(points.at(-1)).toMatchObject({ tpr: 1, fpr: 1 });
        expect(area).toBeCloseTo(separationOf(counted(won), counted(others)).auc ?? -1, 9);
      }),
    );
  });
});

describe('the curve', () => {
  test('has a point for each score from the highest down', () => {
    expect(rocOf(counted([3, 4]), counted([1, 3]))).toEqual([
      { threshold: 4, tpr: 0.5, fpr: 0 },
      { threshold: 3, tpr: 1, fpr: 0.5 },
      { threshold: 1, tpr: 1, fpr: 1 },
    ]);
    expect(rocOf(counted([3]), new Map())).toEqual([]);
  });

  test('with more scores than points is thinned out, and keeps both ends', () => {
    const many = counted(Array.from({ length: 1_000 }, (_, score) => score));
    const points = rocOf(many, many, 200);
    expect(points).toHaveLength(200);
    expect(points[0]).toMatchObject({ threshold: 999 });
    expect(points.at(-1)).toEqual({ threshold: 0, tpr: 1, fpr: 1 });
  });
});

describe('the lift of the top decile', () => {
  test('compares the best tenth with all', () => {
    // Twenty leads, four with the outcome; the best two are one of each kind: 1/2 against 4/20.
    const won = counted([20, 10, 5, 1]);
    const others = counted([19, ...Array.from({ length: 15 }, () => 3)]);
    expect(liftOfTopDecile(won, others)).toBeCloseTo(2.5, 12);
  });

  test('takes a share of equal scores: without any order it is 1', () => {
    expect(liftOfTopDecile(counted([7, 7]), counted([7, 7, 7]))).toBeCloseTo(1, 12);
    expect(liftOfTopDecile(new Map(), counted([7]))).toBeNull();
  });
});

test('a threshold has the precision and the recall of the leads at it and above', () => {
  const [won, others] = [counted([5, 9]), counted([1, 5, 6])];
  expect(atThreshold(won, others, 5)).toEqual({ threshold: 5, leads: 4, precision: 0.5, recall: 1 });
  expect(atThreshold(won, others, 9)).toEqual({ threshold: 9, leads: 1, precision: 1, recall: 0.5 });
  expect(atThreshold(won, others, 10)).toEqual({ threshold: 10, leads: 0, precision: null, recall: 0 });
});

describe('bands', () => {
  const range = { low: -1_000, high: 1_000 };
  test('have a round width', () => {
    expect(bandsOf([0, 99], range).slice(0, 2)).toEqual([
      { from: 0, to: 4 },
      { from: 5, to: 9 },
    ]);
    expect(bandsOf([], range)).toEqual([]);
    expect(bandsOf([7], range)).toEqual([{ from: 7, to: 7 }]);
  });

  test('are few, side by side, and hold every score once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: range.low, max: range.high }), { minLength: 1, maxLength: 40 }),
        (scores) => {
          const low = Math.min(...scores);
          const high = Math.max(...scores);
          const bands = bandsOf(scores, { low, high });
          expect(bands.length).toBeLessThanOrEqual(21);
          expect(bands[0]?.from).toBe(low);
          expect(bands.at(-1)?.to).toBe(high);
          for (const [index, band] of bands.entries())
            if (index > 0) expect(band.from).toBe((bands[index - 1]?.to ?? 0) + 1);
          const counts = counted(scores);
          const found = countIn(bands, counts);
          expect(found.reduce((sum, one) => sum + one, 0)).toBe(sumOf(counts));
          for (const [index, { from, to }] of bands.entries())
            expect(found[index]).toBe(scores.filter((score) => score >= from && score <= to).length);
        },
      ),
    );
  });
});
