// Events as rows of CSV: the columns that GET /events/export writes, and those that people make.
import type { MetadataProblem } from '../vocabulary/metadata.js';
import { withoutApostrophe } from '../vocabulary/spreadsheet-text.js';
import { clip, eventsWithinLimit, isObject, type SentEvent, type UnreadableBatch } from './sent-events.js';

const csvFields: readonly string[] = ['alias_kind', 'alias', 'event_type', 'timestamp', 'event_id'];
/** Columns of an export that say nothing about an event that comes in. */
const exportedFields: readonly string[] = ['lead_id', 'source', 'received_at', 'id', 'batch_id', 'cursor'];
const metadataField = 'metadata';
const metadataColumn = 'metadata.';
const maximumErrors = 20;

/** Reads a row of a table whose header is known. */
export type RowReader = (row: readonly string[]) => SentEvent;

/**
 * The reader of the rows under a header, or why the header cannot be one. Its columns are alias_kind, alias, event_type, timestamp,
 * event_id, metadata (a JSON object) and metadata.<key>; those of an export are known too. An empty cell is an absent field, and values
 * of metadata.<key> stay text. The `id` of an exported event without an event_id becomes its event_id, so that it counts once.
 */
export function rowReaderOf(header: readonly string[]): RowReader | UnreadableBatch {
  const columns = header.map((column) => column.trim());
  const met = new Set<string>();
  const errors = columns.flatMap((column): MetadataProblem[] => {
    if (met.has(column)) return [{ path: clip(column), message: 'is a column twice' }];
    met.add(column);
    if (csvFields.includes(column) || exportedFields.includes(column) || isMetadata(column)) return [];
    return [
      {
        path: clip(column),
        message: `is not a known column; known are ${csvFields.join(', ')}, metadata and metadata.<key>`,
      },
    ];
  });
  if (errors.length > 0) return { code: 'invalid_request', errors: errors.slice(0, maximumErrors) };
  return (row) => eventOfRow(columns, row);
}

/** The events of CSV rows, of which the first is the header. */
export function eventsOfCsvRows(rows: readonly (readonly string[])[]): SentEvent[] | UnreadableBatch {
  const read = rowReaderOf(rows[0] ?? []);
  if (typeof read !== 'function') return read;
  return eventsWithinLimit(rows.length - 1, () => rows.slice(1).map(read));
}

function isMetadata(column: string): boolean {
  return (
    column === metadataField || (column.length > metadataColumn.length && column.startsWith(metadataColumn))
  );
}

function eventOfRow(columns: readonly string[], row: readonly string[]): SentEvent {
  if (row.length > columns.length)
    return { unreadable: `has ${String(row.length)} cells where the header has ${String(columns.length)}` };
  const fields: [string, unknown][] = [];
  const metadata: [string, unknown][] = [];
  let id: string | undefined;
  for (const [index, cell] of row.entries()) {
    const column = columns[index];
    if (cell === '' || column === undefined) continue;
    if (column === metadataField) {
      const whole = objectIn(cell);
      if (!whole) return { unreadable: 'must have a JSON object as metadata' };
      metadata.unshift(...Object.entries(whole));
    } else if (column.startsWith(metadataColumn))
      metadata.push([column.slice(metadataColumn.length), withoutApostrophe(cell)]);
    else if (csvFields.includes(column)) fields.push([column, withoutApostrophe(cell)]);
    else if (column === 'id') id = cell;
  }
  const sent: Record<string, unknown> = Object.fromEntries(fields);
  if (id !== undefined) sent.event_id ??= id;
  if (metadata.length > 0) sent.metadata = Object.fromEntries(metadata);
  return { sent };
}

function objectIn(cell: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(cell);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
