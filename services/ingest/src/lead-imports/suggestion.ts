// Proposes what the columns of a table mean, from their names and from the values in the first rows. A person corrects it. Pure.
import {
  aliasKind,
  fieldMeantBy,
  isAnonymous,
  leadImportLimits,
  metadataKeyOf,
  normaliseAlias,
  type SuggestedLeadImportMapping,
} from '@lead-scoring/contracts';
import type { LeadFilePreview } from './documents.js';
import { timeFormatsOf } from './times.js';

/** Rows from which the meaning of columns is concluded, and the characters after which there are enough. */
export const suggestionRows = 1_000;
export const suggestionCharacters = 5_000_000;

type Identifier = LeadFilePreview['auto_detected_identifiers'][number];
type PreviewProblem = LeadFilePreview['problems'][number];

export interface Suggestion {
  identifiers: Identifier[];
  mapping: SuggestedLeadImportMapping;
  problems: PreviewProblem[];
}

interface Column {
  name: string;
  /** Cells with a value, in the order of the rows. */
  values: readonly string[];
  distinct: number;
  /** The share of the rows that have a value. */
  filled: number;
}

/** Cells that mean "nothing", in any case. */
const nothing = new Set([
  'select',
  'n/a',
  'na',
  '#n/a',
  'null',
  'nil',
  '(none)',
  'none',
  'undefined',
  '-',
  '--',
]);

/** @param rows cells of the first rows, without the header */
export function suggestionOf(headers: readonly string[], rows: readonly (readonly string[])[]): Suggestion {
  const columns = headers.map((name, at) => columnOf(name, at, rows));
  const found = columns.flatMap((column) => identifierIn(column));
  const identifiers = found.sort((one, other) => rankOf(one) - rankOf(other));
  const [primary, ...further] = identifiers;
  const aliases = further.slice(0, leadImportLimits.aliasMappings);
  const named = new Set([primary, ...aliases].map((one) => one?.column));
  const events = columns.filter(({ name }) => !named.has(name)).flatMap(eventIn);
  const timed = new Set(events.map(({ time }) => time.column));
  const fields = fieldsOf(columns.filter(({ name }) => !named.has(name) && !timed.has(name)));
  const ofColumn = ({ column, kind }: Identifier) => ({ column, kind });
  return {
    identifiers,
    mapping: {
      primary_identifier: primary ? ofColumn(primary) : null,
      alias_mappings: aliases.map(ofColumn),
      field_mappings: fields,
      event_mappings: events,
      ignore_values: ignoredIn(rows),
    },
    problems: [...problemsOf(primary, columns, named)],
  };
}

function columnOf(name: string, at: number, rows: readonly (readonly string[])[]): Column {
  const values = rows.map((row) => (row[at] ?? '').trim()).filter((value) => !isNothing(value));
  return {
    name,
    values,
    distinct: new Set(values).size,
    filled: rows.length === 0 ? 0 : values.length / rows.length,
  };
}

function isNothing(value: string): boolean {
  return value === '' || nothing.has(value.toLowerCase());
}

function ignoredIn(rows: readonly (readonly string[])[]): string[] {
  const found = new Set<string>();
  for (const row of rows)
    for (const cell of row) {
      const value = cell.trim();
      if (value !== '' && isNothing(value)) found.add(value);
    }
  return [...found].sort().slice(0, leadImportLimits.ignoredValues);
}

/** Columns about somebody else than the lead. */
const ofOthers =
  /\b(?:owner|rep|manager|assigned|created by|modified by|referr\w*|company|account|parent)\b/i;
const idName = /(?:^|[ _-])(?:id|uuid|guid|key|number|no|code)$/i;
/** Numbers and codes that are no ids. */
const noId = /\b(?:phone|telephone|mobile|cell|fax|zip|post(?:al)?|country|area)\b/i;
const personId =
  /^(?:lead|prospect|contact|customer|person|user|member|subscriber|client|crm|external)?[ _-]*(?:id|uuid|guid)$/i;

/** Whether a column names leads: its values have the form, and hardly one comes twice. */
function identifierIn(column: Column): Identifier[] {
  const kind = kindOf(column);
  return kind === null
    ? []
    : [{ column: column.name, kind, filled: Math.round(column.filled * 1_000) / 1_000 }];
}

