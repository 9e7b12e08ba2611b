// Cells and lines of CSV: every value is one cell again, and no cell runs as a formula.
import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvCell, csvLine } from './csv-line.js';

const read = (text: string): string[][] =>
  parse(text, { record_delimiter: '\r\n', relax_column_count: true });

describe('a cell', () => {
  test.each<[string, Parameters<typeof csvCell>[0], string]>([
    ['a missing value is empty', undefined, ''],
    ['null is empty', null, ''],
    ['a number stays a number, also a negative one', -12.5, '-12.5'],
    ['true is true', true, 'true'],
    ['an object is JSON', { a: [1, 'x"y'] }, '"{""a"":[1,""x\\""y""]}"'],
    ['a text with a comma is quoted', 'a,b', '"a,b"'],
    ['quotes are doubled', 'say "hi"', '"say ""hi"""'],
    ['line breaks stay, in quotes', 'a\r\nb\nc', '"a\r\nb\nc"'],
    ['a lone surrogate, which UTF-8 cannot hold, is U+FFFD', 'a\ud800b', 'a\ufffdb'],
    ['NUL stays', 'a\u0000b', 'a\u0000b'],
  ])('%s', (_, value, cell) => {
    expect(csvCell(value)).toBe(cell);
  });

  test.each([
    '=1+1',
    '=HYPERLINK("http://evil.example","x")',
    '+491511234567',
    '-2+3',
    '@SUM(1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1+1',
    '＠x',
  ])('a text that a spreadsheet would run has an apostrophe in front: %j', (text) => {
    expect(read(`${csvCell(text)}\r\n`)).toEqual([[`'${text}`]]);
  });

  test.each(['a=1', ' =1', "'a", '1-2', 'ada@example.com'])('other texts stay as they are: %j', (text) => {
    expect(csvCell(text)).toBe(text);
  });
});

test('law: lines of any texts are read back as they were, but for the apostrophes of formulas and lone surrogates', () => {
  const shown = (text: string) => `${/^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? "'" : ''}${text.toWellFormed()}`;
  const cell = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', '=', "'", 'a', '\ud800', '\udc00', '\u0000') }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { minLength: 1, maxLength: 5 }),
      (lines) => {
        expect(read(lines.map(csvLine).join(''))).toEqual(lines.map((line) => line.map(shown)));
      },
    ),
  );
});
