import { expect, test } from '@jest/globals';
import { joinsSection } from './joins-report.js';

const latencies = (p99: number) => ({ count: 100, p50: p99 / 2, p90: p99, p99, max: 2 * p99 });
const result = {
  pastEvents: 50,
  liveEventsPerSecond: 500,
  fewPerSecond: 10,
  manyPerSecond: 100,
};

test('joins and batches are held against the goals', () => {
  const report = joinsSection({
    ...result,
    few: [{ latencies: latencies(600), joinsPerSecond: 9.9 }],
    many: [{ latencies: latencies(1_400), joinsPerSecond: 97 }],
    doors: [
      { name: 'POST /ingest', rounds: [{ eventsPerSecond: 50_000, cpuPerEventUs: 10 }] },
      { name: 'POST /v1/batch', rounds: [{ eventsPerSecond: 30_000, cpuPerEventUs: 20 }] },
    ],
  }).join('\n');
  expect(report).toContain('| 10 | 300 | 600 | 1200 | 9.9 |');
  expect(report).toContain('| 100 | 700 | 1400 | 2800 | 97.0 |');
  expect(report).toContain('| POST /v1/batch | 30,000 | 0.60 | 20.0 µs |');
  expect(report).toContain('under 1,000 ms: met (600); 100 joins a second sustained: met (97.0)');
  expect(report).toContain('as POST /ingest: **not met** (0.60).');
});

test('the report says which goal is missed', () => {
  const report = joinsSection({
    ...result,
    few: [{ latencies: latencies(1_000), joinsPerSecond: 9.9 }],
    many: [{ latencies: latencies(9_000), joinsPerSecond: 60 }],
    doors: [
      { name: 'POST /ingest', rounds: [{ eventsPerSecond: 50_000, cpuPerEventUs: 10 }] },
      { name: 'POST /v1/batch', rounds: [{ eventsPerSecond: 40_000, cpuPerEventUs: 20 }] },
    ],
  }).join('\n');
  expect(report).toContain(
    'under 1,000 ms: **not met** (1000); 100 joins a second sustained: **not met** (60.0)',
  );
  expect(report).toContain('as POST /ingest: met (0.80).');
});
