import { expect, test } from '@jest/globals';
import { scalingSection } from './scaling-report.js';

const round = (eventsPerSecond: number, ingestPerEventUs: number, scoringPerEventUs: number) => [
  { eventsPerSecond, ingestPerEventUs, scoringPerEventUs },
];

test('what several processes keep of the events per processor second is held against the goal', () => {
  const report = scalingSection({
    leads: 20_000,
    events: 40_000,
    sharePercent: 8,
    partitions: 12,
    counts: [
      { processes: 1, rounds: round(2_000, 40, 40) },
      { processes: 2, rounds: round(3_900, 42, 44) },
      { processes: 4, rounds: round(7_000, 50, 50) },
    ],
  }).join('\n');
  expect(report).toContain('| 2 | 3,900 | 1.95 | 42.0 µs | 44.0 µs | 0.93 |');
  expect(report).toContain('4 processes keep at least 0.85: **not met** (0.80).');
});
