// Seeded random numbers: the same seed gives the same numbers on every machine, for sample data, workloads of benchmarks, and tests
// that can be repeated.

export interface Random {
  /** In [0, 1). */
  readonly next: () => number;
  /** A whole number, both bounds included. */
  readonly between: (low: number, high: number) => number;
  readonly pick: <Item>(items: readonly Item[]) => Item;
}

/** @param seed any 32-bit integer */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
  };
}
