// Reads a table in CSV as its text arrives, in memory that does not grow with it: only one record is held beside those that are passed on.
import { CsvError, parse, type Info, type Options, type Parser } from 'csv-parse';
import { problem, type ProblemError } from './problems.js';

export interface CsvRecord {
  cells: string[];
  /** From 1; empty rows count, as a spreadsheet shows them. */
  row: number;
}

export interface CsvForm {
  /** Default: a comma. */
  delimiter?: string;
  /** Default: a double quote. */
  quote?: string;
  /** Whether a quote within a cell that has none around it is a character like any other; otherwise the table is refused. */
  takesStrayQuotes?: boolean;
  /** The name of the text in error messages. Default: `The body`. */
  what?: string;
  /** The code of the problems. Default: `invalid_request`. */
  code?: 'invalid_request' | 'unreadable_file';
}

/** The longest row, in characters. */
export const maximumCsvRow = 1_000_000;

/**
 * For each text the records that end in it; empty rows are passed over.
 * @throws ProblemError 400 when the quotes are wrong, or a row is too long
 */
export async function* csvRecords(
  texts: AsyncIterable<string>,
  form: CsvForm = {},
): AsyncGenerator<CsvRecord[]> {
  const table = new Table(form);
  for await (const text of texts) yield await table.take(text);
  yield await table.end();
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
  max_record_size: maximumCsvRow,
  readableHighWaterMark: 1_000_000_000,
};

class Table {
  readonly #parser: Parser;
  #failure: unknown = null;

  constructor(private readonly form: CsvForm) {
    const { delimiter = ',', quote = '"', takesStrayQuotes = false } = form;
    this.#parser = parse({ ...tableOptions, delimiter, quote, relax_quotes: takesStrayQuotes });
    this.#parser.on('error', (error) => (this.#failure ??= error));
  }

  async take(text: string): Promise<CsvRecord[]> {
    if (text !== '')
      await new Promise<void>((resolve) => {
        this.#parser.write(text, () => {
          resolve();
        });
      });
    return this.#parsed();
  }

  async end(): Promise<CsvRecord[]> {
    await new Promise<void>((resolve) => {
      this.#parser.end(() => {
        resolve();
      });
    });
    return this.#parsed();
  }

  #parsed(): CsvRecord[] {
    if (this.#failure !== null) throw unreadableTable(this.#failure, this.form);
    const rows: CsvRecord[] = [];
    for (;;) {
      const next = this.#parser.read() as ParsedRow | null;
      if (next === null) return rows;
      rows.push({ cells: next.record, row: next.info.records + next.info.empty_lines });
    }
  }
}

function unreadableTable(error: unknown, { what = 'The body', code = 'invalid_request' }: CsvForm): unknown {
  if (!(error instanceof CsvError)) return error;
  if (error.code === 'CSV_MAX_RECORD_SIZE') return rowTooLong(Number(error.records ?? 0) + 1, what, code);
  const rule =
    error.code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'a quote that opens there is never closed.'
      : 'quotes must enclose a whole cell, and be doubled within one.';
  return problem(code, `${what} is not valid CSV in line ${String(error.lines)}: ${rule}`, { cause: error });
}

/** The refusal of a row that is too long. */
export function rowTooLong(
  row: number,
  what = 'the body',
  code: NonNullable<CsvForm['code']> = 'invalid_request',
): ProblemError {
  const of = what.charAt(0).toLowerCase() + what.slice(1);
  return problem(
    code,
    `Row ${String(row)} of ${of} is longer than ${String(maximumCsvRow)} characters. Is a line break or a closing quote missing?`,
  );
}
