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

/** A pacer whose command input has been busy: consecutive batches of 20 ms. */
function busy(): InputPacer {
  const made = pacer();
  for (let at = 0; at < 1_000; at += 20) {
    made.arrived('ingest.commands', at);
    made.handled(read, at, at + 20);
  }
  return made;
}

describe('a command input', () => {
  test('starts a batch at once after a silence, and then at most every 2.5 × recent batch time', () => {
    const made = pacer();
    made.arrived('ingest.commands', 10_000);
    expect(made.dueAt([commands({ arrivedAt: 10_000 })], 10_000)).toBe(10_000);
    expect(busy().dueAt([commands({ arrivedAt: 1_001 })], 1_001)).toBe(980 + 50);
  });

  test('does not linger when a caller waits or the input has more to read', () => {
    expect(busy().dueAt([commands({ arrivedAt: 1_001, isUrgent: true })], 1_001)).toBe(1_001);
    expect(busy().dueAt([commands({ arrivedAt: 1_001, isBehind: true })], 1_001)).toBe(1_001);
  });

  test('counts a silence once, not once for each of its partitions', () => {
    const made = busy();
    for (let partition = 0; partition < 6; partition++) made.arrived('ingest.commands', 1_050);
    made.handled(read, 1_050, 1_070);
    // The 20 ms of silence since 1,030 count as linger.
    expect(made.dueAt([commands({ arrivedAt: 1_071 })], 1_071)).toBe(1_080);
  });
});

describe('an event input', () => {
  test('is handled at once, or waits up to patienceMs for records of another input', () => {
    expect(pacer().dueAt([events({ arrivedAt: 5 })], 5)).toBe(5);
    const patient = pacer({ patienceMs: 150 });
    expect(patient.dueAt([events({ arrivedAt: 5 })], 5)).toBe(155);
    expect(patient.dueAt([events({ arrivedAt: 5, isUrgent: true })], 5)).toBe(155);
    expect(patient.dueAt([events({ arrivedAt: 5, isBehind: true })], 5)).toBe(5);
  });

  test('starts a batch at most once per eventsEveryMs while its records may wait', () => {
    const made = pacer({ eventsEveryMs: 1_000 });
    made.arrived('ingest.events', 0);
    made.handled(new Map([['ingest.events', { wasBehind: false }]] as const), 0, 10);
    expect(made.dueAt([events({ arrivedAt: 20 })], 20)).toBe(1_000);
    expect(made.dueAt([events({ arrivedAt: 20, isUrgent: true })], 20)).toBe(20);
  });
});

test('an empty buffer is never due', () => {
  expect(pacer().dueAt([], 0)).toBe(Infinity);
});
