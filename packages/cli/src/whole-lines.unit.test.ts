// The whole lines of an export, however its bytes are divided into parts.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cursorIn, WholeLines } from './whole-lines.js';

const cursor = 'c'.repeat(67);
const csvLine = fc
  .array(fc.string({ unit: fc.constantFrom('a', 'é', '"', '\n', '\r', ',') }), { maxLength: 3 })
  .map((cells) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}",`).join('')}${cursor}\r\n`);

test('law: the lines that parts complete are all lines but the last that was cut, whatever the parts', () => {
  fc.assert(
    fc.property(
      fc.array(csvLine, { maxLength: 5 }),
      fc.array(fc.integer({ min: 0, max: 200 })),
      fc.integer({ min: 1, max: 5 }),
      (lines, cuts, missing) => {
        const whole = Buffer.from(lines.join(''));
        const sent = Buffer.from(`${lines.join('')}"a cell\r\n, not ended`).subarray(0, -missing);
        const places = [0, ...cuts.map((cut) => cut % (sent.length + 1)).sort((a, b) => a - b), sent.length];
        const reader = new WholeLines('csv');
        const taken = places.slice(1).map((end, index) => reader.take(sent.subarray(places[index], end)));
        expect(Buffer.concat(taken.map(({ bytes }) => bytes)).equals(whole)).toBe(true);
        expect(taken.reduce((sum, one) => sum + one.lines, 0)).toBe(lines.length);
      },
    ),
  );
});

test('the cursor is that of the last line; a header has none', () => {
  expect(cursorIn(Buffer.from(`timestamp,"a,b",cursor\r\n`), 'csv')).toBeNull();
  expect(cursorIn(Buffer.from(`t,"a,b",${'b'.repeat(67)}\r\nt,x,${cursor}\r\n`), 'csv')).toBe(cursor);
  expect(cursorIn(Buffer.from(`{"a":"\\n","cursor":"x"}\n{"cursor":"${cursor}"}\n`), 'ndjson')).toBe(cursor);
  for (const format of ['csv', 'ndjson'] as const) expect(cursorIn(Buffer.alloc(0), format)).toBeNull();
});
