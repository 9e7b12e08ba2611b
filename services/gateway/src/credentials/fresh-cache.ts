// What is looked up with every request: kept for seconds, so that a change shows soon everywhere; read together by all
// who ask at the same time; and, while the database is away, served from what was last known, for minutes.
import { LRUCache } from 'lru-cache';
import { isRetriable } from '@lead-scoring/read-model';

export interface FreshCacheOptions<Value> {
  /** One read of the database; null: there is none. */
  load: (key: string) => Promise<Value | null>;
  /** How long an answer is used, from the moment the read began. */
  maximumAgeMs: number;
  /** How long a known value is used when the database is away. */
  staleMs: number;
  /** Values, and as many again of keys that are known to have none. */
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
  /** What is asked from now on is read anew; what was known serves only where that fails. */
  clear(): void;
}

/** A read in progress, and the one that follows it when somebody needs to know what is true later. */
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
  const present = new LRUCache<string, Entry<Value>>({ max: maximumEntries });
  // Apart, so that guessing keys cannot push out those that are in use.
  const absent = new LRUCache<string, Entry<Value>>({ max: maximumEntries });
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
      // A read in progress may see what was before: all who ask now share the one that follows it.
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
