// A cache with a maximum number of entries, whose memory grows with its content.
import { LRUCache } from 'lru-cache';

export interface BoundedCacheOptions<Value> {
  /** The maximum number of entries; the least recently used are evicted. */
  maximumEntries: number;
  /** Milliseconds without a use after which an entry is dropped. Without it, entries stay. */
  keptMs?: number;
  /** Called with each evicted value: not with those that are replaced or deleted. */
  onEvicted?: (value: Value, key: string) => void;
}

/**
 * The limit is given as the sum of the entries' sizes, each of which is 1: for a limit by `max`, lru-cache allocates its arrays in
 * full when the cache is made, and a service makes several caches for each partition.
 */
export function createBoundedCache<Value extends object | string | number | true>({
  maximumEntries,
  keptMs,
  onEvicted,
}: BoundedCacheOptions<Value>): LRUCache<string, Value> {
  return new LRUCache<string, Value>({
    maxSize: maximumEntries,
    sizeCalculation: () => 1,
    ...(keptMs !== undefined && { ttl: keptMs, ttlAutopurge: true, updateAgeOnGet: true }),
    ...(onEvicted && {
      dispose: (value, key, reason) => {
        if (reason === 'evict') onEvicted(value, key);
      },
    }),
  });
}
