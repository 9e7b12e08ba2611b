// A cache of the aggregates of a partition's single writer, so that it does not read what it has just written.
import { createBoundedCache } from './bounded-cache.js';

/**
 * A cache with the lifetime of one partition state: the processor is the only writer of the partition, so the cached
 * values equal the stored ones. After an error with an unknown outcome the state and its cache are discarded. Values
 * are shared with the caller: replace them, do not change them in place.
 */
export interface StateCache<Value extends object> {
  /**
   * The states of these keys; those not cached are loaded in one call. Absent ones are cached as absent. The result has
   * all keys, even more than the cache can hold.
   */
  load(
    keys: Iterable<string>,
    fetch: (missing: string[]) => Promise<Iterable<readonly [string, Value]>>,
  ): Promise<Map<string, Value | null>>;
  /** The cached state of a key: null when it is known to be absent, undefined when it is not cached. */
  get(key: string): Value | null | undefined;
  /** Caches a written state. */
  put(key: string, value: Value | null): void;
  delete(key: string): void;
  clear(): void;
  readonly size: number;
}

/**
 * @param maximumEntries the maximum number of states; the least recently used are evicted
 * @param onForgotten called with each evicted state
 */
export function createStateCache<Value extends object>({
  maximumEntries,
  onForgotten,
}: {
  maximumEntries: number;
  onForgotten?: (value: Value | null) => void;
}): StateCache<Value> {
  const entries = createBoundedCache<{ value: Value | null }>({
    maximumEntries,
    ...(onForgotten && {
      onEvicted: ({ value }) => {
        onForgotten(value);
      },
    }),
  });
  return {
    load: async (keys, fetch) => {
      const states = new Map<string, Value | null>();
      const missing: string[] = [];
      for (const key of new Set(keys)) {
        const known = entries.get(key);
        if (known) states.set(key, known.value);
        else missing.push(key);
      }
      if (missing.length > 0) {
        for (const key of missing) states.set(key, null);
        for (const [key, value] of await fetch(missing)) states.set(key, value);
        for (const key of missing) {
          // A state put during the load is newer than the loaded one.
          const newer = entries.get(key);
          if (newer) states.set(key, newer.value);
          else entries.set(key, { value: states.get(key) ?? null });
        }
      }
      return states;
    },
    get: (key) => entries.get(key)?.value,
    put: (key, value) => {
      entries.set(key, { value });
    },
    delete: (key) => {
      entries.delete(key);
    },
    clear: () => {
      entries.clear();
    },
    get size() {
      return entries.size;
    },
  };
}
