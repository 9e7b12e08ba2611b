// A cache of look-ups that every request needs. It keeps a value for seconds, so that a change soon takes effect in all instances;
// reads once for all requests at the same time; and, while the database is away, uses the last known value for minutes.
import { createBoundedCache, isRetriable } from '@lead-scoring/read-model';

export interface FreshCacheOptions<Value> {
  /** One read of the database; null: there is no value. */
  load: (key: string) => Promise<Value | null>;
  /** The time for which an answer is used, from the moment the read began. */
  maximumAgeMs: number;
  /** The time for which a known value is used when the database is away. */
  staleMs: number;
  /** The most values, and the most keys that are known to have no value. */
  maximumEntries: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

export interface FreshCache<Value> {
  /**
   * The value, or null when there is none.
   * @param fresh true: from a read that begins after this call
   * @throws what `load` throws when nothing is known
   */
  get(key: string, fresh?: boolean): Promise<Value | null>;
  /** Whether there was a value when this key was last read. */
  has(key: string): boolean;
  /** Makes later requests read anew; earlier values are used only when that read fails. */
  clear(): void;
}

/** A read in progress, and the read after it, which answers fresh requests that came meanwhile. */
interface Reading<Value> {
  readAt: number;
  current: Promise<Value | null>;
  next?: Promise<Value | null>;
}

interface Entry<Value> {
  value: Value | null;
  readAt: number;
}

export function createFreshCache<Value extends object>(options: FreshCacheOptions<Value>): FreshCache<Value> {
  const { load, maximumAgeMs, staleMs, maximumEntries, now = () => performance.now() } = options;
  const present = createBoundedCache<Entry<Value>>({ maximumEntries });
  // In a map of their own, so that guessed keys cannot evict keys that are in use.
  const absent = createBoundedCache<Entry<Value>>({ maximumEntries });
  const reading = new Map<string, Reading<Value>>();
  let clearedAt = -Infinity;

  const read = async (key: string, readAt: number): Promise<Value | null> => {
    try {
      const value = await load(key);
      if (readAt >= clearedAt) {
        (value === null ? present : absent).delete(key);
        (value === null ? absent : present).set(key, { value, readAt });
      }
      return value;
    } catch (error) {
      const last = present.get(key);
      if (isRetriable(error) && last && now() - last.readAt <= staleMs) return last.value;
      throw error;
    }
  };

  const begin = (key: string): Promise<Value | null> => {
    const readAt = now();
    const flight: Reading<Value> = {
      readAt,
      current: read(key, readAt).finally(() => {
        if (!flight.next) reading.delete(key);
      }),
    };
    reading.set(key, flight);
    return flight.current;
  };

  return {
    get: async (key, fresh = false) => {
      const entry = present.get(key) ?? absent.get(key);
      if (entry && !fresh && entry.readAt >= clearedAt && now() - entry.readAt <= maximumAgeMs)
        return entry.value;
      const flight = reading.get(key);
      if (!flight) return begin(key);
      if (!fresh && flight.readAt >= clearedAt) return flight.current;
      // A read in progress may have missed the latest change: all fresh requests share the read that follows it.
      flight.next ??= flight.current.then(
        () => begin(key),
        () => begin(key),
      );
      return flight.next;
    },
    has: (key) => present.has(key),
    clear: () => {
      clearedAt = now();
    },
  };
}
