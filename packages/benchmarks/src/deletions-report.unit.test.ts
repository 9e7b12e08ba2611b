import { expect, test } from '@jest/globals';
import { deletionsSection } from './deletions-report.js';

const latencies = (p99: number) => ({ count: 100, p50: p99 / 2, p90: p99, p99, max: 2 * p99 });
const round = (quiet: number, deleting: number) => ({
  aloneMs: 2_000,
  besideLiveMs: 3_000,
  quiet: latencies(quiet),
  deleting: latencies(deleting),
});

test('the median of the ratios of latencies is held against the goal', () => {
  const report = deletionsSection({
    leads: 10,
    events: 100,
    liveEventsPerSecond: 5,
    rounds: [round(100, 120), round(100, 160), round(200, 900)],
  }).join('\n');
  expect(report).toContain(
    '2.0 s from the request until its job is completed while nothing else happens, and 3.0 s',
  );
  expect(report).toContain('that without: **not met** (1.60).');
});
