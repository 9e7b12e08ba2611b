// Rows in JSON: a list of objects, whose keys are the columns. It is small enough to be read whole.
import type { StoredRow } from './documents.js';
import type { TableRows } from './table-rows.js';

/** @param text a body as the route declares it, which was checked before it was stored */
export async function* jsonRows(text: string): TableRows {
  const { rows } = JSON.parse(text) as { rows: Record<string, string | number | boolean | null>[] };
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cellOf = (value: string | number | boolean | null | undefined) =>
    value === null || value === undefined ? '' : String(value);
  yield await Promise.resolve([
    [1, columns],
    ...rows.map((row, index): StoredRow => [
      index + 2,
      columns.map((column) => cellOf(Object.hasOwn(row, column) ? row[column] : undefined)),
    ]),
  ]);
}
