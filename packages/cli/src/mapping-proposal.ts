// Proposes a mapping for a CSV from its header and its first rows, for a person to correct. Pure.
import { fieldMeantBy, metadataKeyOf, normaliseAlias, utcTime } from '@lead-scoring/contracts';
import { maximumRepeats, type CsvMappingFile } from './csv-mapping.js';

export interface MappingProposal {
  mapping: CsvMappingFile;
  /** Sentences on the choices, and on what a person should check. */
  notes: string[];
}

interface Column {
  name: string;
  /** Cells with a value, in the order of the rows. */
  values: string[];
  distinct: number;
  /** Whether every row has a value. */
  isFilled: boolean;
}

/** Cells that mean "nothing", in any case. */
const nothing = new Set(['select', 'n/a', '#n/a', 'null', 'nil', '(none)', 'undefined', '-', '--']);

/** A column with more different values than this is not proposed as the event type. */
const maximumTypes = 50;

/** @param rows cells of the first rows, without the header */
export function proposeMapping(
  names: readonly string[],
  rows: readonly (readonly string[])[],
): MappingProposal | { problem: string } {
  const columns = names.map((name, at) => columnOf(name, at, rows));
  const ignored = [
    ...new Set(
      rows
        .flat()
        .map((cell) => cell.trim())
        .filter((cell) => nothing.has(cell.toLowerCase())),
    ),
  ].sort();
  const alias = aliasOf(columns, rows.length);
  if (!alias)
    return {
      problem:
        'no column names the leads: none has e-mail addresses, telephone numbers, or ids that differ in every row',
    };
  const others = columns.filter(({ name }) => name !== alias.column.name);
  const type = typeColumnOf(others);
  const time = others.find(isTimes);
  const eventId = others.find(({ name, isFilled }) => isFilled && /\b(?:event|message)[ _-]?id$/i.test(name));
  const isLeadPerRow = alias.column.distinct === rows.length;
  const counts = isLeadPerRow
    ? others.flatMap((column) => {
        const eventType = countedTypeOf(column);
        return eventType === null ? [] : [{ column, eventType }];
      })
    : [];
  const id = eventId?.name ?? (isLeadPerRow ? type?.name : undefined);
  const mapping: CsvMappingFile = {
    alias: { kind: alias.kind, column: alias.column.name },
    events: [
      {
        event_type: type ? { column: type.name } : { fixed: 'Imported' },
        ...(time && { timestamp: { column: time.name } }),
        ...(id !== undefined
          ? { event_id: { column: id } }
          : isLeadPerRow && { event_id: { fixed: 'imported' } }),
      },
      ...counts.map(({ column, eventType }) => ({
        event_type: { fixed: eventType },
        repeat: { column: column.name },
      })),
    ],
    metadata: { ...metadataOf(columns), ...(ignored.length > 0 && { ignore_values: ignored }) },
  };
  return {
    mapping,
    notes: notesOf({ alias, type, time, counts, isRepeatable: id !== undefined || isLeadPerRow }),
  };
}

function columnOf(name: string, at: number, rows: readonly (readonly string[])[]): Column {
  const values = rows
    .map((row) => (row[at] ?? '').trim())
    .filter((value) => value !== '' && !nothing.has(value.toLowerCase()));
  return { name, values, distinct: new Set(values).size, isFilled: values.length === rows.length };
}

function aliasOf(columns: readonly Column[], rows: number): { kind: string; column: Column } | null {
  const holding = (kind: string) =>
    columns.find(
      ({ values }) =>
        values.length >= 0.8 * rows &&
        values.length > 0 &&
        values.every(
          (value) =>
            (kind !== 'phone' || value.startsWith('+')) && !('problem' in normaliseAlias(kind, value)),
        ),
    );
  const email = columns.find(
    ({ values }) => values.length >= 0.8 * rows && values.length > 0 && values.every(isEmail),
  );
  if (email) return { kind: 'email', column: email };
  const ids = columns.filter(({ distinct, isFilled }) => isFilled && distinct === rows && rows > 0);
  const named = columns.find(
    ({ name, isFilled }) => isFilled && /(?:lead|prospect|contact|customer|user|person)[ _-]?id$/i.test(name),
  );
  const id = named ?? ids.find(({ name }) => /id$|key$|number$/i.test(name));
  if (id) return { kind: 'external_id', column: id };
  const phone = holding('phone');
  if (phone) return { kind: 'phone', column: phone };
  return ids[0] ? { kind: 'external_id', column: ids[0] } : null;
}

