// The aggregates that a partition's single writer has in hand, so that it does not read what it has just written.
import { LRUCache } from 'lru-cache';

/**
 * Lives and dies with one partition state: the processor is the only writer of the partition, so what it wrote is
 * what is stored. After any error whose outcome is unknown the state, and the cache with it, is thrown away.
 * Values are shared with the caller: replace them, do not change them in place.
 */
export interface StateCache<Value extends object> {
  /**
   * The states under these keys; those not in hand are loaded in one go. Absent ones are remembered as absent.
   * The answer holds all keys, however many the cache can keep.
   */
  load(
    keys: Iterable<string>,
    fetch: (missing: string[]) => Promise<Iterable<readonly [string, Value]>>,
  ): Promise<Map<string, Value | null>>;
  /** What is in hand of this key: null when it is known to be absent, undefined when nothing is known. */
  get(key: string): Value | null | undefined;
  /** What was just written. */
  put(key: string, value: Value | null): void;
  delete(key: string): void;
  clear(): void;
  readonly size: number;
}

/**
 * @param maximumEntries the least recently used beyond it are forgotten
 * @param onForgotten told of each that is forgotten in this way
 */
export function createStateCache<Value extends object>({
  maximumEntries,
  onForgotten,
}: {
  maximumEntries: number;
  onForgotten?: (value: Value | null) => void;
}): StateCache<Value> {
  const entries = new LRUCache<string, { value: Value | null }>({
    max: maximumEntries,
    ...(onForgotten && {
      dispose: ({ value }, _, reason) => {
        if (reason === 'evict') onForgotten(value);
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
          // What was put meanwhile is newer than what was fetched.
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
