// The rows of an upload: the same however its bytes are cut, with their places, and of bounded length.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { partsOf, type PartLimits } from './parts.js';
import { csvRows, maximumRowLength, ndjsonRows, textOf, type SentRow } from './rows.js';

type Reader = (texts: AsyncIterable<string>) => AsyncIterable<readonly SentRow[]>;

async function* cut(bytes: Uint8Array, at: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...new Set(at.map((one) => one % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    yield await Promise.resolve(bytes.subarray(from, end));
    from = end;
  }
}

async function rowsOf(read: Reader, text: string | Uint8Array, at: readonly number[] = []) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const rows: SentRow[] = [];
  for await (const more of read(textOf(cut(bytes, at)))) rows.push(...more);
  return rows.map(({ row, event }) => ({ row, event }));
}

const cuts = fc.array(fc.nat(10_000), { maxLength: 12 });
/** Texts with everything that could be taken for a border. */
const cell = fc.string({
  unit: fc.constantFrom('"', ',', '\r', '\n', 'é', '😀', 'a', ' ', '\0'),
  maxLength: 8,
});

describe('lines of NDJSON', () => {
  test('have their number, blank ones count too, and a line that is no JSON is said to be so', async () => {
    expect(await rowsOf(ndjsonRows, '\ufeff{"a":1}\n\n nonsense\r\n{"a":2}')).toEqual([
      { row: 1, event: { sent: { a: 1 } } },
      { row: 3, event: { unreadable: 'must be one JSON object on one line' } },
      { row: 4, event: { sent: { a: 2 } } },
    ]);
  });

  test('law: they are the same however the bytes are cut', () =>
    fc.assert(
      fc.asyncProperty(fc.array(cell), cuts, async (texts, at) => {
        const body = texts.map((text) => `${JSON.stringify({ text })}\n`).join('');
        expect(await rowsOf(ndjsonRows, body, at)).toEqual(
          texts.map((text, index) => ({ row: index + 1, event: { sent: { text } } })),
        );
      }),
    ));
});

describe('rows of CSV', () => {
  test('have the number that a spreadsheet shows, the header is the first', async () => {
    const body =
      '\ufeffalias,metadata,metadata.note\r\na,"{""x"":1}",\r\n\r\n"b\r\nb",,"it""s"\r\nc,[],\r\nd,,,e\r\n';
    expect(await rowsOf(csvRows, body)).toEqual([
      { row: 2, event: { sent: { alias: 'a', metadata: { x: 1 } } } },
      { row: 4, event: { sent: { alias: 'b\r\nb', metadata: { note: 'it"s' } } } },
      { row: 5, event: { unreadable: 'must have a JSON object as metadata' } },
      { row: 6, event: { unreadable: 'has 4 cells where the header has 3' } },
    ]);
  });

  test('law: they are the same however the bytes are cut', () =>
    fc.assert(
      fc.asyncProperty(fc.array(cell), cuts, async (texts, at) => {
        const quoted = texts.map((text) => `x,"${text.replaceAll('"', '""')}"\r\n`);
        expect(await rowsOf(csvRows, `alias,metadata.t\r\n${quoted.join('')}`, at)).toEqual(
          texts.map((text, index) => ({
            row: index + 2,
            event: { sent: { alias: 'x', ...(text !== '' && { metadata: { t: text } }) } },
          })),
        );
      }),
    ));
});

test.each<[string, Reader, string, string]>([
  ['a quote that is never closed', csvRows, 'alias\n"a', 'not valid CSV'],
  ['a quote within a cell', csvRows, 'alias\na"b"\n', 'not valid CSV'],
  ['an unknown column', csvRows, 'alias,surplus\na,b\n', 'surplus'],
  ['a column twice', csvRows, 'alias,alias\na,b\n', 'twice'],
  ['a row without an end', csvRows, `alias\nx\n"${'a'.repeat(maximumRowLength + 9)}`, 'Row 3'],
  ['a line without an end', ndjsonRows, `{}\n${'a'.repeat(maximumRowLength + 9)}`, 'Row 2'],
  ['a long line', ndjsonRows, `{}\n${'a'.repeat(maximumRowLength + 9)}\n{}`, 'Row 2'],
])('%s is refused, with its place', async (_, read, text, detail) => {
  const at = Array.from({ length: 20 }, (_one, index) => index * 65_536);
  await expect(rowsOf(read, text, at)).rejects.toMatchObject({
    status: 400,
    detail: expect.stringContaining(detail) as unknown,
  });
});

test('bytes that are no UTF-8 are refused, also at the end', async () => {
  for (const bytes of [[0xff], [0x22, 0xc3]])
    await expect(rowsOf(ndjsonRows, Uint8Array.from(bytes))).rejects.toMatchObject({
      code: 'malformed_utf8',
    });
});

describe('parts', () => {
  const limits: PartLimits = { rows: 3, bytes: 100, patienceMs: 10, heartbeatMs: 50 };
  const row = (bytes: number): SentRow => ({ row: 1, event: { sent: {} }, bytes });
  async function sizes(source: readonly (readonly SentRow[])[], now: () => number = () => 0) {
    const parts: number[] = [];
    const each = async function* () {
      for (const rows of source) yield await Promise.resolve(rows);
    };
    for await (const part of partsOf(each(), limits, now)) parts.push(part.length);
    return parts;
  }

  test('end at so many rows, or so many bytes; a large row is a part of its own', async () => {
    expect(await sizes([Array(7).fill(row(1)) as SentRow[]])).toEqual([3, 3, 1]);
    expect(await sizes([[row(60), row(60), row(500), row(1)]])).toEqual([1, 1, 1, 1]);
    expect(await sizes([[], []])).toEqual([]);
  });

  test('of a slow upload end after a while, and one without rows says that the upload goes on', async () => {
    let time = 0;
    const slowly = () => (time += 9);
    expect(await sizes([[row(1)], [row(1)], [row(1)], []], slowly)).toEqual([2, 1]);
    expect(await sizes(Array(14).fill([]) as SentRow[][], slowly)).toEqual([0, 0]);
  });
});
