// How a table in CSV is written, found from its beginning.
import { describe, expect, test } from '@jest/globals';
import { csvFormOf } from './csv-form.js';

describe('the form of a table', () => {
  test.each<[string, string, { delimiter: string; quote: string }]>([
    ['with commas', 'a,b,c\n1,2,3\n', { delimiter: ',', quote: '"' }],
    ['with semicolons, and commas in numbers', 'a;b\n1,5;2,5\n3,5;4\n', { delimiter: ';', quote: '"' }],
    ['with tabs', 'name\tnote\nAda\tone, two; three\n', { delimiter: '\t', quote: '"' }],
    ['with bars', 'a|b|c\n1|2|3\n', { delimiter: '|', quote: '"' }],
    ['with commas within quotes', 'a;b\n"1,2,3,4";x\n"1,2,3,4";y\n', { delimiter: ';', quote: '"' }],
    ['with single quotes', "'a','b'\n'1,1','2'\n'3','4'\n", { delimiter: ',', quote: "'" }],
    ['with an apostrophe that is no quote', "a,b\nO'Hara,x\n'tis,y\n", { delimiter: ',', quote: '"' }],
    ['of one column', 'email\nada@example.com\n', { delimiter: ',', quote: '"' }],
    ['of a cell that has no end yet', 'a;b\n1;2\n3;"4', { delimiter: ';', quote: '"' }],
    ['of nothing', '', { delimiter: ',', quote: '"' }],
  ])('%s', (_, text, form) => {
    expect(csvFormOf(text)).toEqual({ ...form, skipped: 0 });
  });

  test('is the one that the table names itself in its first line, which is no row', () => {
    expect(csvFormOf('sep=;\r\na;b\r\n')).toEqual({ delimiter: ';', quote: '"', skipped: 7 });
    expect(csvFormOf('\ufeffsep=|\na|b\n')).toEqual({ delimiter: '|', quote: '"', skipped: 7 });
  });
});
