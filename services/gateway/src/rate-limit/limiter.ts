// The limit on requests, as express-rate-limit middleware over the shared buckets: per credential, and per client
// address for whatever needs no credential or has shown none that is valid.
import type { Request, RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit, type RateLimitInfo, type Store } from 'express-rate-limit';
import { problem } from '../problem.js';
import type { Buckets } from './shared-buckets.js';
import type { BucketLimits } from './token-bucket.js';

export interface Limited {
  /** Whose bucket. */
  key: string;
  limits: BucketLimits;
}

/**
 * Answers 429 when the bucket is empty, and tells limit, remaining requests and the time when the bucket is full
 * again (epoch seconds) on every answer.
 */
export function createLimiter(buckets: Buckets, limitedOf: (req: Request) => Limited): RequestHandler {
  const store: Store = {
    increment: async (text) => {
      const { key, limits } = readLimited(text);
      const taken = await buckets.take(key, limits);
      return {
        totalHits: taken.granted ? limits.burst - taken.remaining : limits.burst + 1,
        resetTime: new Date(Date.now() + taken.fullInMs),
      };
    },
    // What is taken stays taken, whatever the answer was.
    decrement: () => undefined,
    resetKey: () => undefined,
  };
  return rateLimit({
    windowMs: 60_000,
    validate: false,
    store,
    keyGenerator: (req) => writeLimited(limitedOf(req)),
    limit: (req) => limitedOf(req).limits.burst,
    legacyHeaders: true,
    standardHeaders: false,
    handler: (req: Request & { rateLimit?: RateLimitInfo }, _res, next) => {
      const { perMinute, burst } = limitedOf(req).limits;
      const fullInMs = (req.rateLimit?.resetTime?.getTime() ?? Date.now()) - Date.now();
      // The reset is when the whole bucket has filled; one part of it is enough.
      const retryAfter = Math.max(1, Math.ceil((fullInMs - ((burst - 1) * 60_000) / perMinute) / 1_000));
      next(
        problem(
          'rate_limited',
          `More than ${String(perMinute)} requests a minute and ${String(burst)} at once. Wait ${String(retryAfter)} s.`,
          { headers: { 'Retry-After': String(retryAfter) } },
        ),
      );
    },
  });
}

// The library hands its store one text, so the limits travel in it.
function writeLimited({ key, limits }: Limited): string {
  return `${String(limits.perMinute)} ${String(limits.burst)} ${key}`;
}

function readLimited(text: string): Limited {
  const [perMinute, burst, ...key] = text.split(' ');
  return { key: key.join(' '), limits: { perMinute: Number(perMinute), burst: Number(burst) } };
}

/** The key of a client address; of IPv6 the network that one client commands. */
export function addressKey(req: Request): string {
  return `address:${ipKeyGenerator(req.ip ?? 'unknown', 56)}`;
}
