// Finds out how a table in CSV is written, from its beginning: its delimiter and its quote.
import { parse } from 'csv-parse/sync';
import type { CsvForm } from './csv-records.js';

const delimiters = [',', ';', '\t', '|'] as const;
/** Records that are looked at, and characters. */
const records = 50;
const characters = 100_000;
/** Spreadsheets write such a line in front of a table whose delimiter is not the usual one. */
const announced = /^\ufeff?sep=(.)\r?\n/i;

export interface FoundCsvForm extends Required<Pick<CsvForm, 'delimiter' | 'quote'>> {
  /** Characters before the table, which are not part of it. */
  skipped: number;
}

/** @param text the beginning of the table */
export function csvFormOf(text: string): FoundCsvForm {
  const line = announced.exec(text);
  const skipped = line?.[0].length ?? 0;
  const sample = wholeLines(text.slice(skipped, skipped + characters));
  const quote = quoteOf(sample);
  if (line?.[1] !== undefined) return { delimiter: line[1], quote, skipped };
  let best: { delimiter: string; agreeing: number; columns: number } = {
    delimiter: ',',
    agreeing: 0,
    columns: 1,
  };
  for (const delimiter of delimiters) {
    const found = { delimiter, ...columnsBy(sample, { delimiter, quote }) };
    if (found.columns > 1 && isBetter(found, best)) best = found;
  }
  return { delimiter: best.delimiter, quote, skipped };
}

/** The one by which more rows have as many cells as the header; among equals, the one with more columns. */
function isBetter(
  one: { agreeing: number; columns: number },
  other: { agreeing: number; columns: number },
): boolean {
  const difference = one.agreeing - other.agreeing;
  return Math.abs(difference) > 0.05 ? difference > 0 : one.columns > other.columns;
}

/** The cells of the first row, and the share of the rows that have as many. */
function columnsBy(
  sample: string,
  { delimiter, quote }: { delimiter: string; quote: string },
): { agreeing: number; columns: number } {
  const counts: number[] = [];
  try {
    parse(sample, {
      delimiter,
      quote,
      bom: true,
      to: records,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (record: string[]) => {
        counts.push(record.length);
        return null;
      },
    });
  } catch {
    // The end of the sample may be within quotes: the records before it have been counted.
  }
  const columns = counts[0] ?? 0;
  return {
    columns,
    agreeing: counts.filter((count) => count === columns).length / Math.max(1, counts.length),
  };
}

/** The quote around most cells. */
function quoteOf(sample: string): string {
  const times = (pattern: RegExp) => sample.match(pattern)?.length ?? 0;
  // An apostrophe at the beginning or at the end of a word is no quote.
  const single = Math.min(times(/[,;\t|\n]'/g), times(/'[,;\t|\r\n]/g));
  const double = Math.min(times(/[,;\t|\n]"/g), times(/"[,;\t|\r\n]/g));
  return single > double ? "'" : '"';
}

function wholeLines(text: string): string {
  const end = text.lastIndexOf('\n');
  return text.length < characters || end === -1 ? text : text.slice(0, end + 1);
}
