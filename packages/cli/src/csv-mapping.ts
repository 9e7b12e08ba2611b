// Turns CSV rows into events by a mapping, which names the columns for the lead, the event and the metadata.
import {
  eventTypeKey,
  fieldMeantBy,
  leadFieldNames,
  metadataKeyOf,
  type JsonObject,
  type JsonValue,
} from '@lead-scoring/contracts';
import type { EventToSend } from '@lead-scoring/client';
import { z } from 'zod';

const source = z.union([z.strictObject({ column: z.string() }), z.strictObject({ fixed: z.string() })], {
  error: 'must be {"column": "…"} or {"fixed": "…"}',
});

const timeSource = z.union(
  [
    z.strictObject({
      column: z.string(),
      when_empty: z
        .enum(['refuse', 'now'])
        .default('refuse')
        .describe('A row without a time gives no event (refuse) or events with the time of sending (now).'),
    }),
    z.strictObject({ fixed: z.string() }),
  ],
  { error: 'must be {"column": "…"}, {"column": "…", "when_empty": "now"} or {"fixed": "…"}' },
);

/** Default maximum of events from one row. */
export const maximumRepeats = 10_000;

const eventMapping = z.strictObject({
  event_type: source.describe('A row in which it is empty gives no event.'),
  timestamp: timeSource.optional().describe('ISO 8601; default: the time of receipt.'),
  event_id: source
    .optional()
    .describe('The same id for the same alias counts once, so the file can be sent again.'),
  repeat: z
    .strictObject({ column: z.string(), maximum: z.int().min(1).max(100_000).default(maximumRepeats) })
    .optional()
    .describe('The row gives as many events as the number in this column; their ids are numbered.'),
  metadata: z.boolean().default(true).describe('Whether these events carry the metadata columns.'),
});

/** The mapping in a JSON file. */
export const csvMapping = z.strictObject({
  alias: z.strictObject({ kind: z.string(), column: z.string() }),
  events: z.array(eventMapping).min(1),
  metadata: z
    .strictObject({
      columns: z.union([z.literal('others'), z.array(z.string())]).default('others'),
      keys: z.enum(['snake_case', 'as_is']).default('snake_case'),
      rename: z.record(z.string(), z.string()).default({}),
      ignore_values: z.array(z.string()).default([]).describe('Cells that mean "nothing", such as "n/a".'),
      text: z
        .union([z.literal('all'), z.array(z.string())])
        .default([])
        .describe('Columns whose numbers stay text, such as telephone numbers.'),
    })
    .prefault({}),
});
export type CsvMapping = z.output<typeof csvMapping>;
/** The mapping as a person writes it; fields with a default may be absent. */
export type CsvMappingFile = z.input<typeof csvMapping>;
type Source = z.infer<typeof source>;

export interface MappedRow {
  events: EventToSend[];
  /** The reason why a row that should give events gives none. */
  problem?: string;
}

/**
 * Prepares a mapping for a file with these columns.
 * @returns a function that turns a row into events, or the problem with the mapping
 */
export function mapperOf(
  mapping: CsvMapping,
  columns: readonly string[],
): ((row: readonly string[]) => MappedRow) | { problem: string } {
  const { text } = mapping.metadata;
  const wanted = metadataColumns(mapping, columns);
  const unknown = [...namedColumns(mapping), ...wanted, ...(text === 'all' ? [] : text)].find(
    (column) => !columns.includes(column),
  );
  if (unknown !== undefined)
    return {
      problem: `the mapping names the column "${unknown}", which the file does not have. Its columns are: ${columns.join(', ')}`,
    };
  const keys = wanted.map((column) => [column, keyOf(mapping, column)] as const);
  const collision = collisionIn(keys);
  if (collision !== null) return { problem: collision };

  const places = new Map(columns.map((column, index) => [column, index]));
  const ignored = new Set(['', ...mapping.metadata.ignore_values]);
  const isText = (column: string, key: string) =>
    text === 'all' || text.includes(column) || textFields.has(key);
  return (row) => {
    const cell = (column: string) => (row[places.get(column) ?? -1] ?? '').trim();
    const alias = cell(mapping.alias.column);
    if (alias === '') return { events: [], problem: `${mapping.alias.column} is empty` };
    const metadata: JsonObject = Object.fromEntries(
      keys.flatMap(([column, key]) => {
        const value = cell(column);
        if (ignored.has(value)) return [];
        return [[key, isText(column, key) ? value : valueOf(value)]];
      }),
    );
    const events: EventToSend[] = [];
    for (const rule of mapping.events) {
      const eventType = read(cell, rule.event_type);
      if (ignored.has(eventType)) continue;
      const given = eventsOfRule(rule, eventType, cell);
      if ('problem' in given) return { events: [], problem: given.problem };
      for (const event of given)
        events.push({
          alias_kind: mapping.alias.kind,
          alias,
          event_type: eventType,
          ...event,
          ...(rule.metadata && Object.keys(metadata).length > 0 && { metadata }),
        });
    }
    return { events };
  };
}

