// Histograms in records: a score, its number of leads, the next score, its number, and so on, in order of the scores. Pure.

export function packCounts(counts: ReadonlyMap<number, number>): number[] {
  return [...counts].sort(([one], [other]) => one - other).flat();
}

export function unpackCounts(packed: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (let index = 0; index < packed.length; index += 2)
    counts.set(packed[index] ?? 0, packed[index + 1] ?? 0);
  return counts;
}
