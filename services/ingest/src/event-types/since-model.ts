// The changes of counts since a mark in the log, kept beside the full counts. A recount of the log up to the mark, plus these changes,
// equals a fresh count. Pure. Numbers may be negative: events from before the mark may be deleted after it.
import type { ValueCounts } from './value-counts-model.js';

/** Numbers of events by value, more or fewer than at the mark. */
export class Changes {
  readonly #changes: Map<string, number>;

  constructor(before: ValueCounts = []) {
    this.#changes = new Map(before);
  }

  add(value: string, events: number): void {
    const changed = (this.#changes.get(value) ?? 0) + events;
    if (changed === 0) this.#changes.delete(value);
    else this.#changes.set(value, changed);
  }

  subtract(deleted: ValueCounts): void {
    for (const [value, events] of deleted) this.add(value, -events);
  }

  counts(): ValueCounts {
    return [...this.#changes];
  }
}

/** The counts with the changes: at most so many values, in order of appearance. */
export function withChanges(counts: ValueCounts, changes: ValueCounts, maximum: number): ValueCounts {
  const sums = new Map(counts);
  for (const [value, events] of changes) sums.set(value, (sums.get(value) ?? 0) + events);
  return [...sums].filter(([, events]) => events > 0).slice(0, maximum);
}

/** The earlier of two times; an empty one is none. */
export function earlier(one: string, other: string): string {
  if (one === '' || other === '') return one + other;
  return one < other ? one : other;
}

/** The later of two times; an empty one is none. */
export function later(one: string, other: string): string {
  return one > other ? one : other;
}