function kindOf({ name, values, distinct, filled }: Column): string | null {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .trim();
  if (values.length === 0 || distinct < 0.9 * values.length || ofOthers.test(words)) return null;
  const share = (is: (value: string) => boolean) => values.filter(is).length / values.length;
  if (share(isEmail) >= 0.9) return 'email';
  if (share(isPhone) >= 0.9) return 'phone';
  if (!idName.test(words) || noId.test(words)) return null;
  if (filled < 1 || distinct < values.length || share((value) => /^[\w.:@-]{1,128}$/.test(value)) < 1)
    return null;
  const key = metadataKeyOf(words);
  if (/^(?:anonymous|visitor)_id$/.test(key)) return 'anonymous_id';
  if (/^(?:cookie|client_cookie)(?:_id)?$/.test(key)) return 'cookie';
  if (key === 'user_id') return 'user_id';
  if (personId.test(words)) return 'external_id';
  return aliasKind.safeParse(key).success ? key : 'external_id';
}

function isEmail(value: string): boolean {
  return value.includes('@') && !('problem' in normaliseAlias('email', value));
}

function isPhone(value: string): boolean {
  return value.startsWith('+') && !('problem' in normaliseAlias('phone', value));
}

/** E-mail addresses that most rows have, then ids of people, telephone numbers, other ids, and what names a browser. */
function rankOf({ kind, filled }: Identifier): number {
  const isAnonymousKind = isAnonymous({ alias_kind: kind });
  const base = isAnonymousKind
    ? 50
    : kind === 'email'
      ? 0
      : kind === 'external_id' || kind === 'user_id'
        ? 10
        : kind === 'phone'
          ? 20
          : 30;
  return base + (filled >= 0.8 ? 0 : 15) - filled;
}

/** Names of columns that say when a lead did something, with what it did. */
const doneAt =
  /^(?:(?:last|first|date of|time of)[ _-])?(activity|visit|login|purchase|order|sign[ _-]?up|demo|demo booked|demo requested|trial started|form submitted|webinar attended|email opened|email clicked|meeting|call|contacted|downloaded|registered|registration|subscribed)(?:[ _-](?:date|time|at|on))?$/i;

function eventIn({ name, values }: Column): SuggestedLeadImportMapping['event_mappings'] {
  const done = doneAt.exec(name.trim())?.[1];
  if (done === undefined || values.length === 0) return [];
  const [format] = timeFormatsOf(values);
  if (!format) return [];
  const event_type = done
    .split(/[ _-]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join(' ');
  return [{ event_type, time: { column: name, format }, field_mappings: [] }];
}

/** Each column becomes a field: one of the lead's own where its name means that, else a key of its own. */
function fieldsOf(columns: readonly Column[]): SuggestedLeadImportMapping['field_mappings'] {
  const taken = new Set<string>();
  const keys = new Map<Column, string>();
  const give = (column: Column, key: string) => {
    if (keys.has(column) || taken.has(key) || key.length > 100) return;
    keys.set(column, key);
    taken.add(key);
  };
  // Columns that have the name of a field come before those whose name only means one.
  for (const column of columns)
    if (fieldMeantBy(column.name) === null) give(column, metadataKeyOf(column.name));
  for (const column of columns) give(column, fieldMeantBy(column.name) ?? metadataKeyOf(column.name));
  for (const [at, column] of columns.entries()) {
    const own = metadataKeyOf(column.name).slice(0, 90);
    give(column, own);
    give(column, `${own}_${String(at + 1)}`);
  }
  return columns.flatMap((column) => {
    const field = keys.get(column);
    return field === undefined ? [] : [{ column: column.name, field }];
  });
}

function* problemsOf(
  primary: Identifier | undefined,
  columns: readonly Column[],
  named: ReadonlySet<string | undefined>,
): Generator<PreviewProblem> {
  if (!primary)
    yield {
      code: 'no_identifier',
      message:
        'No column seems to name the leads: none has e-mail addresses, telephone numbers such as +4915112345678, or ids that differ in every row. Choose one as primary_identifier.',
    };
  else if (primary.filled < 1)
    yield {
      code: 'identifier_empty',
      message: `${String(Math.round((1 - primary.filled) * 100))} % of the first rows have no ${primary.column}; such rows fail.`,
      column: primary.column,
    };
  for (const { name, values } of columns) {
    if (named.has(name) || values.length === 0) continue;
    const formats = timeFormatsOf(values);
    if (formats.includes('day_first') && formats.includes('month_first'))
      yield {
        code: 'date_ambiguous',
        message:
          'These dates may begin with the day or with the month: 03/04/2026 is both. As the time of an event they need a format.',
        column: name,
      };
  }
}
