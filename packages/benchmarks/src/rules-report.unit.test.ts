import { expect, test } from '@jest/globals';
import { rulesSection } from './rules-report.js';
import type { RulesResult } from './rules.js';

const latencies = (max: number) => ({ count: 40, p50: max / 4, p90: max / 2, p99: max, max });

function result(costs: readonly number[], longestMs: number): RulesResult {
  const rounds = (cpu: readonly number[]) =>
    cpu.map((cpuPerEventUs) => ({ eventsPerSecond: 1_000_000 / cpuPerEventUs, cpuPerEventUs }));
  return {
    leads: 20_000,
    events: 40_000,
    contenders: [
      { name: '20 rules', rounds: rounds([40, 50, 80]) },
      { name: '1,000 rules', rounds: rounds(costs) },
    ],
    updates: [
      { name: 'switched', latencies: latencies(100) },
      { name: 'changed', latencies: latencies(longestMs) },
    ],
  };
}

test('the costs of rules are compared turn by turn, and the goal is the median of the ratios', () => {
  const report = rulesSection(result([42, 52, 160], 400)).join('\n');
  expect(report).toContain(
    '| 1,000 rules | 19,231 | 0.95 (0.50 to 0.96) | 52.0 µs | 1.05 (1.04 to 2.00) | 3 |',
  );
  expect(report).toContain('20 of its type: met (1.05 times the processor time, 0.95 times as many');
  expect(report).toContain('| changed | 100 | 400 | 400 | 40 |');
  expect(report).toContain('changed in less than 1 s: met.');
});

test('the report says when rules cost more, and when the slowest change takes a second', () => {
  const report = rulesSection(result([60, 60, 90], 1_000)).join('\n');
  expect(report).toContain('20 of its type: **not met** (1.20 times');
  expect(report).toContain('changed in less than 1 s: **not met**.');
});
