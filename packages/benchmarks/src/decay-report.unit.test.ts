import { expect, test } from '@jest/globals';
import { decaySection } from './decay-report.js';

const latencies = (p99: number) => ({ count: 100, p50: p99 / 2, p90: p99, p99, max: 2 * p99 });

function round(scored: number, ticks: number, beside: number, [quiet, decaying]: [number, number]) {
  return {
    scoredPerSecond: scored,
    ticksPerSecond: ticks,
    ticksBesideLivePerSecond: beside,
    quiet: latencies(quiet),
    decaying: latencies(decaying),
  };
}

test('rates and latencies are compared round by round, and the goals are medians of the ratios', () => {
  const report = decaySection({
    leads: 100_000,
    liveEventsPerSecond: 2_000,
    rounds: [
      round(10_000, 6_000, 4_000, [200, 260]),
      round(20_000, 8_000, 4_000, [100, 200]),
      round(10_000, 7_000, 3_000, [300, 330]),
    ],
  }).join('\n');
  expect(report).toContain('| 10,000 | 7,000 | 0.60 | 4,000 | 0.30 |');
  expect(report).toContain('| without ticks | 100 | 200 | 400 |');
  expect(report).toContain('| beside ticks | 130 | 260 | 520 |');
  expect(report).toContain('rate of events: met (0.60), beside live events: **not met** (0.30); p99');
  expect(report).toContain('times that without ticks: met (1.30).');
});

test('the report says when ticks are too slow, and when live events wait for them', () => {
  const report = decaySection({
    leads: 100_000,
    liveEventsPerSecond: 2_000,
    rounds: [round(10_000, 4_000, 2_000, [200, 400])],
  }).join('\n');
  expect(report).toContain('rate of events: **not met** (0.40)');
  expect(report).toContain('without ticks: **not met** (2.00)');
});
