// Counts events, or distinct leads, by value and bucket of time: the largest values each, and the others together. Pure.

export interface Series {
  value: string | null;
  total: number;
  /** A number for each bucket. */
  values: number[];
}

export interface TalliedSeries {
  total: number;
  totals: number[];
  /** The largest first; of equal ones, in the order of their values. */
  series: Series[];
  /** All further values together; null where there are none. */
  other: { groups: number; total: number; values: number[] } | null;
}

/** The events or leads of one bucket, counted. */
interface Counted {
  add(lead: string, events: number): void;
  merge(other: this): void;
  readonly count: number;
}

class CountedEvents implements Counted {
  count = 0;

  add(_lead: string, events: number): void {
    this.count += events;
  }

  merge({ count }: CountedEvents): void {
    this.count += count;
  }
}

class CountedLeads implements Counted {
  readonly #leads = new Set<string>();

  get count(): number {
    return this.#leads.size;
  }

  add(lead: string): void {
    this.#leads.add(lead);
  }

  merge(other: CountedLeads): void {
    for (const lead of other.#leads) this.#leads.add(lead);
  }
}

/** The counts of a value, by bucket; only of those in which it occurs. */
type Buckets<Count> = Map<number, Count>;

export class SeriesTally<Count extends Counted = Counted> {
  readonly #values = new Map<string | null, Buckets<Count>>();

  private constructor(
    private readonly buckets: number,
    private readonly empty: () => Count,
  ) {}

  static of(metric: 'events' | 'leads', buckets: number): SeriesTally {
    return metric === 'events'
      ? new SeriesTally(buckets, () => new CountedEvents())
      : new SeriesTally(buckets, () => new CountedLeads());
  }

  /** @param events of the lead with this value in this bucket */
  add(value: string | null, bucket: number, lead: string, events = 1): void {
    let ofValue = this.#values.get(value);
    if (!ofValue) this.#values.set(value, (ofValue = new Map<number, Count>()));
    let counted = ofValue.get(bucket);
    if (!counted) ofValue.set(bucket, (counted = this.empty()));
    counted.add(lead, events);
  }

  /** @param most how many values have a series of their own */
  result(most: number): TalliedSeries {
    const all = [...this.#values]
      .map(([value, ofValue]) => ({ value, ofValue, total: this.#merged(ofValue.values()).count }))
      .sort((left, right) => right.total - left.total || inOrder(left.value, right.value));
    const [shown, rest] = [all.slice(0, most), all.slice(most)];
    const together = this.#together(all.map(({ ofValue }) => ofValue));
    const others = this.#together(rest.map(({ ofValue }) => ofValue));
    return {
      total: this.#merged(together.values()).count,
      totals: this.#numbers(together),
      series: shown.map(({ value, ofValue, total }) => ({ value, total, values: this.#numbers(ofValue) })),
      other:
        rest.length === 0
          ? null
          : {
              groups: rest.length,
              total: this.#merged(others.values()).count,
              values: this.#numbers(others),
            },
    };
  }

  #merged(counts: Iterable<Count>): Count {
    const sum = this.empty();
    for (const one of counts) sum.merge(one);
    return sum;
  }

  #together(values: readonly Buckets<Count>[]): Buckets<Count> {
    const together: Buckets<Count> = new Map<number, Count>();
    for (const ofValue of values)
      for (const [bucket, counted] of ofValue) {
        const known = together.get(bucket);
        if (known) known.merge(counted);
        else together.set(bucket, this.#merged([counted]));
      }
    return together;
  }

  #numbers(ofValue: Buckets<Count>): number[] {
    return Array.from({ length: this.buckets }, (_, bucket) => ofValue.get(bucket)?.count ?? 0);
  }
}

/** null, which is no value, comes last. */
function inOrder(left: string | null, right: string | null): number {
  if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
  return left < right ? -1 : left > right ? 1 : 0;
}
