// Turns a row of a table into the events of its lead, by a mapping. Pure: the same row, mapping and job give the same events.
import {
  leadImportedType,
  validateEvents,
  type LeadImportMapping,
  type records,
} from '@lead-scoring/contracts';
import { hash } from 'node:crypto';
import type { FailedRow, StoredRow } from './documents.js';
import { timeIn } from './times.js';

export interface ImportContext {
  ouId: string;
  /** ISO 8601 UTC with milliseconds: the time of the events that make the leads, which is the start of the import. */
  at: string;
  /** Names the rows and the mapping: the same import again gives its events the same ids. */
  digest: string;
}

/** The events of one row, the first of which makes or updates the lead. */
export interface ImportedRow {
  row: number;
  events: [records.ChunkEvent, ...records.ChunkEvent[]];
}

export interface ImportedRows {
  imported: ImportedRow[];
  failed: FailedRow[];
}

/** What makes two imports the same: the bytes of the table, and what its columns mean. */
export function importDigest(fileDigest: string, mapping: LeadImportMapping): string {
  return hash('sha256', JSON.stringify([fileDigest, mapping]), 'hex');
}

/** The columns that a mapping names and the table does not have. */
export function unknownColumns(mapping: LeadImportMapping, headers: readonly string[]): string[] {
  const { primary_identifier, alias_mappings, field_mappings, event_mappings } = mapping;
  const named = [
    primary_identifier,
    ...alias_mappings,
    ...field_mappings,
    ...event_mappings.flatMap(({ time, field_mappings: own }) => [time, ...own]),
  ].map(({ column }) => column);
  return [...new Set(named)].filter((column) => !headers.includes(column));
}

/** Fields that several columns would give. */
export function fieldsTwice({ field_mappings, event_mappings }: LeadImportMapping): string[] {
  return [field_mappings, ...event_mappings.map((one) => one.field_mappings)].flatMap((mappings) => {
    const fields = mappings.map(({ field }) => field);
    return fields.filter((field, at) => fields.indexOf(field) !== at);
  });
}

/** A function that turns rows of a table with these columns into events. Rows that cannot be turned are failed ones, with the reason. */
export function rowImporter(
  mapping: LeadImportMapping,
  headers: readonly string[],
  context: ImportContext,
): (rows: readonly StoredRow[]) => ImportedRows {
  const places = new Map(headers.map((column, at) => [column, at]));
  const ignored = new Set(['', ...mapping.ignore_values]);
  const reader = (cells: readonly string[]) => (column: string) => {
    const value = (cells[places.get(column) ?? -1] ?? '').trim();
    return ignored.has(value) ? '' : value;
  };
  return (rows) => {
    const result: ImportedRows = { imported: [], failed: [] };
    for (const [row, cells] of rows) {
      const fail = (message: string) =>
        result.failed.push({ row, code: 'invalid_row', message: message.slice(0, 1_000), cells });
      if (cells.slice(headers.length).some((cell) => cell.trim() !== '')) {
        fail(`has ${String(cells.length)} cells where the header has ${String(headers.length)}`);
        continue;
      }
      const sent = sentEvents(
        mapping,
        reader(cells),
        `${context.digest.slice(0, 40)}:${String(row)}`,
        context,
      );
      if ('problem' in sent) {
        fail(sent.problem);
        continue;
      }
      const { events, rejected } = validateEvents(
        sent.events.map((event) => ({ sent: event })),
        { ouId: context.ouId, receivedAt: context.at, repeatableBatchId: null },
      );
      const [first, ...further] = events;
      if (rejected.length > 0 || !first) fail(reasonOf(rejected, sent.columns));
      else result.imported.push({ row, events: [first, ...further] });
    }
    return result;
  };
}

type Cell = (column: string) => string;

function sentEvents(
  { primary_identifier, alias_mappings, field_mappings, event_mappings }: LeadImportMapping,
  cell: Cell,
  id: string,
  { at }: ImportContext,
): { events: object[]; columns: string[] } | { problem: string } {
  if (cell(primary_identifier.column) === '')
    return { problem: `${primary_identifier.column} is empty, so that the lead has no name` };
  const named = [primary_identifier, ...alias_mappings].filter(({ column }) => cell(column) !== '');
  const aliases = named.map(({ column, kind }) => ({ alias_kind: kind, alias: cell(column) }));
  const metadataOf = (mappings: LeadImportMapping['field_mappings']) => {
    const found = mappings.flatMap(({ column, field }) => {
      const value = cell(column);
      return value === '' ? [] : [[field, value] as const];
    });
    return found.length > 0 && { metadata: Object.fromEntries(found) };
  };
  const events: object[] = [
    { aliases, event_type: leadImportedType, timestamp: at, event_id: id, ...metadataOf(field_mappings) },
  ];
  for (const [number, { event_type, time, field_mappings: own }] of event_mappings.entries()) {
    const text = cell(time.column);
    if (text === '') continue;
    const timestamp = timeIn(text, time.format);
    if (timestamp === null) return { problem: `${time.column} is no time of the format ${time.format}` };
    const event_id = `${id}:${String(number)}`;
    events.push({ aliases, event_type, timestamp, event_id, ...metadataOf(own) });
  }
  return { events, columns: named.map(({ column }) => column) };
}

/** @param columns those of the aliases, in their order */
function reasonOf(
  rejected: ReturnType<typeof validateEvents>['rejected'],
  columns: readonly string[],
): string {
  const reasons = rejected.flatMap(({ errors }) =>
    errors.map(({ path, message }) => {
      const alias = /^aliases\.(\d+)\.alias(?:_kind)?$/.exec(path)?.[1];
      const what = alias === undefined ? path : (columns[Number(alias)] ?? path);
      return what === '' ? message : `${what} ${message}`;
    }),
  );
  return [...new Set(reasons)].join('; ');
}
