// The report's section (h), on analytics.
import type { AnalyticsResult } from './analytics.js';
import { table, verdict, whole } from './tables.js';

const goalMs = 200;

export function analyticsSection({ events, kinds }: AnalyticsResult): string[] {
  const slow = kinds.filter(({ latencies }) => latencies.p99 >= goalMs);
  return [
    `## (h) Analytics over ${whole(events)} events`,
    '',
    'GET /events-analytics of all events by type, on one connection without other load. There is one event a second, so that ' +
      'every event is in a second of its own.',
    '',
    ...table(
      ['granularity, time zone', 'p50 ms', 'p99 ms', 'longest ms', 'reads'],
      kinds.map(({ name, latencies: { p50, p99, max, count } }) => [
        name,
        p50.toFixed(1),
        p99.toFixed(1),
        max.toFixed(1),
        whole(count),
      ]),
    ),
    '',
    `Goal: p99 under ${String(goalMs)} ms: ${verdict(slow.length === 0)}.`,
    '',
  ];
}
