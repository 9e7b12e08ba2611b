import { expect, test } from '@jest/globals';
import { signingInSection } from './signing-in-report.js';

const round = (cpuPerRequestUs: number) => ({ requestsPerSecond: 1_000, cpuPerRequestUs });

test('the cost of a JSON Web Token is compared turn by turn, and the median of the ratios is held against the goal', () => {
  const report = signingInSection({
    callers: [
      { name: 'personal token', rounds: [round(100), round(200), round(100)] },
      { name: 'JSON Web Token', rounds: [round(105), round(240), round(120)] },
    ],
  }).join('\n');
  expect(report).toContain('| JSON Web Token | 1,000 | 120.0 µs | 1.20 (1.05 to 1.20) |');
  expect(report).toContain('at most 1.1 times as much as a personal token: **not met** (1.20)');
});
