// Reads events from a file or standard input as a stream: JSON, NDJSON or CSV.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { PassThrough, type Readable } from 'node:stream';
import type { EventToSend } from '@lead-scoring/client';
import { eventsOfCsvRows, eventsOfJson } from '@lead-scoring/contracts';
import { parse } from 'csv-parse';
import { emptyTimeRemedy, ignoredNames, mapperOf, type CsvMapping } from './csv-mapping.js';
import { CommandFailed, exitCodes } from './errors.js';
import { SourceLines } from './source-lines.js';

export type EventFormat = 'json' | 'ndjson' | 'csv';

export interface EventSource {
  format: EventFormat;
  events: AsyncIterable<EventToSend>;
  /** Size of the file in bytes; 0 when unknown. */
  bytes: number;
  /** Bytes read so far. */
  bytesRead: () => number;
  /** The first rows that could not be turned into events. */
  problems: { line: number; message: string }[];
  /** Number of all of them. */
  problemCount: () => number;
  /** Notes for a person about the columns, available once the header was read. */
  notices: string[];
  /** The line of the event with this index, once it was read; null where it is not known, as in formats without lines. */
  lineOf: (index: number) => number | null;
}

/** Options for reading a CSV. */
export interface CsvOptions {
  mapping?: CsvMapping;
  /**
   * Without a mapping: a row with an empty timestamp gives an event with the time of sending. Default: it gives none.
   */
  allowsEmptyTimestamp?: boolean;
}

/**
 * Opens a source of events. Only the beginning is read until the events are consumed.
 * @param file a path, or `-` for standard input
 */
export async function openEvents(
  file: string,
  options: CsvOptions & { format?: EventFormat; stdin: Readable },
): Promise<EventSource> {
  const bytes = file === '-' ? 0 : (await stat(file)).size;
  const input = file === '-' ? options.stdin : createReadStream(file);
  let bytesRead = 0;
  const text = new PassThrough();
  input.on('data', (chunk: Buffer | string) => (bytesRead += Buffer.byteLength(chunk)));
  input.on('error', (error: Error) => text.destroy(error));
  input.pipe(text);
  const format = options.format ?? formatOf(file) ?? (await guessFormat(text));
  const problems = new RowProblems();
  const notices: string[] = [];
  const lines = new SourceLines();
  return {
    format,
    bytes,
    bytesRead: () => bytesRead,
    problems: problems.first,
    problemCount: () => problems.count,
    notices,
    lineOf: (index) => lines.of(index),
    events:
      format === 'csv'
        ? csvEvents(text, options, { problems, notices, lines })
        : format === 'ndjson'
          ? ndjsonEvents(text, lines)
          : jsonEvents(text),
  };
}

/** Problems that are kept to be shown. */
const maximumProblems = 10_000;

class RowProblems {
  readonly first: EventSource['problems'] = [];
  count = 0;

  add(line: number, message: string): void {
    this.count += 1;
    if (this.first.length < maximumProblems) this.first.push({ line, message });
  }
}

function formatOf(file: string): EventFormat | null {
  const extension = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase();
  if (extension === 'csv' || extension === 'tsv') return 'csv';
  if (extension === 'ndjson' || extension === 'jsonl') return 'ndjson';
  return extension === 'json' ? 'json' : null;
}

/**
 * Guesses the format by the first line: a complete JSON object is NDJSON, the beginning of an object or list is JSON,
 * anything else CSV.
 */
async function guessFormat(input: Readable): Promise<EventFormat> {
  const first = await new Promise<Buffer>((resolve, reject) => {
    const done = () => {
      input.off('readable', done).off('end', done).off('error', reject);
      const chunk = input.read() as Buffer | null;
      if (chunk) input.unshift(chunk);
      resolve(chunk ?? Buffer.alloc(0));
    };
    input.on('readable', done).on('end', done).on('error', reject);
  });
  const line = first.toString().trimStart().split('\n', 1)[0] ?? '';
  if (!/^[[{]/.test(line)) return 'csv';
  try {
    return line.startsWith('{') && typeof JSON.parse(line) === 'object' ? 'ndjson' : 'json';
  } catch {
    return 'json';
  }
}

async function* jsonEvents(input: Readable): AsyncGenerator<EventToSend> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(chunk as Buffer);
  const whole = parseJson(Buffer.concat(chunks).toString(), 'The input');
  // The client splits lists that are too long for one request, so only the shape matters here.
  if (Array.isArray(whole)) yield* whole as EventToSend[];
  else {
    const events = (whole as { events?: unknown } | null)?.events;
    if (Array.isArray(events)) yield* events as EventToSend[];
    else {
      const one = eventsOfJson(whole);
      if (!Array.isArray(one))
        throw new CommandFailed(`The input ${one.errors[0]?.message ?? 'is not valid'}.`, exitCodes.data);
      yield whole as EventToSend;
    }
  }
}

async function* ndjsonEvents(input: Readable, lines: SourceLines): AsyncGenerator<EventToSend> {
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    number += 1;
    if (line.trim() === '') continue;
    lines.add(number);
    yield parseJson(line, `Line ${number}`) as EventToSend;
  }
}

