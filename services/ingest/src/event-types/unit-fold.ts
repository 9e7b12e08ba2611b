// What an OU has of events and of their types in one partition, all types together. Pure.
import type { records } from '@lead-scoring/contracts';
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
}

/** Deleted events of one lead, all types together. */
export type DeletedEvents = Pick<UnitShare, 'events' | 'alias_kinds'>;

const maximumAliasKinds = 100;

/** Folds the events of a batch into a share, in place; `share` returns the result. */
export class UnitFold {
  readonly #aliasKinds: ValueCounter;
  readonly #types: Set<string>;
  #events: number;
  #hasMore: boolean;

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
  }

  add(typeKey: string, aliases: records.EventsIngested['aliases']): void {
    this.#events += 1;
    for (const { alias_kind } of aliases) this.#aliasKinds.addOne(alias_kind);
    if (this.#types.has(typeKey)) return;
    if (this.#types.size < this.listedTypes) this.#types.add(typeKey);
    else this.#hasMore = true;
  }

  /** @param gone keys of the types that have no events here any more */
  subtract({ events, alias_kinds }: DeletedEvents, gone: readonly string[]): void {
    this.#events = Math.max(0, this.#events - events);
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
    };
  }
}
