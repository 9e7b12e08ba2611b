// Counters and statistics: each partition writes its own document, reading puts them together.

/** The id of one partition's share of a key. */
export function partitionedId(key: string, partition: number): string {
  return `${key}:${String(partition)}`;
}

/**
 * Puts the partitions' shares of each key together, in the order in which keys first appear.
 * @param merge must not depend on the order of the shares
 */
export function mergePartitions<Share>(
  shares: Iterable<Share>,
  keyOfShare: (share: Share) => string,
  merge: (left: Share, right: Share) => Share,
): Map<string, Share> {
  const merged = new Map<string, Share>();
  for (const share of shares) {
    const key = keyOfShare(share);
    const known = merged.get(key);
    merged.set(key, known === undefined ? share : merge(known, share));
  }
  return merged;
}