async function* csvEvents(
  input: Readable,
  { mapping, allowsEmptyTimestamp = false }: CsvOptions,
  { problems, notices, lines }: { problems: RowProblems; notices: string[]; lines: SourceLines },
): AsyncGenerator<EventToSend> {
  let toEvents: ((row: readonly string[]) => { events: EventToSend[]; problem?: string }) | null = null;
  try {
    for await (const { record, info } of csvRows(input)) {
      if (!toEvents) {
        const columns = record.map((column) => column.trim());
        const mapper = mapping ? mapperOf(mapping, columns) : plainRows(columns, allowsEmptyTimestamp);
        if ('problem' in mapper)
          throw new CommandFailed(`The file cannot be read as events: ${mapper.problem}.`, exitCodes.data);
        toEvents = mapper;
        if (mapping) notices.push(...ignoredNames(mapping, columns));
        continue;
      }
      const { events, problem } = toEvents(record);
      if (problem !== undefined) problems.add(info.lines, problem);
      for (const event of events) {
        lines.add(info.lines);
        yield event;
      }
    }
  } catch (error) {
    throw asNotCsv(error);
  }
}

function csvRows(input: Readable): AsyncIterable<{ record: string[]; info: { lines: number } }> {
  const parser = input.pipe(
    parse({ bom: true, relax_column_count: true, skip_empty_lines: true, info: true }),
  );
  input.on('error', (error: Error) => parser.destroy(error));
  return parser as AsyncIterable<{ record: string[]; info: { lines: number } }>;
}

/**
 * The header of a CSV and its first rows.
 * @throws CommandFailed when it is not CSV
 */
export async function firstRowsOf(
  file: string,
  { stdin, maximum }: { stdin: Readable; maximum: number },
): Promise<{ columns: string[]; rows: string[][] }> {
  const input = file === '-' ? stdin : createReadStream(file);
  const rows: string[][] = [];
  try {
    for await (const { record } of csvRows(input)) {
      rows.push(record);
      if (rows.length > maximum) break;
    }
  } catch (error) {
    throw asNotCsv(error);
  }
  const [columns = [], ...others] = rows;
  return { columns: columns.map((column) => column.trim()), rows: others };
}

function asNotCsv(error: unknown): unknown {
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_'))
    return new CommandFailed(`The file is not CSV: ${error.message}.`, exitCodes.data, { cause: error });
  return error;
}

/** Rows of a CSV with the columns of POST /import, for which no mapping is needed. */
function plainRows(
  columns: string[],
  allowsEmptyTimestamp: boolean,
): ((row: readonly string[]) => { events: EventToSend[]; problem?: string }) | { problem: string } {
  const problemOf = (rows: (readonly string[])[]) => {
    const read = eventsOfCsvRows(rows);
    return Array.isArray(read) ? read[0] : read;
  };
  const header = eventsOfCsvRows([columns, []]);
  if (!Array.isArray(header)) {
    const [first] = header.errors;
    return {
      problem: `the column "${first?.path ?? ''}" ${first?.message ?? ''}; give a mapping with --mapping (--init-mapping proposes one)`,
    };
  }
  const time = columns.indexOf('timestamp');
  return (row) => {
    if (time >= 0 && !allowsEmptyTimestamp && (row[time] ?? '').trim() === '')
      return { events: [], problem: `timestamp is empty: ${emptyTimeRemedy}` };
    const event = problemOf([columns, row]);
    if (event && 'sent' in event) return { events: [event.sent as EventToSend] };
    return { events: [], problem: event && 'unreadable' in event ? event.unreadable : 'cannot be read' };
  };
}

function parseJson(text: string, subject: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new CommandFailed(
      `${subject} is not JSON: ${error instanceof Error ? error.message : ''}.`,
      exitCodes.data,
      { cause: error },
    );
  }
}
