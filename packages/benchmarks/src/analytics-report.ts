// The report's section (h), on analytics and exports.
import type { AnalyticsResult } from './analytics.js';
import type { ExportResult } from './exports.js';
import { medianOf, ratio, ratioText, table, verdict, whole } from './tables.js';

const goalMs = 200;

export function analyticsSection({ events, kinds, exports }: AnalyticsResult): string[] {
  const slow = kinds.filter(({ latencies }) => latencies.p99 >= goalMs);
  return [
    `## (h) Analytics and exports of ${whole(events)} events`,
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
    ...exportTable(exports),
  ];
}

const exportGoal = { times: 5, firstByteMs: 300 };

function exportTable(exports: ExportResult): string[] {
  const pages = exports[0]?.rounds ?? [];
  const measured = exports.map(({ name, rounds }) => ({
    name,
    perSecond: medianOf(rounds, ({ eventsPerSecond }) => eventsPerSecond),
    times: ratio(pages, rounds, ({ eventsPerSecond }) => eventsPerSecond),
    firstByteMs: medianOf(rounds, ({ firstByteMs }) => firstByteMs),
  }));
  const met = measured
    .slice(1)
    .every(
      ({ times, firstByteMs }) => times.median >= exportGoal.times && firstByteMs < exportGoal.firstByteMs,
    );
  return [
    'GET /events/export of all events, against pages of 100 events that are read one after the other.',
    '',
    ...table(
      ['read', 'events/s', 'ratio', 'first byte ms'],
      measured.map(({ name, perSecond, times, firstByteMs }) => [
        name,
        whole(perSecond),
        ratioText(times),
        firstByteMs.toFixed(0),
      ]),
    ),
    '',
    `Goal: at least ${String(exportGoal.times)} times as many events a second, first byte under ${String(exportGoal.firstByteMs)} ms: ${verdict(met)}.`,
    '',
  ];
}
