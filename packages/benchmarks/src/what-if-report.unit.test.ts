import { expect, test } from '@jest/globals';
import { whatIfSection } from './what-if-report.js';

const latencies = (p99: number) => ({ count: 100, p50: p99 / 2, p90: p99, p99, max: 2 * p99 });
const result = {
  leads: 20_000,
  events: 1_000_000,
  ingestedPerSecond: 10_000,
  liveEventsPerSecond: 1_000,
  rescorings: [{ eventsPerSecond: 15_000, memoryMiB: 400 }],
  reads: { leads: 200_000, quiet: latencies(4), rescoring: latencies(45) },
};

test('the slower kind of what-if, the most memory and the median of the ratios of latencies are held against the goals', () => {
  const report = whatIfSection({
    ...result,
    contenders: [
      { name: 'without', rounds: [{ eventsPerSecond: 80_000, memoryMiB: 150 }] },
      { name: 'with', rounds: [{ eventsPerSecond: 60_000, memoryMiB: 250 }] },
    ],
    live: [
      { quiet: latencies(100), whatIfs: latencies(120), rescorings: latencies(110) },
      { quiet: latencies(100), whatIfs: latencies(140), rescorings: latencies(160) },
      { quiet: latencies(200), whatIfs: latencies(800), rescorings: latencies(400) },
    ],
  }).join('\n');
  expect(report).toContain('| what-if without | 80,000 | 8.00 | 150 MiB | 1 |');
  expect(report).toContain('| what-if with | 60,000 | 6.00 | 250 MiB | 1 |');
  expect(report).toContain(
    'as ingesting: met (6.00), rescorings 2 times: **not met** (1.50); what-ifs at most 300 MB: met (250)',
  );
  expect(report).toContain('beside what-ifs: met (1.40), beside rescorings: **not met** (1.60); no read');
  expect(report).toContain('| beside the rescoring | 22.5 | 45.0 | 90 |');
  expect(report).toContain('while scores come into force: met (90).');
});

test('the report says which goal is missed', () => {
  const report = whatIfSection({
    ...result,
    contenders: [{ name: 'with', rounds: [{ eventsPerSecond: 26_000, memoryMiB: 310 }] }],
    live: [{ quiet: latencies(100), whatIfs: latencies(250), rescorings: latencies(140) }],
  }).join('\n');
  expect(report).toContain(
    'ingesting: **not met** (2.60), rescorings 2 times: **not met** (1.50); what-ifs at most 300 MB: **not met** (310)',
  );
  expect(report).toContain('beside what-ifs: **not met** (2.50), beside rescorings: met (1.40);');
});
