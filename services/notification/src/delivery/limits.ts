// Limits of a channel by its type: concurrency, and rate as a leaky bucket.
import type { DestinationType } from './senders/sender.js';

export interface ChannelLimits {
  /** Maximum number of attempts at the same time. */
  concurrency: number;
  perSecond: number;
  /** Capacity of the bucket: attempts that may follow one another without a delay. */
  burst: number;
}

/** Slack accepts one message per second and channel, Teams four. A mail server gets one connection at a time. */
export const publishedLimits: Readonly<Record<DestinationType, ChannelLimits>> = {
  webhook: { concurrency: 4, perSecond: 50, burst: 50 },
  slack: { concurrency: 1, perSecond: 1, burst: 1 },
  teams: { concurrency: 1, perSecond: 2, burst: 2 },
  email: { concurrency: 1, perSecond: 10, burst: 10 },
};

/** A leaky bucket: `level` attempts at the time `at` (milliseconds), draining at `perSecond`. */
export interface Bucket {
  readonly level: number;
  readonly at: number;
}

export const emptyBucket: Bucket = { level: 0, at: 0 };

function levelAt({ level, at }: Bucket, { perSecond }: ChannelLimits, now: number): number {
  return Math.max(0, level - (Math.max(0, now - at) * perSecond) / 1_000);
}

/** The earliest time of the next attempt. */
export function nextSendAt(bucket: Bucket, limits: ChannelLimits, now: number): number {
  const over = levelAt(bucket, limits, now) + 1 - limits.burst;
  // A rounding error is not an excess.
  return over <= 1e-6 ? now : now + Math.ceil((over * 1_000) / limits.perSecond);
}

export function addOne(bucket: Bucket, limits: ChannelLimits, now: number): Bucket {
  return { level: levelAt(bucket, limits, now) + 1, at: now };
}

/** The time at which the bucket is empty. */
export function emptyAt(bucket: Bucket, limits: ChannelLimits): number {
  return bucket.at + Math.ceil((bucket.level * 1_000) / limits.perSecond);
}