function isEmail(value: string): boolean {
  return value.includes('@') && !('problem' in normaliseAlias('email', value));
}

function typeColumnOf(columns: readonly Column[]): Column | undefined {
  const kinds = columns.filter(
    ({ values, distinct }) =>
      values.length > 0 && distinct <= maximumTypes && values.every((value) => value.length <= 100),
  );
  const named = [
    /^event[ _-]?(?:type|name)?$/i,
    /^(?:last[ _-])?(?:activity|action)$/i,
    /\b(?:activity|action|event)\b/i,
  ];
  for (const form of named) {
    const found = kinds.find(({ name, values }) => form.test(name) && !values.every(isNumber));
    if (found) return found;
  }
  return undefined;
}

function isTimes({ name, values }: Column): boolean {
  return (
    values.length > 0 &&
    /date|time|when|\bat$|_at$|created|timestamp/i.test(name) &&
    values.every((value) => utcTime(value) !== null)
  );
}

/** The event type that a column of counts stands for: `TotalVisits` counts page views. */
function countedTypeOf({ name, values }: Column): string | null {
  if (values.length === 0 || /\bper\b|average|\bavg\b/i.test(name)) return null;
  if (!values.every((value) => /^\d{1,5}(?:\.0+)?$/.test(value) && Number(value) <= maximumRepeats))
    return null;
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2');
  const form =
    /^(?:(?:total|number of|no\.? of|count of|#)[ _-]*)?(page[ _-]?views?|visits?|views?|(?:email[ _-]?)?opens|(?:email[ _-]?)?clicks|downloads|logins)$/i;
  const counted = form.exec(words)?.[1]?.toLowerCase() ?? '';
  if (counted === '') return null;
  if (/open/.test(counted)) return 'Email Open';
  if (/click/.test(counted)) return 'Email Click';
  if (/download/.test(counted)) return 'Download';
  return /login/.test(counted) ? 'Login' : 'Page View';
}

/** Columns whose digits are an identifier: as a number, it would lose leading zeros. */
const codes = /phone|mobile|fax|zip|postal|post[ _-]?code|\bnumber$|\bcode$|\bid$|_id$/i;

function metadataOf(columns: readonly Column[]): NonNullable<CsvMappingFile['metadata']> {
  const rename: Record<string, string> = {};
  const taken = new Set(columns.map(({ name }) => metadataKeyOf(name)));
  for (const { name } of columns) {
    const field = fieldMeantBy(name);
    if (field === null || taken.has(field)) continue;
    rename[name] = field;
    taken.add(field);
  }
  const text = columns.filter(
    ({ name, values }) => codes.test(name) && values.length > 0 && values.every(isNumber),
  );
  return {
    columns: 'others',
    ...(Object.keys(rename).length > 0 && { rename }),
    ...(text.length > 0 && { text: text.map(({ name }) => name) }),
  };
}

function isNumber(value: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(value);
}

function notesOf(chosen: {
  alias: { kind: string; column: Column };
  type: Column | undefined;
  time: Column | undefined;
  counts: readonly { column: Column; eventType: string }[];
  isRepeatable: boolean;
}): string[] {
  const { alias, type, time, counts, isRepeatable } = chosen;
  return [
    `The column "${alias.column.name}" names the lead (${alias.kind}).`,
    type
      ? `Each row gives an event of the type in "${type.name}".`
      : 'No column seems to hold the type of an event: each row gives an event of the type Imported. Put in the type that you want.',
    ...counts.map(
      ({ column, eventType }) =>
        `Each row also gives as many events of the type ${eventType} as the number in "${column.name}".`,
    ),
    time
      ? `The time of an event is in "${time.name}"${time.isFilled ? '' : '; rows in which it is empty are rejected, unless you put "when_empty": "now" beside its column'}.`
      : 'No column holds ISO 8601 times with Z or an offset: events have the time of sending.',
    ...(isRepeatable
      ? []
      : [
          'No column holds an id of each event: if the file is sent again, its events would count again. Give event_id a column, or name the run with --run.',
        ]),
  ];
}
