// Usage: API calls, events and notifications of the organisation, by hour or day.
import { z } from 'zod';
import { id, inOrder, text, time, timeParameter, wholeNumber } from '../common.js';
import { dayMs, hourMs, usageGranularities } from '../vocabulary/usage-periods.js';
import { admin, defineRoute } from './route.js';

export const usageLimits = {
  /** The longest time of one answer, in milliseconds. */
  lengthMs: { hour: 31 * dayMs, day: 366 * dayMs },
  /** The most counts of one kind in an answer. */
  rows: 20_000,
  /** OUs in one question between services. */
  units: 2_000,
} as const;

const granularity = z.enum(usageGranularities);
const count = z.int().min(0);
const startsAt = time.describe('The beginning of the hour or day, in UTC.');
const rows = <Row extends z.ZodType>(row: Row) => z.array(row).max(usageLimits.rows);

const credential = z
  .strictObject({
    kind: text(40).describe('token, service_account or member: a person who signed in with OpenID Connect.'),
    id: text(100),
    name: z.string().max(100).nullable().describe('As it is now; null: it is not known.'),
  })
  .describe('A credential that has ended is among them.');

const counts = {
  calls: count.describe('API calls that were answered, whatever the answer, but for 401 and 429.'),
  events: count.describe('Events that were recorded, each counted once.'),
  repeats: count.describe('Events that had come before and were dropped.'),
  notifications: count.describe('Notifications that their receivers have taken.'),
};

export const usage = z
  .strictObject({
    granularity,
    from: time,
    to: time.describe('The first moment that does not count.'),
    totals: z.strictObject(counts),
    periods: z
      .array(z.strictObject({ starts_at: startsAt, ...counts }))
      .min(1)
      .max(31 * 24 + 2)
      .describe('One after another without gaps, the earliest first.'),
    calls: rows(
      z.strictObject({
        starts_at: startsAt,
        credential,
        group: text(40).describe('The route group: the tag of the operation in /openapi.json.'),
        calls: count,
      }),
    ),
    events: rows(
      z.strictObject({ starts_at: startsAt, credential, ou_id: id, events: count, repeats: count }),
    ),
    notifications: rows(z.strictObject({ starts_at: startsAt, ou_id: id, channel_id: id, delivered: count })),
  })
  .meta({ id: 'Usage' });
export type Usage = z.output<typeof usage>;

const asked = {
  granularity: granularity.default('day'),
  from: timeParameter
    .optional()
    .describe('Default: 30 days before `to`, by hour one day. The hour or day that it is in counts whole.'),
  to: timeParameter.optional().describe('Default: now. The hour or day that it ends counts whole.'),
};

interface AskedTime {
  granularity: 'day' | 'hour';
  from?: string | undefined;
  to?: string | undefined;
}

function isBounded({ granularity: by, from, to }: AskedTime): boolean {
  if (from === undefined) return true;
  const end = to === undefined ? Date.now() : Date.parse(to);
  return end - Date.parse(from) <= usageLimits.lengthMs[by];
}

export const getUsage = defineRoute({
  name: 'getUsage',
  method: 'GET',
  path: '/usage',
  owner: 'gateway',
  kind: 'local',
  access: { ...admin, organisationUnit: 'none' },
  tag: 'Analytics',
  summary: 'API calls, events and notifications by hour or day',
  description: [
    'Calls by credential and route group, events by the credential that sent them, notifications by channel. Hours and days are those of UTC. A call is counted before it is answered; events and notifications are counted as soon as they are recorded, a moment later.',
    'A credential that is limited to some OUs sees the credentials that may use no others, and the events and notifications of its OUs.',
    'API calls are kept for 400 days. When a part of the system does not answer, the whole is 503: there are no gaps.',
  ].join('\n\n'),
  query: inOrder(asked).refine(isBounded, {
    path: ['from'],
    error: 'must be at most 366 days, by hour 31 days, before to, which is now by default',
  }),
  responses: { 200: { description: 'Usage', schema: usage } },
  problems: ['range_too_large', 'service_unavailable', 'service_timeout'],
});

const question = z.strictObject({
  ou_ids: z.array(id).min(1).max(usageLimits.units),
  granularity,
  from: wholeNumber(0, 8_640_000_000_000_000).describe('Milliseconds since 1970: the beginning of a period.'),
  to: wholeNumber(0, 8_640_000_000_000_000),
});

/** Asks ingest how many events were recorded, and how many were repeats, by sender. */
export const countIngestedEvents = defineRoute({
  name: 'countIngestedEvents',
  method: 'POST',
  path: '/internal/usage',
  owner: 'ingest',
  kind: 'query',
  access: { ...admin, organisationUnit: 'none' },
  tag: 'Analytics',
  summary: 'Events by OU, sender and period',
  body: question,
  responses: {
    200: {
      description: 'Counts, in no order',
      schema: z.strictObject({
        rows: rows(
          z.strictObject({ period: z.int(), ou_id: id, sent_by: text(100), events: count, repeats: count }),
        ),
      }),
    },
  },
  problems: ['range_too_large'],
});

/** Asks notification how many notifications were delivered, by channel. */
export const countDeliveredNotifications = defineRoute({
  name: 'countDeliveredNotifications',
  method: 'POST',
  path: '/internal/usage',
  owner: 'notification',
  kind: 'query',
  access: { ...admin, organisationUnit: 'none' },
  tag: 'Analytics',
  summary: 'Delivered notifications by OU, channel and period',
  body: question,
  responses: {
    200: {
      description: 'Counts, in no order',
      schema: z.strictObject({
        rows: rows(z.strictObject({ period: z.int(), ou_id: id, channel_id: id, delivered: count })),
      }),
    },
  },
  problems: ['range_too_large'],
});

/** The default length of the time, in milliseconds. */
export const defaultUsageMs = { hour: 24 * hourMs, day: 30 * dayMs } as const;
