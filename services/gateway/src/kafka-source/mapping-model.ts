// Turns a record of a source into an event as POST /ingest takes it, by the mapping of the source. Pure.
import type { EventMapping, MetadataPlace, Place, TimePlace } from './source-file.js';

/** A decoded record. */
export interface MappedRecord {
  value: unknown;
  /** Decoded only where the mapping names it: the key of a record may be anything. */
  key(): { value: unknown } | { problem: string };
  /** The first value of a header as text; undefined without one. */
  header(name: string): string | undefined;
  /** Milliseconds since 1970. */
  timestamp: number;
  /** The event_id where the mapping gives none. */
  id: string;
}

export interface Mapped {
  /** An event with its own checks still to be passed. */
  sent: Record<string, unknown>;
  /** The organizational unit that the record names; undefined where the mapping has none. */
  ouId: string | undefined;
}

/** A reason why a record cannot become an event. */
class Unmappable extends Error {}

/** @returns the event, or the reason why the record cannot become one */
export function mapRecord(mapping: EventMapping, record: MappedRecord): Mapped | { problem: string } {
  try {
    return { sent: eventOf(mapping, record), ouId: unitOf(mapping, record) };
  } catch (error) {
    if (error instanceof Unmappable) return { problem: error.message };
    // A fault of the mapping's own code must not stop the partition either.
    return { problem: `cannot be mapped: ${String(error)}` };
  }
}

function eventOf(mapping: EventMapping, record: MappedRecord): Record<string, unknown> {
  const timestamp = timeOf(mapping.timestamp, record);
  const metadata = mapping.metadata && metadataOf(mapping.metadata, record);
  const eventId = mapping.event_id && textAt(mapping.event_id, record, 'event_id');
  return {
    ...namesOf(mapping, record),
    event_type: textAt(mapping.event_type, record, 'event_type'),
    event_id: eventId ?? record.id,
    ...(timestamp !== undefined && { timestamp }),
    ...(metadata !== undefined && { metadata }),
  };
}

function namesOf(mapping: EventMapping, record: MappedRecord): Record<string, unknown> {
  if (!('aliases' in mapping))
    return {
      alias_kind: textAt(mapping.alias_kind, record, 'alias_kind'),
      alias: textAt(mapping.alias, record, 'alias'),
    };
  const aliases = mapping.aliases.flatMap((one, index) => {
    const alias = textAt(one.alias, record, `aliases.${String(index)}.alias`);
    if (alias === undefined) return [];
    return [{ alias_kind: textAt(one.alias_kind, record, `aliases.${String(index)}.alias_kind`), alias }];
  });
  if (aliases.length === 0)
    throw new Unmappable('aliases: the record has none of the values that the mapping names');
  return { aliases };
}

/** Absent: the credential's unit. A mapping that names a place must find one there: no event goes to another unit by mistake. */
function unitOf({ ou_id }: EventMapping, record: MappedRecord): string | undefined {
  if (!ou_id) return undefined;
  const unit = textAt(ou_id, record, 'ou_id');
  if (unit === undefined) throw new Unmappable(`ou_id: the record has nothing at ${nameOf(ou_id)}`);
  return unit;
}

/** The text or number at a place; undefined where there is nothing, null or an empty text. */
function textAt(place: Place, record: MappedRecord, field: string): string | undefined {
  const found = find(place, record);
  if (found === undefined || found === null || found === '') return undefined;
  if (typeof found === 'string') return found;
  if (typeof found === 'number' && Number.isFinite(found)) {
    if (Number.isInteger(found) && !Number.isSafeInteger(found))
      throw new Unmappable(`${field}: the number at ${nameOf(place)} is too large to be exact; send a text`);
    return String(found);
  }
  throw new Unmappable(`${field}: what is at ${nameOf(place)} must be a text or a number`);
}

const perMillisecond = { s: 0.001, ms: 1, us: 1_000 };

/** The time at the place, else that of the record: both are the same whenever the record is read. */
function timeOf(place: TimePlace | undefined, record: MappedRecord): string | undefined {
  const found = place && find(place, record);
  if (found === undefined || found === null || found === '' || !place) {
    // Producers without a clock leave it at -1.
    return record.timestamp >= 0 ? isoTime(record.timestamp) : undefined;
  }
  const number = typeof found === 'string' && /^-?\d{1,16}$/.test(found) ? Number(found) : found;
  if (typeof number === 'string') return number;
  if (typeof number !== 'number')
    throw new Unmappable(`timestamp: what is at ${nameOf(place)} must be a text or a number`);
  const time = isoTime(number / perMillisecond[place.unit]);
  if (time === undefined)
    throw new Unmappable(
      `timestamp: the number at ${nameOf(place)} is no time in "${place.unit}" since 1970`,
    );
  return time;
}

/** ISO 8601 UTC with milliseconds; undefined outside of the years 0 to 9999. */
function isoTime(ms: number): string | undefined {
  const time = new Date(ms);
  if (Number.isNaN(time.getTime())) return undefined;
  const text = time.toISOString();
  return text.length === 24 ? text : undefined;
}

function metadataOf(place: MetadataPlace, record: MappedRecord): unknown {
  if (!('fields' in place)) return find(place, record) ?? undefined;
  return Object.fromEntries(
    Object.entries(place.fields).flatMap(([name, at]) => {
      const found = find(at, record);
      return found === undefined ? [] : [[name, found]];
    }),
  );
}

type AnyPlace = Place | TimePlace | Exclude<MetadataPlace, { fields: unknown }>;

function find(place: AnyPlace, record: MappedRecord): unknown {
  if ('fixed' in place) return place.fixed;
  if ('header' in place) return record.header(place.header);
  if ('value' in place) return below(record.value, place.value);
  const key = record.key();
  if ('problem' in key) throw new Unmappable(`the key ${key.problem}`);
  return below(key.value, place.key);
}

/** What a path leads to: names with dots between them, or a list of names; none of them leads to the whole. */
function below(whole: unknown, path: string | readonly string[]): unknown {
  let at = whole;
  for (const name of namesIn(path)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

const split = new Map<string, readonly string[]>();

function namesIn(path: string | readonly string[]): readonly string[] {
  if (typeof path !== 'string') return path;
  let names = split.get(path);
  if (!names) split.set(path, (names = path === '' ? [] : path.split('.')));
  return names;
}

function nameOf(place: AnyPlace): string {
  if ('fixed' in place) return 'fixed';
  if ('header' in place) return `the header ${place.header}`;
  const [part, path] = 'value' in place ? ['value', place.value] : ['key', place.key];
  const names = namesIn(path);
  return names.length === 0 ? `the ${part}` : `${names.join('.')} in the ${part}`;
}
