// The lines of an export: CSV with a header, or NDJSON. Pure.
import { csvLine, finderOf } from '@lead-scoring/contracts';
import type { PlacedEvent } from './events-at.js';

export interface LineWriter {
  contentType: string;
  /** Of the file that a browser stores. */
  fileName: string;
  /** Before the first event. */
  header: string;
  lineOf: (placed: PlacedEvent) => string;
}

/** Without a byte order mark, spreadsheets do not recognise UTF-8. */
const byteOrderMark = '\uFEFF';

/**
 * @param columns the metadata columns, such as `metadata.path`; null: one column with the metadata as JSON
 * @param goesOn the lines follow those of an earlier answer: there is no header
 */
export function csvWriter(columns: readonly string[] | null, goesOn: boolean): LineWriter {
  const finders = columns?.map((column) => finderOf(column));
  const titles = [
    ...['timestamp', 'event_type', 'lead_id', 'alias_kind', 'alias'],
    ...(columns ?? ['metadata']),
    ...['source', 'received_at', 'id', 'event_id', 'batch_id', 'cursor'],
  ];
  return {
    contentType: 'text/csv; charset=utf-8',
    fileName: 'events.csv',
    header: goesOn ? '' : byteOrderMark + csvLine(titles),
    lineOf: ({ cursor, event }) =>
      csvLine([
        event.timestamp,
        event.event_type,
        event.lead_id,
        event.alias.alias_kind,
        event.alias.alias,
        ...(finders ? finders.map((find) => find(event.metadata)) : [event.metadata]),
        event.source,
        event.received_at,
        event.id,
        event.event_id,
        event.batch_id,
        cursor,
      ]),
  };
}

export const ndjsonWriter: LineWriter = {
  contentType: 'application/x-ndjson; charset=utf-8',
  fileName: 'events.ndjson',
  header: '',
  lineOf: ({ cursor, event }) => `${JSON.stringify({ ...event, cursor })}\n`,
};