type Cell = (column: string) => string;
type EventMapping = CsvMapping['events'][number];

/** Times and ids of the events that a row gives by one entry of `events`. */
function eventsOfRule(
  rule: EventMapping,
  eventType: string,
  cell: Cell,
): { timestamp?: string; event_id?: string }[] | { problem: string } {
  const count = rule.repeat ? countIn(cell(rule.repeat.column), rule.repeat.maximum) : 1;
  if (count === null)
    return {
      problem: `${rule.repeat?.column ?? ''} must be a whole number from 0 to ${rule.repeat?.maximum ?? 0}`,
    };
  const timestamp = read(cell, rule.timestamp);
  if (timestamp === '' && refusesEmpty(rule.timestamp))
    return { problem: `${rule.timestamp.column} is empty: ${emptyTimeRemedy}` };
  const eventId = read(cell, rule.event_id);
  return Array.from({ length: count }, (_, at) => ({
    ...(timestamp !== '' && { timestamp }),
    ...idOf(eventId, eventType, rule.repeat ? at + 1 : null),
  }));
}

function refusesEmpty(
  timestamp: EventMapping['timestamp'],
): timestamp is Extract<EventMapping['timestamp'], { column: string }> {
  return timestamp !== undefined && 'column' in timestamp && timestamp.when_empty === 'refuse';
}

function read(cell: Cell, from: Source | EventMapping['timestamp']): string {
  if (from === undefined) return '';
  return 'fixed' in from ? from.fixed : cell(from.column);
}

/** Columns that give the alias, the type, the time and the id of events. */
function namedColumns({ alias, events }: CsvMapping): string[] {
  return [
    alias.column,
    ...events.flatMap((event) =>
      [event.event_type, event.timestamp, event.event_id, event.repeat].flatMap((one) =>
        one && 'column' in one ? [one.column] : [],
      ),
    ),
  ];
}

function metadataColumns(mapping: CsvMapping, columns: readonly string[]): readonly string[] {
  if (mapping.metadata.columns !== 'others') return mapping.metadata.columns;
  const named = namedColumns(mapping);
  return columns.filter((column) => !named.includes(column));
}

/** A warning for each column that resembles a field of the lead but becomes another metadata key. */
export function ignoredNames(mapping: CsvMapping, columns: readonly string[]): string[] {
  return metadataColumns(mapping, columns).flatMap((column) => {
    const field = fieldMeantBy(column);
    if (field === null || mapping.metadata.rename[column] !== undefined) return [];
    return [
      `The column "${column}" becomes the metadata key ${keyOf(mapping, column)}, which is not a field of the lead. To make it the lead's ${field.replace('_', ' ')}, put "rename": {${JSON.stringify(column)}: "${field}"} into the metadata of the mapping.`,
    ];
  });
}

/** Advice for rows with an empty time. */
export const emptyTimeRemedy =
  'put in a time, or take the time of sending with "when_empty": "now" in the mapping or --empty-timestamp now';

/** Lead fields stay text: a telephone number or a company's name may look like a number. */
const textFields = new Set<string>([...leadFieldNames, 'first_name', 'last_name']);

/** A problem when two columns would have the same key, because metadata can hold only one of them. */
function collisionIn(keys: readonly (readonly [column: string, key: string])[]): string | null {
  const columns = new Map<string, string>();
  for (const [column, key] of keys) {
    const other = columns.get(key);
    if (other !== undefined)
      return `the columns "${other}" and "${column}" would both be the metadata key ${key}; give one of them another key with metadata.rename, or leave one out with metadata.columns`;
    columns.set(key, column);
  }
  return null;
}

/** The id of an event. Repeated events always have one, with a number that distinguishes them. */
function idOf(eventId: string, eventType: string, number: number | null): { event_id?: string } {
  if (number === null) return eventId === '' ? {} : { event_id: eventId };
  return { event_id: `${eventId === '' ? eventTypeKey(eventType) : eventId}-${number}` };
}

function keyOf(mapping: CsvMapping, column: string): string {
  const renamed = mapping.metadata.rename[column];
  if (renamed !== undefined) return renamed;
  return mapping.metadata.keys === 'as_is' ? column : metadataKeyOf(column);
}

/** Converts plain decimal numbers, unless this would lose digits: not `007`, and no more digits than a double holds. */
function valueOf(text: string): JsonValue {
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/.test(text) && text !== '-0' ? Number(text) : text;
}

function countIn(text: string, maximum: number): number | null {
  if (text === '') return 0;
  const count = Number(text);
  return Number.isInteger(count) && count >= 0 && count <= maximum ? count : null;
}
