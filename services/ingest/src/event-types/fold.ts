// Statistics of one event type of an OU in one partition. Pure.
import { preferredEventTypeName, routeDeclarations, type records } from '@lead-scoring/contracts';
import { propertyKey } from './property-model.js';
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
  }

  get count(): number {
    return this.#count;
  }

  add({ event_type, timestamp, metadata }: records.EventsIngested['events'][number]): void {
    this.#count += 1;
    if (this.#firstSeen === '' || timestamp < this.#firstSeen) this.#firstSeen = timestamp;
    if (timestamp > this.#lastSeen) this.#lastSeen = timestamp;
    this.#names.addOne(event_type);
    if (metadata)
      for (const [name, value] of Object.entries(metadata))
        // A key may be as long as the metadata of an event: a document with very many of them could not be stored.
        if (name.length <= longestName) this.#properties.addOne(propertyKey(name, value));
  }

  /** Subtracts deleted events. */
  subtract(deleted: EventTypeShare): void {
    this.#count -= deleted.count;
    this.#names.subtract(deleted.names);
    this.#properties.subtract(deleted.properties);
    if (this.#count > 0) return;
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
    };
  }
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
