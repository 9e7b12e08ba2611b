// The rows of an upload of any size, as they arrive: lines of NDJSON, or rows of CSV. Only one row is in memory beside those that are
// passed on.
import { rowReaderOf, type RowReader, type SentEvent } from '@lead-scoring/contracts';
import { csvRecords, maximumCsvRow, ProblemError, rowTooLong } from '@lead-scoring/service';
import { noBatch } from '../intake/read-events.js';

/** One event of an upload, with its place. */
export interface SentRow {
  /** In the upload, from 1: the line of NDJSON, the row of a table with its header, or the place in a list. */
  row: number;
  event: SentEvent;
  /** The approximate size of the event as JSON. */
  bytes: number;
}

/** Longer than any event, whose metadata may have 100 KB. */
export const maximumRowLength = maximumCsvRow;

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
  let read: RowReader | null = null;
  for await (const records of csvRecords(texts)) {
    const rows: SentRow[] = [];
    for (const { cells, row } of records) {
      if (!read) read = readerOf(cells);
      else
        rows.push({
          row,
          event: read(cells),
          // A control character grows to six by its escape.
          bytes: cells.reduce((sum, cell) => sum + cell.length * 6, 100),
        });
    }
    yield rows;
  }
}

function readerOf(header: string[]): RowReader {
  const read = rowReaderOf(header);
  if (typeof read === 'function') return read;
  throw noBatch(read);
}
