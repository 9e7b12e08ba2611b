// The headers that say what is left of quotas.
import { expect, test } from '@jest/globals';
import { showQuotas, type QuotaLeft } from './quota-headers.js';

function response(headers: Record<string, string>, headersSent = false) {
  return {
    headersSent,
    getHeader: (name: string) => headers[name],
    setHeader: (name: string, value: string) => {
      headers[name] = value;
    },
  } as unknown as Parameters<typeof showQuotas>[0];
}

const calls: QuotaLeft = {
  owner: 'credential',
  quota: 'calls_per_day',
  limit: 20_000,
  left: 12,
  periodSeconds: 86_400,
  resetsInSeconds: 60,
};
const events: QuotaLeft = {
  ...calls,
  owner: 'organisation',
  quota: 'events_per_month',
  periodSeconds: 2_678_400,
};

test('a quota is a policy beside those of the buckets, of events with its unit', () => {
  const headers = { 'RateLimit-Policy': '"credential";q=200;w=120', RateLimit: '"credential";r=199;t=1' };
  showQuotas(response(headers), [calls]);
  showQuotas(response(headers), [events]);
  expect(headers).toEqual({
    'RateLimit-Policy':
      '"credential";q=200;w=120, "credential_calls_per_day";q=20000;w=86400, "organisation_events_per_month";q=20000;qu="events";w=2678400',
    RateLimit:
      '"credential";r=199;t=1, "credential_calls_per_day";r=12;t=60, "organisation_events_per_month";r=12;t=60',
  });
});

test('without quotas, and once the answer has begun, headers stay as they are', () => {
  const headers = { RateLimit: '"credential";r=199;t=1' };
  showQuotas(response(headers), []);
  showQuotas(response(headers, true), [calls]);
  expect(headers).toEqual({ RateLimit: '"credential";r=199;t=1' });
});
