// The answer of GET /usage, from the counts of calls, events and notifications. Pure.
import { usagePeriodsOf, type routeDeclarations, type UsageTime } from '@lead-scoring/contracts';

type Usage = routeDeclarations.Usage;
type Totals = Usage['totals'];

/** Calls of one credential to one route group in one period. */
export interface CountedCalls {
  /** The beginning of the period, in milliseconds since 1970. */
  period: number;
  /** `token:<id>`, `service_account:<id>` or `member:<id>`. */
  credential: string;
  group: string;
  calls: number;
}

export interface CountedEvents {
  period: number;
  ou_id: string;
  /** In the form of `CountedCalls.credential`. */
  sent_by: string;
  events: number;
  repeats: number;
}

export interface CountedNotifications {
  period: number;
  ou_id: string;
  channel_id: string;
  delivered: number;
}

export interface Counts {
  calls: readonly CountedCalls[];
  events: readonly CountedEvents[];
  notifications: readonly CountedNotifications[];
}

/** @param names of credentials, by the form of `CountedCalls.credential` */
export function usageOf(time: UsageTime, counts: Counts, names: ReadonlyMap<string, string>): Usage {
  const periods = new Map(usagePeriodsOf(time).map((period) => [period, nothing()]));
  const add = (period: number, key: keyof Totals, n: number) => {
    const sums = periods.get(period);
    if (sums) sums[key] += n;
  };
  for (const { period, calls } of counts.calls) add(period, 'calls', calls);
  for (const { period, events, repeats } of counts.events) {
    add(period, 'events', events);
    add(period, 'repeats', repeats);
  }
  for (const { period, delivered } of counts.notifications) add(period, 'notifications', delivered);
  const credentialOf = (credential: string) => {
    const [kind = '', id = ''] = credential.split(':');
    return { kind, id, name: names.get(credential) ?? null };
  };
  return {
    granularity: time.granularity,
    from: isoOf(time.from),
    to: isoOf(time.to),
    totals: sumOf([...periods.values()]),
    periods: [...periods].map(([period, sums]) => ({ starts_at: isoOf(period), ...sums })),
    calls: inOrder(counts.calls, ({ credential, group }) => `${credential} ${group}`).map(
      ({ period, credential, group, calls }) => ({
        starts_at: isoOf(period),
        credential: credentialOf(credential),
        group,
        calls,
      }),
    ),
    events: inOrder(counts.events, ({ sent_by, ou_id }) => `${sent_by} ${ou_id}`).map(
      ({ period, sent_by, ou_id, events, repeats }) => ({
        starts_at: isoOf(period),
        credential: credentialOf(sent_by),
        ou_id,
        events,
        repeats,
      }),
    ),
    notifications: inOrder(counts.notifications, ({ ou_id, channel_id }) => `${ou_id} ${channel_id}`).map(
      ({ period, ...row }) => ({ starts_at: isoOf(period), ...row }),
    ),
  };
}

function nothing(): Totals {
  return { calls: 0, events: 0, repeats: 0, notifications: 0 };
}

function sumOf(all: readonly Totals[]): Totals {
  const sum = nothing();
  for (const one of all) {
    sum.calls += one.calls;
    sum.events += one.events;
    sum.repeats += one.repeats;
    sum.notifications += one.notifications;
  }
  return sum;
}

/** By time, and then by the key. */
function inOrder<Row extends { period: number }>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => a.row.period - b.row.period || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ row }) => row);
}

function isoOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
