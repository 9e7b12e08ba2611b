// What is remembered of decisions that took too long.
import { expect, test } from '@jest/globals';
import { createDecisionLimits } from './decision-limits.js';

test('a batch that took too long is decided in halves, again and again, up to its end and no further', () => {
  const limits = createDecisionLimits();
  expect(limits.limitAt('ingest.events', 0n)).toBe(Infinity);
  limits.recordSlowDecision('ingest.events', 100n, 9);
  expect(limits.limitAt('ingest.events', 0n)).toBe(5);
  limits.recordSlowDecision('ingest.events', 50n, 5);
  expect(limits.limitAt('ingest.events', 99n)).toBe(3);
  expect(limits.limitAt('ingest.events', 100n)).toBe(Infinity);
  expect(limits.limitAt('scoring.commands', 0n)).toBe(Infinity);
});

test('one record that took too long alone is known by its place', () => {
  const limits = createDecisionLimits();
  limits.recordSlowDecision('ingest.events', 7n, 1);
  expect(limits.isSlowRecord('ingest.events', 7n)).toBe(true);
  expect(limits.isSlowRecord('ingest.events', 8n)).toBe(false);
  expect(limits.isSlowRecord('scoring.commands', 7n)).toBe(false);
  expect(limits.limitAt('ingest.events', 0n)).toBe(Infinity);
});
