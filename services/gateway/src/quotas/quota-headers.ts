// What is left of quotas, in the headers of an answer: a policy for each quota beside those of the buckets, after
// draft-ietf-httpapi-ratelimit-headers.
import type { Response } from 'express';
import type { QuotaName } from '../identity/messages.js';

/** A quota that a request was taken from, or refused by. */
export interface QuotaLeft {
  owner: 'credential' | 'organisation';
  quota: QuotaName;
  limit: number;
  left: number;
  /** The length of the day or month. */
  periodSeconds: number;
  /** Until the next day or month. */
  resetsInSeconds: number;
}

const unitOf: Readonly<Record<QuotaName, string>> = {
  calls_per_day: '',
  calls_per_month: '',
  events_per_day: ';qu="events"',
  events_per_month: ';qu="events"',
};

/** Adds quotas to the headers that the buckets have set; does nothing once the answer has begun. */
export function showQuotas(
  res: Pick<Response, 'getHeader' | 'setHeader' | 'headersSent'>,
  quotas: readonly QuotaLeft[],
): void {
  if (quotas.length === 0 || res.headersSent) return;
  const add = (header: string, items: readonly string[]) => {
    const before = res.getHeader(header);
    res.setHeader(header, [...(typeof before === 'string' ? [before] : []), ...items].join(', '));
  };
  add(
    'RateLimit-Policy',
    quotas.map(
      ({ owner, quota, limit, periodSeconds }) =>
        `"${owner}_${quota}";q=${String(limit)}${unitOf[quota]};w=${String(periodSeconds)}`,
    ),
  );
  add(
    'RateLimit',
    quotas.map(
      ({ owner, quota, left, resetsInSeconds }) =>
        `"${owner}_${quota}";r=${String(left)};t=${String(resetsInSeconds)}`,
    ),
  );
}
