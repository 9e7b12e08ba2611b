// A table in CSV, of any encoding and with any usual delimiter and quote.
import { csvFormOf, csvRecords, type FoundCsvForm } from '@lead-scoring/service';
import type { StoredRow } from './documents.js';
import { textIn } from './encodings.js';
import type { TableRows } from './table-rows.js';

/** Characters at the beginning that the form is found from. */
const sampleCharacters = 100_000;

export interface CsvTable {
  form: FoundCsvForm;
  rows: TableRows;
}

/** Opens the table: reads as much of it as shows how it is written. */
export async function openCsv(parts: AsyncIterable<Uint8Array>, encoding: string): Promise<CsvTable> {
  const texts = textIn(parts, encoding);
  let beginning = '';
  while (beginning.length < sampleCharacters) {
    const next = await texts.next();
    if (next.done === true) break;
    beginning += next.value;
  }
  const form = csvFormOf(beginning);
  return { form, rows: rowsOf(joined(beginning.slice(form.skipped), texts), form) };
}

async function* joined(beginning: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield beginning;
  yield* rest;
}

async function* rowsOf(texts: AsyncIterable<string>, { delimiter, quote }: FoundCsvForm): TableRows {
  const form = {
    delimiter,
    quote,
    takesStrayQuotes: true,
    what: 'The file',
    code: 'unreadable_file',
  } as const;
  for await (const records of csvRecords(texts, form)) {
    const rows = records.map(({ row, cells }): StoredRow => [row, cells]);
    yield rows.filter(([, cells]) => cells.some((cell) => cell.trim() !== ''));
  }
}
