// Documents of one collection and partition in memory: all of them where they are few, otherwise those that were looked up
// last.
import { createStateCache, type StateCache } from '@lead-scoring/read-model';

export interface HeldLimits {
  /** Up to how many documents all are kept in memory, so that no batch reads any. */
  heldWhole: number;
  /** How many look-ups are remembered, those that found nothing included. */
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
