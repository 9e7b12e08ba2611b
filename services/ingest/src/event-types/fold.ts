// Statistics of one event type of an OU in one partition. Pure.
import { preferredEventTypeName, routeDeclarations, type records } from '@lead-scoring/contracts';
import { propertyKey } from './property-model.js';
import { Changes, earlier, later, withChanges } from './since-model.js';
import { ValueCounter, valuesOf, type ValueCounts } from './value-counts-model.js';

export interface EventTypeShare {
  ou_id: string;
  /** The eventTypeKey, which is the same for all spellings of the type. */
  key: string;
  /** Spellings seen, in order of appearance. */
  names: ValueCounts;
  /** 0: all events of the type were deleted. */
  count: number;
  /** ISO 8601 times, over all events, deleted ones included, since the count was last 0; empty without events. */
  first_seen: string;
  last_seen: string;
  /** `propertyKey`s of metadata, in order of appearance. */
  properties: ValueCounts;
  /** Absent when no recount was under way at the last change. */
  since?: TypeSince;
}

/** Numbers of events that were added and deleted since a recount began. */
export interface TypeSince extends Pick<
  EventTypeShare,
  'names' | 'count' | 'first_seen' | 'last_seen' | 'properties'
> {
  /** The offset of its mark. */
  from: number;
  /** Whether all events from before the mark are deleted. */
  is_alone: boolean;
}

const maximumNames = 100;
const { properties: maximumProperties, propertyName: longestName } = routeDeclarations.eventTypeLimits;

/** Folds the events of a batch into a share; `share` returns the result. */
export class EventTypeFold {
  readonly #names: ValueCounter;
  readonly #properties: ValueCounter;
  #count: number;
  #firstSeen: string;
  #lastSeen: string;
  #since: SinceFold | null;

  constructor(
    private readonly ouId: string,
    private readonly key: string,
    before: EventTypeShare | null,
  ) {
    this.#names = new ValueCounter(maximumNames, before?.names);
    this.#properties = new ValueCounter(maximumProperties, before?.properties);
    this.#count = before?.count ?? 0;
    this.#firstSeen = before?.first_seen ?? '';
    this.#lastSeen = before?.last_seen ?? '';
    this.#since = before?.since ? new SinceFold(before.since) : null;
  }

