// Limits requests with the shared buckets: per credential and organisation, and per client address for requests without a valid
// credential.
import type { ProblemError } from '@lead-scoring/service';
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { problem } from '../problem.js';
import type { RequestLimit } from './request-limit.js';
import type { Buckets } from './shared-buckets.js';
import type { BucketLimits, TakeOutcome } from './token-bucket.js';

type LimitOutcome = RequestLimit & { taken: TakeOutcome };

/** Answers 429 when one of the buckets is empty, and puts the limits into the headers of every answer. */
export function createLimiter(
  buckets: Buckets,
  limitsOf: (req: Request) => readonly RequestLimit[] | Promise<readonly RequestLimit[]>,
): RequestHandler {
  return async (req, res, next) => {
    await takeFromAll(buckets, await limitsOf(req), res);
    next();
  };
}

/**
 * Takes a request out of each bucket, or out of none when one of them is empty. Puts the limits into the answer's headers.
 * @returns the function that puts the requests back
 * @throws ProblemError 429
 */
export async function takeFromAll(
  buckets: Buckets,
  limits: readonly RequestLimit[],
  res: Response,
): Promise<() => void> {
  const all = await takeFromEach(buckets, limits);
  setLimitHeaders(res, all);
  const giveBack = () => {
    for (const one of all) if (one.taken.granted) buckets.giveBack(one);
  };
  const refused = all.filter(({ taken }) => !taken.granted).sort(byRetry)[0];
  if (!refused) return giveBack;
  giveBack();
  throw rateLimited(refused);
}

/**
 * Takes from one bucket after the other until one is empty: otherwise a caller that has used up its own limit would still take from
 * the bucket that it shares. While all buckets hold far more than the requests in flight, takes from all at once, which saves a
 * round trip.
 */
async function takeFromEach(buckets: Buckets, limits: readonly RequestLimit[]): Promise<LimitOutcome[]> {
  const takeOne = async (one: RequestLimit) => ({ ...one, taken: await buckets.take(one) });
  if (limits.every((one) => buckets.isPlentiful(one))) return Promise.all(limits.map(takeOne));
  const all: LimitOutcome[] = [];
  for (const one of limits) {
    const taken = await takeOne(one);
    all.push(taken);
    if (!taken.taken.granted) break;
  }
  return all;
}

function byRetry(a: LimitOutcome, b: LimitOutcome): number {
  return b.taken.retryInMs - a.taken.retryInMs;
}

/**
 * Sets `X-RateLimit-…` for the bucket with the fewest requests left, and the headers of draft-ietf-httpapi-ratelimit-headers for all:
 * a bucket of q requests that is full again after w seconds refills q / w a second.
 */
function setLimitHeaders(res: Response, all: readonly LimitOutcome[]): void {
  const tightest = [...all].sort((a, b) => a.taken.remaining - b.taken.remaining)[0];
  if (!tightest) return;
  const { limits, taken } = tightest;
  res.setHeader('X-RateLimit-Limit', String(limits.burst));
  res.setHeader('X-RateLimit-Remaining', String(taken.remaining));
  res.setHeader('X-RateLimit-Reset', String(Math.ceil((Date.now() + taken.fullInMs) / 1_000)));
  res.setHeader(
    'RateLimit-Policy',
    all.map((one) => `"${one.policy}";q=${String(one.limits.burst)};w=${windowOf(one.limits)}`).join(', '),
  );
  res.setHeader(
    'RateLimit',
    all
      .map((one) => {
        const inSeconds = Math.ceil(one.taken.fullInMs / 1_000);
        return `"${one.policy}";r=${String(one.taken.remaining)};t=${String(inSeconds)}`;
      })
      .join(', '),
  );
}

/** Seconds in which an empty bucket fills. */
function windowOf({ perMinute, burst }: BucketLimits): string {
  return String(Math.max(1, Math.round((burst * 60) / perMinute)));
}

const whose = {
  credential: 'This credential',
  organisation: 'All credentials of this organisation together',
  address: 'This client address',
} as const;

function rateLimited({ policy, limits, taken }: LimitOutcome): ProblemError {
  const retryAfter = Math.max(1, Math.ceil(taken.retryInMs / 1_000));
  return problem(
    'rate_limited',
    `${whose[policy]} may send ${String(limits.burst)} requests at once and ${String(limits.perMinute)} a minute. Wait ${String(retryAfter)} s.`,
    { headers: { 'Retry-After': String(retryAfter) } },
  );
}

/** The address of the client; for IPv6, the /56 network that one client usually has. */
export function networkOf({ ip }: Pick<Request, 'ip'>): string {
  return ipKeyGenerator(ip ?? 'unknown', 56);
}

/** The limit of a client address. */
export function addressLimit(req: Request, limits: BucketLimits): RequestLimit {
  return { policy: 'address', id: networkOf(req), limits };
}
