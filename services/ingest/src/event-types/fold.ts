// Statistics of one event type of an OU in one partition. Pure.
import { preferredEventTypeName, type records } from '@lead-scoring/contracts';

/** Values, each with the number of events that have it. */
export type ValueCounts = readonly (readonly [value: string, events: number])[];

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
  /** Metadata keys in order of appearance. */
  properties: ValueCounts;
  /** Kinds of alias under which events came. */
  alias_kinds: ValueCounts;
}

export const eventTypeLimits = { names: 100, properties: 2_000, aliasKinds: 100 };

/** `ValueCounts` that are changed in place, because this runs for every event. */
type MutableCounts = Map<string, { events: number }>;

/** Folds the events of a batch into a share; `share` returns the result. */
export class EventTypeFold {
  private readonly names: MutableCounts;
  private readonly properties: MutableCounts;
  private readonly aliasKinds: MutableCounts;
  private count: number;
  private firstSeen: string;
  private lastSeen: string;

  constructor(
    private readonly ouId: string,
    private readonly key: string,
    before: EventTypeShare | null,
  ) {
    this.names = toCounts(before?.names);
    this.properties = toCounts(before?.properties);
    this.aliasKinds = toCounts(before?.alias_kinds);
    this.count = before?.count ?? 0;
    this.firstSeen = before?.first_seen ?? '';
    this.lastSeen = before?.last_seen ?? '';
  }

  add(event: records.EventsIngested['events'][number], aliases: records.EventsIngested['aliases']): void {
    const { event_type, timestamp, metadata } = event;
    this.count += 1;
    if (this.firstSeen === '' || timestamp < this.firstSeen) this.firstSeen = timestamp;
    if (timestamp > this.lastSeen) this.lastSeen = timestamp;
    addOne(this.names, event_type, eventTypeLimits.names);
    for (const { alias_kind } of aliases) addOne(this.aliasKinds, alias_kind, eventTypeLimits.aliasKinds);
    if (metadata)
      for (const key of Object.keys(metadata)) addOne(this.properties, key, eventTypeLimits.properties);
  }

  /** Subtracts deleted events; a value that no other event has is removed. */
  subtract(deleted: EventTypeShare): void {
    this.count -= deleted.count;
    subtractCounts(this.names, deleted.names);
    subtractCounts(this.properties, deleted.properties);
    subtractCounts(this.aliasKinds, deleted.alias_kinds);
    if (this.count > 0) return;
    this.count = 0;
    this.firstSeen = this.lastSeen = '';
    for (const counts of [this.names, this.properties, this.aliasKinds]) counts.clear();
  }

  share(): EventTypeShare {
    return {
      ou_id: this.ouId,
      key: this.key,
      names: toValueCounts(this.names),
      count: this.count,
      first_seen: this.firstSeen,
      last_seen: this.lastSeen,
      properties: toValueCounts(this.properties),
      alias_kinds: toValueCounts(this.aliasKinds),
    };
  }
}

function addOne(counts: MutableCounts, value: string, maximum: number): void {
  const known = counts.get(value);
  if (known) known.events += 1;
  else if (counts.size < maximum) counts.set(value, { events: 1 });
}

function subtractCounts(counts: MutableCounts, deleted: ValueCounts): void {
  for (const [value, events] of deleted) {
    const known = counts.get(value);
    if (!known) continue;
    known.events -= events;
    if (known.events <= 0) counts.delete(value);
  }
}

function toCounts(values: ValueCounts = []): MutableCounts {
  return new Map(values.map(([value, events]) => [value, { events }]));
}

function toValueCounts(counts: MutableCounts): ValueCounts {
  return [...counts].map(([value, { events }]) => [value, events] as const);
}

/** The statistics of a type over all partitions. */
export interface EventType extends Pick<
  EventTypeShare,
  'ou_id' | 'key' | 'count' | 'first_seen' | 'last_seen'
> {
  /** The spelling to show. */
  name: string;
  properties: readonly string[];
  alias_kinds: readonly string[];
}

/** Combines the partitions' shares; their order does not matter. */
export function eventTypesOf(shares: Iterable<EventTypeShare>): Map<string, EventType> {
  const types = new Map<string, EventType>();
  for (const share of shares) {
    if (share.count === 0) continue;
    const known = types.get(share.key);
    const name = [...valuesOf(share.names), ...(known ? [known.name] : [])].reduce(preferredEventTypeName);
    types.set(share.key, {
      ou_id: share.ou_id,
      key: share.key,
      name,
      count: share.count + (known?.count ?? 0),
      first_seen: known && known.first_seen < share.first_seen ? known.first_seen : share.first_seen,
      last_seen: known && known.last_seen > share.last_seen ? known.last_seen : share.last_seen,
      properties: [...new Set([...(known?.properties ?? []), ...valuesOf(share.properties)])]
        .sort()
        .slice(0, eventTypeLimits.properties),
      alias_kinds: [...new Set([...(known?.alias_kinds ?? []), ...valuesOf(share.alias_kinds)])].sort(),
    });
  }
  return types;
}

function valuesOf(values: ValueCounts): string[] {
  return values.map(([value]) => value);
}
