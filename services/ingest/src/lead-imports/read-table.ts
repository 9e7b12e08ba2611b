// Reads an uploaded table once, from its stored bytes: its rows are stored in chunks of a bounded size, and what a person needs to know of
// it becomes the preview.
import { leadFilePartBytes, leadImportLimits } from '@lead-scoring/contracts';
import { openCsv } from './csv-rows.js';
import type { LeadFilePreview, StoredRow } from './documents.js';
import { encodingOf } from './encodings.js';
import type { LeadFileStore } from './file-store.js';
import { jsonRows } from './json-rows.js';
import { suggestionCharacters, suggestionOf, suggestionRows } from './suggestion.js';
import { unreadable, type TableRows } from './table-rows.js';
import { workbookRows } from './workbook/sheet-rows.js';

export interface UploadedTable {
  uploadId: string;
  parts: number;
  isJson: boolean;
}

/** What was read of a table. */
export interface ReadTable {
  preview: Omit<LeadFilePreview, 'file_id' | 'expires_at'>;
  bytes: number;
  /** Documents of rows. */
  chunks: number;
}

/** The size of a chunk of rows, which one step of an import takes. */
const chunkLimits = { rows: 4_000, characters: 400_000 };

/**
 * @param signal ends the reading
 * @throws ProblemError 400 when the table cannot be read, with what to do
 */
export async function readTable(
  table: UploadedTable,
  store: LeadFileStore,
  signal: AbortSignal,
): Promise<ReadTable> {
  const source = new StoredUpload(table, store);
  const { rows, delimiter, encoding, isEncodingCertain } = await open(table, source);
  const reading = new TableReading(table.uploadId, store);
  for await (const some of rows) {
    signal.throwIfAborted();
    await reading.take(some);
  }
  const read = await reading.end();
  if (!isEncodingCertain)
    read.problems.unshift({
      code: 'encoding_guessed',
      message: `The file is not in UTF-8 and was read as ${String(encoding)}. If letters with accents look wrong, save it as CSV in UTF-8.`,
    });
  const { problems, ...content } = read.preview;
  return {
    chunks: read.chunks,
    bytes: source.size,
    preview: {
      ...content,
      delimiter,
      encoding,
      problems: [...read.problems, ...problems].slice(0, leadImportLimits.problems),
    },
  };
}

interface OpenTable {
  rows: TableRows;
  delimiter: string | null;
  encoding: string | null;
  isEncodingCertain: boolean;
}

async function open({ isJson, parts }: UploadedTable, source: StoredUpload): Promise<OpenTable> {
  const first = parts === 0 ? Buffer.alloc(0) : await source.part(0);
  if (first.length === 0)
    throw unreadable('The file is empty. Send one with a header and a row for each lead.');
  const plain = { delimiter: null, encoding: null, isEncodingCertain: true };
  if (isJson) return { rows: jsonRows((await source.whole()).toString()), ...plain };
  if (begins(first, 'PK\u0003\u0004')) {
    await source.measure();
    if (source.size > leadImportLimits.workbookBytes)
      throw unreadable(
        `The workbook has more than ${String(leadImportLimits.workbookBytes)} bytes. Save its first sheet as CSV.`,
      );
    return { rows: workbookRows(source), ...plain };
  }
  if (begins(first, '\u00d0\u00cf\u0011\u00e0'))
    throw unreadable('The file is a workbook of an old form, or has a password. Save it as XLSX or CSV.');
  const found = await encodingOf(source.bytes());
  if (!found) throw unreadable('The file is neither a text nor an XLSX workbook. Save the table as CSV.');
  const { form, rows } = await openCsv(source.bytes(), found.encoding);
  return { rows, delimiter: form.delimiter, encoding: found.encoding, isEncodingCertain: found.isCertain };
}

function begins(bytes: Buffer, mark: string): boolean {
  return bytes.toString('latin1', 0, mark.length) === mark;
}

/** The bytes of an upload, in the parts in which they are stored. */
class StoredUpload {
  readonly partBytes = leadFilePartBytes;
  size = 0;

  constructor(
    private readonly table: UploadedTable,
    private readonly store: LeadFileStore,
  ) {}

  async part(number: number): Promise<Buffer> {
    const part = await this.store.part(this.table.uploadId, number);
    if (!part) throw unreadable('A part of the file has not arrived. Send it again.');
    return part;
  }

  async *bytes(): AsyncGenerator<Buffer> {
    for (let number = 0; number < this.table.parts; number += 1) {
      const part = await this.part(number);
      this.size = Math.max(this.size, number * this.partBytes + part.length);
      yield part;
    }
  }

  async whole(): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.bytes()) parts.push(part);
    return Buffer.concat(parts);
  }

  async measure(): Promise<void> {
    const last = this.table.parts - 1;
    this.size = last * this.partBytes + (await this.part(last)).length;
  }
}

