// A cache of the documents of one collection and partition: all of them when they are few, otherwise the latest look-ups.
import { createStateCache, type StateCache } from '@lead-scoring/read-model';

export interface CacheLimits {
  /** Up to this number of documents the cache holds all of them, so that no batch reads any. */
  completeUpTo: number;
  /** The number of look-ups that are cached otherwise, including those that found nothing. */
  lookUps: number;
}

export class CachedDocuments<Value extends object> {
  readonly #cache: StateCache<Value>;
  /** Whether the cache holds all documents of the partition. */
  #isComplete = false;

  constructor(private readonly limits: CacheLimits) {
    this.#cache = createStateCache<Value>({
      maximumEntries: Math.max(limits.completeUpTo, limits.lookUps, 1),
      onForgotten: () => {
        this.#isComplete = false;
      },
    });
  }

  isComplete(): boolean {
    return this.#isComplete;
  }

  /** @param found all documents of the partition, or more than `completeUpTo` of them */
  fill(found: readonly (readonly [string, Value])[]): void {
    this.#isComplete = found.length <= this.limits.completeUpTo;
    if (!this.#isComplete) return;
    this.#cache.clear();
    for (const [key, value] of found) this.#cache.put(key, value);
  }

  /** Looks these keys up, and fetches missing ones unless the cache is complete. */
  async lookUp(
    keys: readonly string[],
    fetch: (missing: string[]) => Promise<Iterable<readonly [string, Value]>>,
  ): Promise<(key: string) => Value | undefined> {
    if (this.#isComplete) return (key) => this.#cache.get(key) ?? undefined;
    const found = await this.#cache.load(keys, fetch);
    return (key) => found.get(key) ?? undefined;
  }

  /** Updates the cache with a document that was just stored; null: it was deleted. */
  put(key: string, value: Value | null): void {
    if (value === null && this.#isComplete) this.#cache.delete(key);
    else this.#cache.put(key, value);
  }

  forget(): void {
    this.#cache.clear();
    this.#isComplete = false;
  }
}
