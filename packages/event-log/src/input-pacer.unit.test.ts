import { describe, expect, test } from '@jest/globals';
import { InputPacer, type BufferedInput } from './input-pacer.js';

const commands = (parts: Partial<BufferedInput> = {}): BufferedInput => ({
  topic: 'ingest.commands',
  arrivedAt: 0,
  isBehind: false,
  isUrgent: false,
  ...parts,
});
const events = (parts: Partial<BufferedInput> = {}): BufferedInput => ({
  ...commands(parts),
  topic: 'ingest.events',
});
const pacer = ({ eventsEveryMs = 0, patienceMs = 0 } = {}) =>
  new InputPacer({ eventsEveryMs, patienceMs: () => patienceMs });
const read = new Map([['ingest.commands', { wasBehind: false }]] as const);

/** A pacer whose input of commands has been busy: batches of 20 ms, one after the other. */
function busy(): InputPacer {
  const made = pacer();
  for (let at = 0; at < 1_000; at += 20) {
    made.arrived('ingest.commands', at);
    made.handled(read, at, at + 20);
  }
  return made;
}

describe('an input of commands', () => {
  test('is handled at once after a silence, and then at most every five times a batch', () => {
    const made = pacer();
    made.arrived('ingest.commands', 10_000);
    expect(made.dueAt([commands({ arrivedAt: 10_000 })], 10_000)).toBe(10_000);
    expect(busy().dueAt([commands({ arrivedAt: 1_001 })], 1_001)).toBe(980 + 100);
  });

  test('does not rest where somebody waits, or where there is more to read', () => {
    expect(busy().dueAt([commands({ arrivedAt: 1_001, isUrgent: true })], 1_001)).toBe(1_001);
    expect(busy().dueAt([commands({ arrivedAt: 1_001, isBehind: true })], 1_001)).toBe(1_001);
  });

  test('that several partitions bring has rested once, not once for each', () => {
    const made = busy();
    for (let partition = 0; partition < 6; partition++) made.arrived('ingest.commands', 1_100);
    made.handled(read, 1_100, 1_120);
    // It has rested 20 ms since 1,080, and rests that much less.
    expect(made.dueAt([commands({ arrivedAt: 1_121 })], 1_121)).toBe(1_180);
  });
});

describe('an input of events', () => {
  test('is handled at once, or waits as long as it is patient for what another input brings', () => {
    expect(pacer().dueAt([events({ arrivedAt: 5 })], 5)).toBe(5);
    const patient = pacer({ patienceMs: 150 });
    expect(patient.dueAt([events({ arrivedAt: 5 })], 5)).toBe(155);
    expect(patient.dueAt([events({ arrivedAt: 5, isUrgent: true })], 5)).toBe(155);
    expect(patient.dueAt([events({ arrivedAt: 5, isBehind: true })], 5)).toBe(5);
  });

  test('that may wait is handled once in a while, where it is asked for', () => {
    const made = pacer({ eventsEveryMs: 1_000 });
    made.arrived('ingest.events', 0);
    made.handled(new Map([['ingest.events', { wasBehind: false }]] as const), 0, 10);
    expect(made.dueAt([events({ arrivedAt: 20 })], 20)).toBe(1_000);
    expect(made.dueAt([events({ arrivedAt: 20, isUrgent: true })], 20)).toBe(20);
  });
});

test('nothing buffered is never due', () => {
  expect(pacer().dueAt([], 0)).toBe(Infinity);
});
