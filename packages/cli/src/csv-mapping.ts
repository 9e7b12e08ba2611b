// Turns rows of any CSV into events, as a mapping says: which column names the lead, what happened, and what is context.
import { eventTypeKey, type JsonObject, type JsonValue } from '@lead-scoring/contracts';
import type { EventToSend } from '@lead-scoring/client';
import { z } from 'zod';

const source = z.union([z.strictObject({ column: z.string() }), z.strictObject({ fixed: z.string() })], {
  error: 'must be {"column": "…"} or {"fixed": "…"}',
});

const eventMapping = z.strictObject({
  event_type: source.describe('Rows where it is empty give no event.'),
  timestamp: source.optional().describe('ISO 8601; default: when it is received.'),
  event_id: source
    .optional()
    .describe('The same id for the same alias counts once, so the file can be sent again.'),
  repeat: z
    .strictObject({ column: z.string(), maximum: z.int().min(1).max(100_000).default(10_000) })
    .optional()
    .describe('The number in this column is how many events the row gives; their ids are numbered.'),
  metadata: z.boolean().default(true).describe('Whether these events carry the metadata columns.'),
});

/** The mapping as a JSON file holds it. */
export const csvMapping = z.strictObject({
  alias: z.strictObject({ kind: z.string(), column: z.string() }),
  events: z.array(eventMapping).min(1),
  metadata: z
    .strictObject({
      columns: z.union([z.literal('others'), z.array(z.string())]).default('others'),
      keys: z.enum(['snake_case', 'as_is']).default('snake_case'),
      rename: z.record(z.string(), z.string()).default({}),
      ignore_values: z.array(z.string()).default([]).describe('Cells that mean "nothing", such as "n/a".'),
    })
    .prefault({}),
});
export type CsvMapping = z.output<typeof csvMapping>;
type Source = z.infer<typeof source>;

export interface MappedRow {
  events: EventToSend[];
  /** Why the row gave no events though it should have. */
  problem?: string;
}

/**
 * Prepares a mapping for a file with these columns.
 * @returns what turns a row into events, or the problem with the mapping
 */
export function mapperOf(
  mapping: CsvMapping,
  columns: readonly string[],
): ((row: readonly string[]) => MappedRow) | { problem: string } {
  const places = new Map(columns.map((column, index) => [column, index]));
  const named = [
    mapping.alias.column,
    ...mapping.events.flatMap((event) =>
      [event.event_type, event.timestamp, event.event_id, event.repeat].flatMap((one) =>
        one && 'column' in one ? [one.column] : [],
      ),
    ),
  ];
  const wanted =
    mapping.metadata.columns === 'others'
      ? columns.filter((column) => !named.includes(column))
      : mapping.metadata.columns;
  const unknown = [...named, ...wanted].find((column) => !places.has(column));
  if (unknown !== undefined)
    return {
      problem: `the mapping names the column "${unknown}", which the file has not. It has: ${columns.join(', ')}`,
    };

  const cell = (row: readonly string[], column: string) => (row[places.get(column) ?? -1] ?? '').trim();
  const read = (row: readonly string[], from: Source | undefined) =>
    from === undefined ? '' : 'fixed' in from ? from.fixed : cell(row, from.column);
  const keys = wanted.map((column) => [column, keyOf(mapping, column)] as const);
  const ignored = new Set(['', ...mapping.metadata.ignore_values]);

  return (row) => {
    const alias = cell(row, mapping.alias.column);
    if (alias === '') return { events: [], problem: `${mapping.alias.column} is empty` };
    const metadata: JsonObject = Object.fromEntries(
      keys.flatMap(([column, key]) => {
        const value = cell(row, column);
        return ignored.has(value) ? [] : [[key, valueOf(value)]];
      }),
    );
    const events: EventToSend[] = [];
    for (const rule of mapping.events) {
      const eventType = read(row, rule.event_type);
      if (ignored.has(eventType)) continue;
      const count = rule.repeat ? countIn(cell(row, rule.repeat.column), rule.repeat.maximum) : 1;
      if (count === null)
        return {
          events: [],
          problem: `${rule.repeat?.column ?? ''} must be a whole number from 0 to ${rule.repeat?.maximum ?? 0}`,
        };
      const timestamp = read(row, rule.timestamp);
      const eventId = read(row, rule.event_id);
      for (let number = 1; number <= count; number += 1) {
        events.push({
          alias_kind: mapping.alias.kind,
          alias,
          event_type: eventType,
          ...(timestamp !== '' && { timestamp }),
          ...idOf(eventId, eventType, rule.repeat ? number : null),
          ...(rule.metadata && Object.keys(metadata).length > 0 && { metadata }),
        });
      }
    }
    return { events };
  };
}

/** Repeated events always have an id: without a number of its own, one could not be told from the next. */
function idOf(eventId: string, eventType: string, number: number | null): { event_id?: string } {
  if (number === null) return eventId === '' ? {} : { event_id: eventId };
  return { event_id: `${eventId === '' ? eventTypeKey(eventType) : eventId}-${number}` };
}

function keyOf(mapping: CsvMapping, column: string): string {
  const renamed = mapping.metadata.rename[column];
  if (renamed !== undefined) return renamed;
  if (mapping.metadata.keys === 'as_is') return column;
  return (
    column
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '_')
      .replace(/^_+|(?<!_)_+$/g, '') || column
  );
}

/** Plain decimal numbers become numbers, where that loses nothing: not `007`, and not more digits than a double holds. */
function valueOf(text: string): JsonValue {
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/.test(text) && text !== '-0' ? Number(text) : text;
}

function countIn(text: string, maximum: number): number | null {
  if (text === '') return 0;
  const count = Number(text);
  return Number.isInteger(count) && count >= 0 && count <= maximum ? count : null;
}
