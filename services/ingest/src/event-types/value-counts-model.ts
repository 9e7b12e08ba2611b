// Values, each with the number of events that have it. Deleted events are subtracted again. Pure.

/** In order of appearance. */
export type ValueCounts = readonly (readonly [value: string, events: number])[];

/** Counts that are changed in place, because this runs for every event. */
export class ValueCounter {
  readonly #counts: Map<string, { events: number }>;

  /** @param maximum the most values; events with further ones are not counted */
  constructor(
    private readonly maximum: number,
    before: ValueCounts = [],
  ) {
    this.#counts = new Map(before.map(([value, events]) => [value, { events }]));
  }

  addOne(value: string): void {
    const known = this.#counts.get(value);
    if (known) known.events += 1;
    else if (this.#counts.size < this.maximum) this.#counts.set(value, { events: 1 });
  }

  /** A value that no other event has is removed. */
  subtract(deleted: ValueCounts): void {
    for (const [value, events] of deleted) {
      const known = this.#counts.get(value);
      if (!known) continue;
      known.events -= events;
      if (known.events <= 0) this.#counts.delete(value);
    }
  }

  clear(): void {
    this.#counts.clear();
  }

  counts(): ValueCounts {
    return [...this.#counts].map(([value, { events }]) => [value, events] as const);
  }
}

export function valuesOf(values: ValueCounts): string[] {
  return values.map(([value]) => value);
}
