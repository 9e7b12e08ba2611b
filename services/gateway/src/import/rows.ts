// The rows of an upload of any size, as they arrive: lines of NDJSON, or rows of CSV. Only one row is in memory beside those that are
// passed on.
import { rowReaderOf, type RowReader, type SentEvent } from '@lead-scoring/contracts';
import { ProblemError } from '@lead-scoring/service';
import { noBatch } from '../intake/read-events.js';
import { CsvError, parse, type Info, type Options, type Parser } from 'csv-parse';

/** One event of an upload, with its place. */
export interface SentRow {
  /** In the upload, from 1: the line of NDJSON, the row of a table with its header, or the place in a list. */
  row: number;
  event: SentEvent;
  /** The approximate size of the event as JSON. */
  bytes: number;
}

/** Longer than any event, whose metadata may have 100 KB. */
export const maximumRowLength = 1_000_000;

/**
 * The text of the bytes.
 * @throws ProblemError 400 `malformed_utf8`
 */
export async function* textOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (part?: Uint8Array) => {
    try {
      return part ? decoder.decode(part, { stream: true }) : decoder.decode();
    } catch (cause) {
      throw new ProblemError(400, 'malformed_utf8', 'The body is not valid UTF-8. Encode it as UTF-8.', {
        cause,
      });
    }
  };
  for await (const part of parts) yield decode(part);
  yield decode();
}

/** One event a line; blank lines are skipped. For each text the lines that end in it. */
export async function* ndjsonRows(texts: AsyncIterable<string>): AsyncGenerator<SentRow[]> {
  let rest = '';
  let row = 0;
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maximumRowLength) throw rowTooLong(row + lines.length + 1);
    yield lines.flatMap((line) => rowOfLine(line, (row += 1)));
  }
  yield rowOfLine(rest, row + 1);
}

function rowOfLine(line: string, row: number): SentRow[] {
  if (line.trim() === '') return [];
  if (line.length > maximumRowLength) throw rowTooLong(row);
  return [{ row, event: eventOfLine(line), bytes: line.length }];
}

function eventOfLine(line: string): SentEvent {
  try {
    return { sent: JSON.parse(line) as unknown };
  } catch {
    return { unreadable: 'must be one JSON object on one line' };
  }
}

/**
 * The rows under a header; empty rows are skipped. For each text the rows that end in it.
 * @throws ProblemError 400 when the header or the quotes are wrong, or a row is too long
 */
export async function* csvRows(texts: AsyncIterable<string>): AsyncGenerator<SentRow[]> {
  const table = new Table();
  for await (const text of texts) yield table.rowsIn(await table.take(text));
  yield table.rowsIn(await table.end());
}

interface ParsedRow {
  record: string[];
  info: Info;
}

/** The parser holds all rows of a text, which `take` reads: with a smaller mark it would wait for that, and `take` for the parser. */
const tableOptions: Options & { readableHighWaterMark: number } = {
  bom: true,
  info: true,
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: maximumRowLength,
  readableHighWaterMark: 1_000_000_000,
};

class Table {
  readonly #parser: Parser;
  #read: RowReader | null = null;
  #failure: unknown = null;

  constructor() {
    this.#parser = parse(tableOptions);
    this.#parser.on('error', (error) => (this.#failure ??= error));
  }

  async take(text: string): Promise<ParsedRow[]> {
    if (text !== '')
      await new Promise<void>((resolve) => {
        this.#parser.write(text, () => {
          resolve();
        });
      });
    return this.#parsed();
  }

  async end(): Promise<ParsedRow[]> {
    await new Promise<void>((resolve) => {
      this.#parser.end(() => {
        resolve();
      });
    });
    return this.#parsed();
  }

  #parsed(): ParsedRow[] {
    if (this.#failure !== null) throw unreadableTable(this.#failure);
    const rows: ParsedRow[] = [];
    for (;;) {
      const next = this.#parser.read() as ParsedRow | null;
      if (next === null) return rows;
      rows.push(next);
    }
  }

  rowsIn(parsed: ParsedRow[]): SentRow[] {
    const rows: SentRow[] = [];
    for (const { record, info } of parsed) {
      if (!this.#read) this.#read = readerOf(record);
      else
        rows.push({
          row: info.records + info.empty_lines,
          event: this.#read(record),
          // A control character grows to six by its escape.
          bytes: record.reduce((sum, cell) => sum + cell.length * 6, 100),
        });
    }
    return rows;
  }
}

function readerOf(header: string[]): RowReader {
  const read = rowReaderOf(header);
  if (typeof read === 'function') return read;
  throw noBatch(read);
}

function unreadableTable(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error;
  if (error.code === 'CSV_MAX_RECORD_SIZE') return rowTooLong(Number(error.records ?? 0) + 1);
  return new ProblemError(
    400,
    'invalid_request',
    `The body is not valid CSV in line ${String(error.lines)}: quotes must enclose a whole cell, and be doubled within one.`,
    { cause: error },
  );
}

function rowTooLong(row: number): ProblemError {
  return new ProblemError(
    400,
    'invalid_request',
    `Row ${String(row)} of the body is longer than ${String(maximumRowLength)} characters. One row is one event: is a line break or a closing quote missing?`,
  );
}
