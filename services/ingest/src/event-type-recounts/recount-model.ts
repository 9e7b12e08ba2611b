// Counts the events of an OU in a partition of the log afresh, and says where stored counts differ. Pure.
import { eventTypeKey, records } from '@lead-scoring/contracts';
import { eventTypeOf, EventTypeFold, recounted, type EventTypeShare } from '../event-types/fold.js';
import { UnitFold, type UnitShare } from '../event-types/unit-fold.js';
import type { ValueCounts } from '../event-types/value-counts-model.js';

/** Deletions that the log has up to the mark of a recount: the offset of the last one of each lead and of each type. */
export class DeletedHistory {
  readonly #leads = new Map<string, number>();
  readonly #types = new Map<string, number>();

  deleteLead(leadId: string, offset: number): void {
    this.#leads.set(leadId, offset);
  }

  deleteType(eventType: string, offset: number): void {
    this.#types.set(eventTypeKey(eventType), offset);
  }

  hasLead(leadId: string, offset: number): boolean {
    return offset < (this.#leads.get(leadId) ?? -1);
  }

  hasType(typeKey: string, offset: number): boolean {
    return offset < (this.#types.get(typeKey) ?? -1);
  }
}

/** One of so many groups into which the types are divided. */
export interface TypeGroup {
  readonly group: number;
  readonly groups: number;
}

/** Whether a type is in the group: by a hash of its key (FNV-1a). */
export function isInGroup(typeKey: string, { group, groups }: TypeGroup): boolean {
  let hash = 0x811c9dc5;
  for (let at = 0; at < typeKey.length; at += 1)
    hash = Math.imul(hash ^ typeKey.charCodeAt(at), 0x01000193) >>> 0;
  return hash % groups === group;
}

export class FreshCount {
  readonly #types = new Map<string, EventTypeFold>();
  readonly #unit: UnitFold;

  constructor(
    private readonly ouId: string,
    private readonly deleted: DeletedHistory,
    private readonly of: TypeGroup,
    listedTypes: number,
    private readonly keyOf: (eventType: string) => string,
  ) {
    this.#unit = new UnitFold(ouId, null, listedTypes);
  }

  take({ lead_id, events, aliases }: records.EventsIngested, offset: number): void {
    if (this.deleted.hasLead(lead_id, offset)) return;
    for (const event of events) {
      const key = this.keyOf(event.event_type);
      if (this.deleted.hasType(key, offset)) continue;
      this.#unit.add(key, aliases);
      if (!isInGroup(key, this.of)) continue;
      const fold = this.#types.get(key) ?? new EventTypeFold(this.ouId, key, null);
      this.#types.set(key, fold);
      fold.add(event);
    }
  }

  /** The types of the group. */
  types(): Map<string, records.RecountedType> {
    return new Map([...this.#types].map(([key, fold]) => [key, countedType(fold.share())]));
  }

  /** All types together. */
  unit(): records.RecountedUnit {
    const { events, alias_kinds, types, has_more } = this.#unit.share();
    return { events, alias_kinds: mutable(alias_kinds), types: [...types], has_more };
  }
}

function countedType({ key, names, count, first_seen, last_seen, properties }: EventTypeShare) {
  return { key, names: mutable(names), count, first_seen, last_seen, properties: mutable(properties) };
}

function mutable(counts: ValueCounts): [string, number][] {
  return counts.map(([value, events]) => [value, events]);
}

/** A type without events. */
export const noEvents = (key: string): records.RecountedType => ({
  ...{ key, names: [], count: 0, first_seen: '', last_seen: '', properties: [] },
});

/** How a stored share differs from what a fresh count makes of it; null: it does not. */
export function difference(
  stored: EventTypeShare,
  counted: records.RecountedType,
  from: number,
): records.DifferingType | null {
  const fresh = recounted(stored, counted, from);
  const found = {
    counts: stored.count !== fresh.count || !isSame(stored.names, fresh.names),
    times: stored.first_seen !== fresh.first_seen || stored.last_seen !== fresh.last_seen,
    properties: !isSame(stored.properties, fresh.properties),
  };
  if (!found.counts && !found.times && !found.properties) return null;
  const event_type = (eventTypeOf(fresh) ?? eventTypeOf(stored))?.name ?? stored.key;
  return { event_type, events_before: stored.count, events_after: fresh.count, ...found };
}

/** The same values with the same numbers, whichever came first. */
function isSame(one: ValueCounts, other: ValueCounts): boolean {
  const known = new Map(one);
  return one.length === other.length && other.every(([value, events]) => known.get(value) === events);
}

/** Whether the list of types, or the number of events, is another than that of a fresh count. */
export function listDiffers(
  { events, types, has_more, recount }: UnitShare,
  counted: records.RecountedUnit,
  listedTypes: number,
): boolean {
  const all = new Set([...counted.types, ...(recount?.types ?? [])]);
  const listed = [...all].slice(0, listedTypes);
  return (
    events !== counted.events + (recount?.events ?? 0) ||
    has_more !== (counted.has_more || all.size > listedTypes) ||
    types.length !== listed.length ||
    listed.some((key) => !types.includes(key))
  );
}

/** The findings of two steps. A type may differ in several partitions. */
export function joinedDifferences(
  one: records.EventTypeBackfillFound,
  other: records.EventTypeBackfillFound,
): records.EventTypeBackfillFound {
  const types = new Map(one.types.map((type) => [eventTypeKey(type.event_type), type]));
  let has_more = one.has_more || other.has_more;
  for (const type of other.types) {
    const key = eventTypeKey(type.event_type);
    const known = types.get(key);
    if (known) types.set(key, joinedType(known, type));
    else if (types.size < records.maximumDifferingTypes) types.set(key, type);
    else has_more = true;
  }
  return { types: [...types.values()], has_more, list: one.list || other.list };
}

function joinedType(one: records.DifferingType, other: records.DifferingType): records.DifferingType {
  return {
    event_type: one.event_type,
    events_before: one.events_before + other.events_before,
    events_after: one.events_after + other.events_after,
    counts: one.counts || other.counts,
    times: one.times || other.times,
    properties: one.properties || other.properties,
  };
}
