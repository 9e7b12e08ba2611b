import { expect, test } from '@jest/globals';
import { sourcesSection } from './sources-report.js';

const rounds = (eventsPerSecond: number, cpuPerEventUs: number) => [{ eventsPerSecond, cpuPerEventUs }];

test('events per processor second are held against the goal, at the door and to the score', () => {
  const report = sourcesSection({
    leads: 20_000,
    events: 200_000,
    doors: [
      { name: 'POST /ingest', rounds: rounds(100_000, 9) },
      { name: 'a topic', rounds: rounds(150_000, 4.5) },
    ],
    readable: [
      { name: 'POST /ingest', rounds: rounds(14_000, 90) },
      { name: 'POST /ingest, events with an id', rounds: rounds(12_000, 100) },
      { name: 'a topic', rounds: rounds(13_000, 100) },
    ],
  }).join('\n');
  expect(report).toContain('| a topic | 150,000 | 4.5 µs | 2.00 |');
  expect(report).toContain('| a topic | 13,000 | 100.0 µs | 0.90 |');
  expect(report).toContain('at the door met (2.00), to the readable score **not met** (0.90).');
});
