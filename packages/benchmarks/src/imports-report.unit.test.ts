import { expect, test } from '@jest/globals';
import { importsSection } from './imports-report.js';

const round = (eventsPerSecond: number) => ({ eventsPerSecond, cpuPerEventUs: 100 });
const row = (rowsPerSecond: number) => ({ rowsPerSecond, cpuPerRowUs: 200 });
const large = { events: 4_000_000, bytes: 1_000_000_000, eventsPerSecond: 9_000, memoryMiB: 120 };

test('imports are compared with POST /ingest round by round, and the median of the ratios is held against the goal', () => {
  const report = importsSection({
    leads: 10,
    events: 1_000,
    contenders: [
      { name: 'POST /ingest', rounds: [round(100), round(100), round(300)] },
      { name: 'POST /import', rounds: [round(90), round(120), round(330)] },
    ],
    large,
    tables: {
      rows: 200,
      contenders: [
        { name: 'POST /ingest, new leads', rounds: [row(100), row(100), row(300)] },
        { name: 'POST /leads/import', rounds: [row(50), row(60), row(150)] },
      ],
    },
  }).join('\n');
  expect(report).toContain('| POST /import | 120 | 1.10 (0.90 to 1.20) | 100.0 µs |');
  expect(report).toContain('4,000,000 events, 1,000 MB: 9,000 events/s.');
  expect(report).toContain('at least as fast as POST /ingest: met (1.10)');
  expect(report).toContain('| POST /leads/import | 60 | 0.50 (0.50 to 0.60) | 200.0 µs |');
  expect(report).toContain('a table at least as fast as POST /ingest: **not met** (0.50)');
});
