// The arithmetic of a quota: what each gateway process has taken of a month, day by day, and what is left. Pure.
import type { QuotaName, Quotas } from '../identity/messages.js';

export type QuotaResource = 'calls' | 'events';

/** What one process has taken on one day. The entry with the higher number counts: a write that arrives late changes nothing. */
export interface QuotaShare {
  /** The beginning of the day in UTC, in milliseconds since 1970. */
  day: number;
  process: string;
  taken: number;
  /** The number of the write, counted by the process. */
  write: number;
}

/** The most of a day and of a month; null: no quota. */
export interface QuotaLimits {
  day: number | null;
  month: number | null;
}

/** A write of a process that asks for more. */
export interface QuotaRequest {
  day: number;
  process: string;
  /** What the process has let in on the day, also while the database was away; it counts in any case. */
  taken: number;
  wanted: number;
  /** Whether all that is wanted is granted, or nothing. */
  isWhole: boolean;
  write: number;
}

/** The shares after a request, and what it was granted; null: a later write of the process has arrived before it. */
export function takeQuota(
  shares: readonly QuotaShare[],
  limits: QuotaLimits,
  { day, process, taken, wanted, isWhole, write }: QuotaRequest,
): { shares: QuotaShare[]; granted: number } | null {
  const isOwn = (share: QuotaShare) => share.day === day && share.process === process;
  const own = shares.find(isOwn);
  if (own && own.write >= write) return null;
  const others = shares.filter((share) => !isOwn(share));
  const { dayUsed, monthUsed } = usedOf(others, day);
  const room = Math.min(
    limits.day === null ? Infinity : limits.day - dayUsed - taken,
    limits.month === null ? Infinity : limits.month - monthUsed - taken,
  );
  const granted = isWhole ? (wanted <= room ? wanted : 0) : Math.max(0, Math.min(wanted, room));
  return { shares: [...others, { day, process, taken: taken + granted, write }], granted };
}

/** What all processes together have taken, on a day and in the month. */
export function usedOf(shares: readonly QuotaShare[], day: number): { dayUsed: number; monthUsed: number } {
  let dayUsed = 0;
  let monthUsed = 0;
  for (const share of shares) {
    monthUsed += share.taken;
    if (share.day === day) dayUsed += share.taken;
  }
  return { dayUsed, monthUsed };
}

/** The day and the month of a moment, and their ends, in UTC. @param timeMs milliseconds since 1970 */
export function quotaPeriodsOf(timeMs: number): Record<'day' | 'month', { from: number; to: number }> {
  const date = new Date(timeMs);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return {
    day: { from: Date.UTC(year, month, day), to: Date.UTC(year, month, day + 1) },
    month: { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) },
  };
}

/** The quotas of a resource; null: none. */
export function limitsOf(quotas: Quotas | null | undefined, resource: QuotaResource): QuotaLimits | null {
  const day = quotas?.[quotaNameOf(resource, 'day')] ?? null;
  const month = quotas?.[quotaNameOf(resource, 'month')] ?? null;
  return day === null && month === null ? null : { day, month };
}

export function quotaNameOf(resource: QuotaResource, period: 'day' | 'month'): QuotaName {
  return `${resource}_per_${period}`;
}

/** A quota is nearly used from this part of it on. */
const nearlyUsed = 0.8;

export function isNearlyUsed(limit: number, used: number): boolean {
  return used >= limit * nearlyUsed;
}
