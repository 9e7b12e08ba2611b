// How much a channel is sent at once and in a second, by its type.
import type { DestinationType } from './senders/sender.js';

export interface ChannelLimits {
  /** Sent at the same time. */
  concurrency: number;
  perSecond: number;
  /** Sent without a pause after a pause. */
  burst: number;
}

/** Slack takes one message a second and channel, Teams four; a mail server is spared the connections. */
export const publishedLimits: Readonly<Record<DestinationType, ChannelLimits>> = {
  webhook: { concurrency: 4, perSecond: 50, burst: 50 },
  slack: { concurrency: 1, perSecond: 1, burst: 1 },
  teams: { concurrency: 1, perSecond: 2, burst: 2 },
  email: { concurrency: 1, perSecond: 10, burst: 10 },
};

/** What has been sent, forgotten at the rate at which more may be. Pure; times in milliseconds. */
export interface Spending {
  readonly count: number;
  readonly at: number;
}

export const nothingSpent: Spending = { count: 0, at: 0 };

function left({ count, at }: Spending, { perSecond }: ChannelLimits, now: number): number {
  return Math.max(0, count - (Math.max(0, now - at) * perSecond) / 1_000);
}

/** From when on one more may be sent. */
export function mayNextAt(spent: Spending, limits: ChannelLimits, now: number): number {
  const over = left(spent, limits, now) + 1 - limits.burst;
  // What floating point leaves over is no time.
  return over <= 1e-6 ? now : now + Math.ceil((over * 1_000) / limits.perSecond);
}

export function spendOne(spent: Spending, limits: ChannelLimits, now: number): Spending {
  return { count: left(spent, limits, now) + 1, at: now };
}

/** When all of it is forgotten. */
export function forgottenAt(spent: Spending, limits: ChannelLimits): number {
  return spent.at + Math.ceil((spent.count * 1_000) / limits.perSecond);
}
