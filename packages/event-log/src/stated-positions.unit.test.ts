// Which position statement of an output counts.
import { expect, test } from '@jest/globals';
import type { RawRecord } from './kafka/partition-reader.js';
import { createStatementReader } from './stated-positions.js';

const record = (offset: number, headers: Record<string, string>): RawRecord => ({
  offset: BigInt(offset),
  timestamp: 0,
  key: null,
  value: null,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)])),
});
const says = (offset: number, at: number) => record(offset, { positions: `in:${String(at)}` });
const accepts = (offset: number, at: number, follows: string, more: Record<string, string> = {}) =>
  record(offset, { positions: `in:${String(at)}`, 'positions-follow': follows, ...more });

function read(records: RawRecord[], isFromBeginning = true) {
  const reader = createStatementReader(isFromBeginning);
  reader.take(records);
  return { at: Number(reader.last()?.positions.get('in') ?? -1), last: reader.last(), needs: reader.needs() };
}

test('the last statement counts, and records without one are skipped', () => {
  expect(read([says(0, 5), record(1, { type: 'LeadScored' }), says(2, 9)])).toMatchObject({ at: 9 });
  expect(read([])).toMatchObject({ at: -1, needs: undefined });
});

test('an operator’s statement counts if it follows the statement that the operator saw', () => {
  expect(read([says(3, 500), accepts(4, 0, '3')])).toMatchObject({ at: 0, last: { isOperators: true } });
  expect(read([says(3, 500), says(4, 501), accepts(5, 0, '3')])).toMatchObject({ at: 501 });
  expect(read([accepts(0, 7, 'none')])).toMatchObject({ at: 7 });
  expect(read([says(0, 1), accepts(1, 7, 'none')])).toMatchObject({ at: 1 });
});

test('an operator’s statement counts until a decision follows it', () => {
  expect(
    read([says(3, 500), accepts(4, 0, '3', { 'positions-output-is-whole': 'true' })]).last,
  ).toMatchObject({
    outputIsWhole: true,
  });
  expect(read([says(3, 500), accepts(4, 0, '3'), says(6, 2)])).toMatchObject({
    at: 2,
    last: { isOperators: false, outputIsWhole: false },
  });
});

test('an operator’s statement that is read first requires reading the statement that it follows', () => {
  expect(read([accepts(40, 0, '3')], false)).toMatchObject({ at: -1, needs: 3n });
  expect(read([accepts(40, 0, 'none')], false)).toMatchObject({ needs: 'none' });
  expect(read([accepts(40, 0, '3'), says(44, 6)], false)).toMatchObject({ at: 6, needs: undefined });
});