type Problems = LeadFilePreview['problems'];

class TableReading {
  #headers: string[] | null = null;
  #count = 0;
  #chunks = 0;
  #chunk: StoredRow[] = [];
  #characters = 0;
  #wide = 0;
  readonly #first: (readonly string[])[] = [];
  #firstCharacters = 0;
  readonly #problems: Problems = [];

  constructor(
    private readonly uploadId: string,
    private readonly store: LeadFileStore,
  ) {}

  async take(rows: readonly StoredRow[]): Promise<void> {
    for (const row of rows) {
      if (this.#headers) await this.#takeRow(row, this.#headers);
      else this.#headers = this.#headersOf(row[1]);
    }
  }

  async end() {
    const headers = this.#headers;
    if (!headers) throw unreadable('The file has no rows. Send one with a header and a row for each lead.');
    await this.#store();
    if (this.#count === 0)
      this.#problems.push({ code: 'no_rows', message: 'The table has a header and no rows.' });
    const { identifiers, mapping, problems } = suggestionOf(headers, this.#first);
    const sample = this.#first.slice(0, leadImportLimits.sampleRows);
    return {
      chunks: this.#chunks,
      problems: this.#problems,
      preview: {
        headers,
        sample_rows: sample.map((cells) =>
          headers.map((_, at) => (cells[at] ?? '').slice(0, leadImportLimits.sampleCell).toWellFormed()),
        ),
        row_count: this.#count,
        auto_detected_identifiers: identifiers,
        suggested_mapping: mapping,
        problems,
      },
    };
  }

  async #takeRow([row, cells]: StoredRow, headers: readonly string[]): Promise<void> {
    this.#count += 1;
    if (this.#count > leadImportLimits.rows)
      throw unreadable(
        `The table has more than ${leadImportLimits.rows.toLocaleString('en')} rows. Divide it into several files.`,
      );
    if (cells.length > headers.length) this.#noteWideRow(row, cells, headers);
    const characters = cells.reduce((sum, cell) => sum + cell.length, 0);
    this.#look(cells, characters);
    this.#chunk.push([row, cells]);
    this.#characters += characters;
    if (this.#chunk.length >= chunkLimits.rows || this.#characters >= chunkLimits.characters)
      await this.#store();
  }

  /** Keeps the first rows, for the sample and the suggestion. */
  #look(cells: readonly string[], characters: number): void {
    if (this.#first.length >= suggestionRows || this.#firstCharacters > suggestionCharacters) return;
    this.#first.push(cells);
    this.#firstCharacters += characters;
  }

  #noteWideRow(row: number, cells: readonly string[], headers: readonly string[]): void {
    if (cells.slice(headers.length).every((cell) => cell.trim() === '')) return;
    this.#wide += 1;
    if (this.#wide > 10) return;
    this.#problems.push({
      code: 'row_too_wide',
      message: `The row has ${String(cells.length)} cells where the header has ${String(headers.length)}; it fails.`,
      row,
    });
  }

  async #store(): Promise<void> {
    if (this.#chunk.length === 0) return;
    await this.store.putRows(this.uploadId, this.#chunks, this.#chunk);
    this.#chunks += 1;
    this.#chunk = [];
    this.#characters = 0;
  }

  /** The names of the columns, each of which is there once. */
  #headersOf(cells: readonly string[]): string[] {
    const given = withoutEmptyEnd(cells);
    if (given.length === 0) throw unreadable('The table has no columns. Its first row must name them.');
    if (given.length > leadImportLimits.columns)
      throw unreadable(
        `The table has ${String(given.length)} columns; at most ${String(leadImportLimits.columns)} are taken.`,
      );
    const taken = new Set<string>();
    return given.map((cell, at) => {
      const trimmed = cell
        .trim()
        .replace(/\s+/g, ' ')
        .slice(0, leadImportLimits.columnName - 10)
        .toWellFormed();
      const named = trimmed === '' ? `Column ${String(at + 1)}` : trimmed;
      let name = named;
      for (let number = 2; taken.has(name); number += 1) name = `${named} (${String(number)})`;
      taken.add(name);
      if (trimmed === '')
        this.#problems.push({ code: 'header_empty', message: 'The column has no name.', column: name });
      else if (name !== named)
        this.#problems.push({
          code: 'header_twice',
          message: `Several columns have the name ${named}; this one is called ${name} here.`,
          column: name,
        });
      return name;
    });
  }
}

function withoutEmptyEnd(cells: readonly string[]): readonly string[] {
  let end = cells.length;
  while (end > 0 && (cells[end - 1] ?? '').trim() === '') end -= 1;
  return cells.slice(0, end);
}
