// The bucket's arithmetic against a reference with exact fractions.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { partsOfRequest, outcomesOf, take, type Bucket, type BucketLimits } from './token-bucket.js';

const standard: BucketLimits = { perMinute: 100, burst: 200 };

/** The simplest bucket: each millisecond adds perMinute/60,000 of a request, up to the burst. */
class ReferenceBucket {
  private parts: bigint;
  /** The time from which it refills: that of the first request. */
  private at: number | null = null;
  constructor(private readonly limits: BucketLimits) {
    this.parts = BigInt(limits.burst) * 60_000n;
  }
  take(now: number): boolean {
    this.at ??= now;
    if (now > this.at) {
      this.parts += BigInt(now - this.at) * BigInt(this.limits.perMinute);
      this.at = now;
    }
    const full = BigInt(this.limits.burst) * 60_000n;
    if (this.parts > full) this.parts = full;
    if (this.parts < 60_000n) return false;
    this.parts -= 60_000n;
    return true;
  }
}

const limits = fc.record({
  perMinute: fc.integer({ min: 1, max: 1_000_000 }),
  burst: fc.integer({ min: 1, max: 1_000_000 }),
});
/** Steps of a clock that may also be set back. */
const steps = fc.array(
  fc.record({ step: fc.integer({ min: -5_000, max: 120_000 }), n: fc.integer({ min: 1, max: 300 }) }),
  { maxLength: 50 },
);

describe('the bucket', () => {
  test('200 at once, then 100 a minute', () => {
    let bucket: Bucket | null = null;
    const grants: number[] = [];
    for (const now of [0, 0, 599, 600, 60_600, 600_000_000]) {
      const taken = take(bucket, standard, now, 1_000);
      bucket = taken.bucket;
      grants.push(taken.granted);
    }
    expect(grants).toEqual([200, 0, 0, 1, 100, 200]);
  });

  test('grants exactly what the reference grants, for any limits, times and clock jumps', () => {
    fc.assert(
      fc.property(limits, steps, (limit, moves) => {
        let now = 1_800_000_000_000;
        let bucket: Bucket | null = null;
        const reference = new ReferenceBucket(limit);
        for (const { step, n } of moves) {
          now += step;
          const taken = take(bucket, limit, now, n);
          bucket = taken.bucket;
          const expected = Array.from({ length: n }, () => reference.take(now)).filter(Boolean).length;
          expect(taken.granted).toBe(expected);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('requests that are given back can be taken again, and never make more than a full bucket', () => {
    fc.assert(
      fc.property(limits, steps, fc.integer({ min: 0, max: 400 }), (limit, moves, returned) => {
        let now = 1_000_000;
        let bucket: Bucket | null = null;
        for (const { step, n } of moves) {
          now += step;
          const taken = take(bucket, limit, now, n);
          const undone = take(taken.bucket, limit, now, 0, taken.granted + returned);
          const most = Math.min(
            limit.burst * partsOfRequest,
            taken.bucket.level + (taken.granted + returned) * partsOfRequest,
          );
          expect(undone.bucket.level).toBe(most);
          expect(take(undone.bucket, limit, now, n).granted).toBeGreaterThanOrEqual(taken.granted);
          bucket = taken.bucket;
        }
      }),
      { numRuns: 300 },
    );
  });

  test('requests granted ahead are a debt: in total never more is granted than without granting ahead, plus that debt', () => {
    fc.assert(
      fc.property(limits, steps, fc.integer({ min: 0, max: 100 }), (limit, moves, ahead) => {
        let now = 1_000_000;
        let owing = take(null, limit, now, 0, -ahead).bucket;
        let granted = ahead;
        let asked = take(null, limit, now, 0).bucket;
        let expected = 0;
        for (const { step, n } of [...moves, { step: 200_000_000, n: 300 }]) {
          now += Math.max(0, step);
          const first = take(owing, limit, now, n);
          const second = take(asked, limit, now, n);
          owing = first.bucket;
          asked = second.bucket;
          granted += first.granted;
          expected += second.granted;
          // The excess is at most the requests granted ahead, until the refill has paid them.
          expect(granted - ahead).toBeLessThanOrEqual(expected);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('n requests together get the same as n one after the other', () => {
    fc.assert(
      fc.property(limits, steps, (limit, moves) => {
        let now = 1_000_000;
        let together: Bucket | null = null;
        let single: Bucket | null = null;
        for (const { step, n } of moves) {
          now += step;
          const all = take(together, limit, now, n);
          together = all.bucket;
          const shares = outcomesOf(all.bucket, limit, all.granted, n);
          const ones = shares.map(() => {
            const one = take(single, limit, now, 1);
            single = one.bucket;
            return outcomesOf(one.bucket, limit, one.granted, 1)[0];
          });
          expect(ones).toEqual(shares);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('a request after exactly retryInMs is granted, one millisecond earlier not', () => {
    fc.assert(
      fc.property(limits, steps, (limit, moves) => {
        let now = 1_000_000;
        let bucket: Bucket | null = null;
        for (const { step, n } of moves) {
          now += Math.max(0, step);
          const taken = take(bucket, limit, now, n);
          bucket = taken.bucket;
          const last = outcomesOf(bucket, limit, taken.granted, n).at(-1);
          if (!last || last.granted) continue;
          expect(last.retryInMs).toBeGreaterThan(0);
          expect(take(bucket, limit, now + last.retryInMs, 1).granted).toBe(1);
          expect(take(bucket, limit, now + last.retryInMs - 1, 1).granted).toBe(0);
          expect(
            outcomesOf(take(bucket, limit, now + last.fullInMs, 0).bucket, limit, 0, 1)[0]?.remaining,
          ).toBe(limit.burst);
        }
      }),
    );
  });
});
