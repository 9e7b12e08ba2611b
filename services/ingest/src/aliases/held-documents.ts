// What a partition has in memory of a collection: all of it where that is little, otherwise the answers to what was asked for
// last.
import { createStateCache, type StateCache } from '@lead-scoring/read-model';

export interface HeldLimits {
  /** Up to so many documents are held whole, so that no batch looks for any. */
  heldWhole: number;
  /** So many answers are remembered, that there is none included. */
  remembered: number;
}

export class HeldDocuments<Value extends object> {
  readonly #cache: StateCache<Value>;
  /** Whether a document that is not in memory is not there. */
  #isWhole = false;

  constructor(private readonly limits: HeldLimits) {
    this.#cache = createStateCache<Value>({
      maximumEntries: Math.max(limits.heldWhole, limits.remembered, 1),
      onForgotten: () => {
        this.#isWhole = false;
      },
    });
  }

  isWhole(): boolean {
    return this.#isWhole;
  }

  /** @param found all documents of the partition, or more than are held whole */
  hold(found: readonly (readonly [string, Value])[]): void {
    this.#isWhole = found.length <= this.limits.heldWhole;
    if (!this.#isWhole) return;
    this.#cache.clear();
    for (const [key, value] of found) this.#cache.put(key, value);
  }

  /** What is under these keys; nothing is fetched of a collection that is held whole. */
  async lookUp(
    keys: readonly string[],
    fetch: (missing: string[]) => Promise<Iterable<readonly [string, Value]>>,
  ): Promise<(key: string) => Value | undefined> {
    if (this.#isWhole) return (key) => this.#cache.get(key) ?? undefined;
    const found = await this.#cache.load(keys, fetch);
    return (key) => found.get(key) ?? undefined;
  }

  /** Notes what was just stored; null: it was deleted. */
  put(key: string, value: Value | null): void {
    if (value === null && this.#isWhole) this.#cache.delete(key);
    else this.#cache.put(key, value);
  }

  forget(): void {
    this.#cache.clear();
    this.#isWhole = false;
  }
}