  /** Counts the changes after the mark of a recount apart, from now on; null: no recount is under way. */
  countSince(from: number | null): void {
    if (from === null) this.#since = null;
    else if (this.#since?.from !== from) this.#since = new SinceFold({ ...nothing, from, is_alone: false });
  }

  get count(): number {
    return this.#count;
  }

  add(event: records.EventsIngested['events'][number]): void {
    const { event_type, timestamp, metadata } = event;
    this.#since?.add(event);
    this.#count += 1;
    if (this.#firstSeen === '' || timestamp < this.#firstSeen) this.#firstSeen = timestamp;
    if (timestamp > this.#lastSeen) this.#lastSeen = timestamp;
    this.#names.addOne(event_type);
    if (metadata) for (const key of propertyKeysOf(metadata)) this.#properties.addOne(key);
  }

  /** Subtracts deleted events. */
  subtract(deleted: EventTypeShare): void {
    this.#since?.subtract(deleted);
    this.#count -= deleted.count;
    this.#names.subtract(deleted.names);
    this.#properties.subtract(deleted.properties);
    if (this.#count <= 0) this.#empty();
  }

  /** All events of the type are deleted. */
  clear(): void {
    if (this.#since) this.#since = new SinceFold({ ...nothing, from: this.#since.from, is_alone: true });
    this.#empty();
  }

  #empty(): void {
    this.#count = 0;
    this.#firstSeen = this.#lastSeen = '';
    this.#names.clear();
    this.#properties.clear();
  }

  share(): EventTypeShare {
    return {
      ou_id: this.ouId,
      key: this.key,
      names: this.#names.counts(),
      count: this.#count,
      first_seen: this.#firstSeen,
      last_seen: this.#lastSeen,
      properties: this.#properties.counts(),
      ...(this.#since && { since: this.#since.changes() }),
    };
  }
}

const nothing = { names: [], count: 0, first_seen: '', last_seen: '', properties: [] };

class SinceFold {
  readonly from: number;
  readonly #isAlone: boolean;
  readonly #names: Changes;
  readonly #properties: Changes;
  #count: number;
  #firstSeen: string;
  #lastSeen: string;

  constructor({ from, is_alone, names, count, first_seen, last_seen, properties }: TypeSince) {
    this.from = from;
    this.#isAlone = is_alone;
    this.#names = new Changes(names);
    this.#properties = new Changes(properties);
    this.#count = count;
    this.#firstSeen = first_seen;
    this.#lastSeen = last_seen;
  }

  add({ event_type, timestamp, metadata }: records.EventsIngested['events'][number]): void {
    this.#count += 1;
    this.#firstSeen = earlier(this.#firstSeen, timestamp);
    this.#lastSeen = later(this.#lastSeen, timestamp);
    this.#names.add(event_type, 1);
    if (metadata) for (const key of propertyKeysOf(metadata)) this.#properties.add(key, 1);
  }

  subtract(deleted: EventTypeShare): void {
    this.#count -= deleted.count;
    this.#names.subtract(deleted.names);
    this.#properties.subtract(deleted.properties);
  }

  changes(): TypeSince {
    return {
      from: this.from,
      is_alone: this.#isAlone,
      names: this.#names.counts(),
      count: this.#count,
      first_seen: this.#firstSeen,
      last_seen: this.#lastSeen,
      properties: this.#properties.counts(),
    };
  }
}

function* propertyKeysOf(metadata: NonNullable<records.EventsIngested['events'][number]['metadata']>) {
  for (const [name, value] of Object.entries(metadata))
    // A key may be as long as the metadata of an event: a document with very many of them could not be stored.
    if (name.length <= longestName) yield propertyKey(name, value);
}

/**
 * The share with the counts of the log up to the mark of a recount, plus the changes since the mark.
 * @param counted the events of the log before the mark, without deleted ones; null: there are none
 */
export function recounted(
  share: Pick<EventTypeShare, 'ou_id' | 'key' | 'since'>,
  counted: records.RecountedType | null,
  from: number,
): EventTypeShare {
  const { ou_id, key } = share;
  const since = share.since?.from === from ? share.since : null;
  const base = counted === null || since?.is_alone ? nothing : counted;
  const changes = since ?? nothing;
  const count = base.count + changes.count;
  const kept = { ou_id, key, ...(since && { since }) };
  if (count <= 0) return { ...kept, ...nothing };
  return {
    ...kept,
    names: withChanges(base.names, changes.names, maximumNames),
    count,
    first_seen: earlier(base.first_seen, changes.first_seen),
    last_seen: later(base.last_seen, changes.last_seen),
    properties: withChanges(base.properties, changes.properties, maximumProperties),
  };
}

/** What lists of types say of one: of a partition, or of all of them together. */
export interface EventType extends Pick<EventTypeShare, 'key' | 'count' | 'first_seen' | 'last_seen'> {
  /** The spelling to show. */
  name: string;
}

/** @returns null for a share without events */
export function eventTypeOf({ key, names, count, first_seen, last_seen }: EventTypeShare): EventType | null {
  if (count === 0) return null;
  return { key, name: valuesOf(names).reduce(preferredEventTypeName), count, first_seen, last_seen };
}

/** Combines what partitions say of types; their order does not matter. */
export function eventTypesOf(parts: Iterable<EventType>): Map<string, EventType> {
  const types = new Map<string, EventType>();
  for (const part of parts) {
    const known = types.get(part.key);
    types.set(
      part.key,
      known
        ? {
            key: part.key,
            name: preferredEventTypeName(known.name, part.name),
            count: known.count + part.count,
            first_seen: known.first_seen < part.first_seen ? known.first_seen : part.first_seen,
            last_seen: known.last_seen > part.last_seen ? known.last_seen : part.last_seen,
          }
        : part,
    );
  }
  return types;
}
