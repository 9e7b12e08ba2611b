// What an OU has of events and of their types in one partition, all types together. Pure.
import type { records } from '@lead-scoring/contracts';
import { Changes, withChanges } from './since-model.js';
import { ValueCounter, type ValueCounts } from './value-counts-model.js';

export interface UnitShare {
  ou_id: string;
  events: number;
  /** Kinds of alias under which events came. */
  alias_kinds: ValueCounts;
  /**
   * Keys of the types that lists show: those that came first and still have events here, up to a limit. Further types are kept and
   * found by their keys, so that lists stay small whatever a producer sends.
   */
  types: readonly string[];
  /** Whether events of further types came since the partition last had none. */
  has_more: boolean;
  /** The recount that is under way, and the changes of counts since it began. */
  recount?: UnitRecount;
}

interface UnitRecount {
  id: string;
  /** The offset of its mark. */
  from: number;
  events: number;
  alias_kinds: ValueCounts;
  /** Types of events that came. */
  types: readonly string[];
}

/** Deleted events of one lead, all types together. */
export type DeletedEvents = Pick<UnitShare, 'events' | 'alias_kinds'>;

const maximumAliasKinds = 100;

/** Folds the events of a batch into a share, in place; `share` returns the result. */
export class UnitFold {
  #aliasKinds: ValueCounter;
  #types: Set<string>;
  #events: number;
  #hasMore: boolean;
  #recount: RecountFold | null;

  /** @param listedTypes the most types that lists show from this partition */
  constructor(
    private readonly ouId: string,
    before: UnitShare | null,
    private readonly listedTypes: number,
  ) {
    this.#aliasKinds = new ValueCounter(maximumAliasKinds, before?.alias_kinds);
    this.#types = new Set(before?.types);
    this.#events = before?.events ?? 0;
    this.#hasMore = before?.has_more ?? false;
    this.#recount = before?.recount ? new RecountFold(before.recount) : null;
  }

  /** The recount that is under way; null: none. */
  get recount(): { id: string; from: number } | null {
    return this.#recount;
  }

  beginRecount(id: string, from: number): void {
    this.#recount = new RecountFold({ id, from, events: 0, alias_kinds: [], types: [] });
  }

  /**
   * Ends the recount, and takes over what it has counted.
   * @param counted the events of the log before its mark; undefined: nothing is to be changed
   * @param counts of types that have events
   */
  endRecount(counted: records.RecountedUnit | undefined, counts: ReadonlyMap<string, number>): void {
    const since = this.#recount?.changes();
    this.#recount = null;
    if (!counted || !since) return;
    const candidates = new Set([...counted.types, ...since.types]);
    const types = [...candidates].filter((key) => (counts.get(key) ?? 0) > 0);
    this.#types = new Set(types.slice(0, this.listedTypes));
    this.#hasMore = counted.has_more || types.length > this.listedTypes;
    this.#aliasKinds = new ValueCounter(
      maximumAliasKinds,
      withChanges(counted.alias_kinds, since.alias_kinds, maximumAliasKinds),
    );
    this.#events = this.#hasMore
      ? Math.max(0, counted.events + since.events)
      : types.reduce((sum, key) => sum + (counts.get(key) ?? 0), 0);
    if (this.#events === 0) this.#hasMore = false;
  }

  /** Types that may have come into the list since the recount began. */
  typesSince(): readonly string[] {
    return this.#recount?.changes().types ?? [];
  }

  add(typeKey: string, aliases: records.EventsIngested['aliases']): void {
    this.#events += 1;
    this.#recount?.add(typeKey, aliases, this.listedTypes);
    for (const { alias_kind } of aliases) this.#aliasKinds.addOne(alias_kind);
    if (this.#types.has(typeKey)) return;
    if (this.#types.size < this.listedTypes) this.#types.add(typeKey);
    else this.#hasMore = true;
  }

  /** @param gone keys of the types that have no events here any more */
  subtract({ events, alias_kinds }: DeletedEvents, gone: readonly string[]): void {
    this.#events = Math.max(0, this.#events - events);
    this.#recount?.subtract({ events, alias_kinds });
    this.#aliasKinds.subtract(alias_kinds);
    for (const key of gone) this.#types.delete(key);
    if (this.#events === 0) this.#hasMore = false;
  }

  share(): UnitShare {
    return {
      ou_id: this.ouId,
      events: this.#events,
      alias_kinds: this.#aliasKinds.counts(),
      types: [...this.#types],
      has_more: this.#hasMore,
      ...(this.#recount && { recount: this.#recount.changes() }),
    };
  }
}

class RecountFold {
  readonly id: string;
  readonly from: number;
  readonly #aliasKinds: Changes;
  readonly #types: Set<string>;
  #events: number;

  constructor({ id, from, events, alias_kinds, types }: UnitRecount) {
    this.id = id;
    this.from = from;
    this.#events = events;
    this.#aliasKinds = new Changes(alias_kinds);
    this.#types = new Set(types);
  }

  add(typeKey: string, aliases: records.EventsIngested['aliases'], maximumTypes: number): void {
    this.#events += 1;
    for (const { alias_kind } of aliases) this.#aliasKinds.add(alias_kind, 1);
    // One more than are listed shows that there are more.
    if (this.#types.size <= maximumTypes) this.#types.add(typeKey);
  }

  subtract({ events, alias_kinds }: DeletedEvents): void {
    this.#events -= events;
    this.#aliasKinds.subtract(alias_kinds);
  }

  changes(): UnitRecount {
    return {
      id: this.id,
      from: this.from,
      events: this.#events,
      alias_kinds: this.#aliasKinds.counts(),
      types: [...this.#types],
    };
  }
}
