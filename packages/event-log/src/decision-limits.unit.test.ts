// The limits after decisions that took too long.
import { expect, test } from '@jest/globals';
import { createDecisionLimits } from './decision-limits.js';

test('the limit is halved after each slow batch, and applies up to the end of that batch', () => {
  const limits = createDecisionLimits();
  expect(limits.limitAt('ingest.events', 0n)).toBe(Infinity);
  limits.recordSlowDecision('ingest.events', 100n, 9);
  expect(limits.limitAt('ingest.events', 0n)).toBe(5);
  limits.recordSlowDecision('ingest.events', 50n, 5);
  expect(limits.limitAt('ingest.events', 99n)).toBe(3);
  expect(limits.limitAt('ingest.events', 100n)).toBe(Infinity);
  expect(limits.limitAt('scoring.commands', 0n)).toBe(Infinity);
});

test('a record that was slow alone is found by its input and offset', () => {
  const limits = createDecisionLimits();
  limits.recordSlowDecision('ingest.events', 7n, 1);
  expect(limits.isSlowRecord('ingest.events', 7n)).toBe(true);
  expect(limits.isSlowRecord('ingest.events', 8n)).toBe(false);
  expect(limits.isSlowRecord('scoring.commands', 7n)).toBe(false);
  expect(limits.limitAt('ingest.events', 0n)).toBe(Infinity);
});
