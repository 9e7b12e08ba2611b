// States that were not used for a while, as JSON text: the garbage collector looks at one object in place of some twenty, and a collection
// of a process with many states in memory is so much shorter.
import type { LRUCache } from 'lru-cache';
import { createBoundedCache } from './bounded-cache.js';

export class StatesAtRest<State extends object> {
  readonly #texts: LRUCache<string, string>;

  constructor(maximum: number) {
    this.#texts = createBoundedCache({ maximumEntries: maximum });
  }

  /** @param state null: there is none */
  put(key: string, state: State | null): void {
    this.#texts.set(key, JSON.stringify(state));
  }

  /** Takes a state out: null where there is none, undefined where it is not known. */
  take(key: string): State | null | undefined {
    const text = this.#texts.get(key);
    if (text === undefined) return undefined;
    this.#texts.delete(key);
    return JSON.parse(text) as State | null;
  }

  delete(key: string): void {
    this.#texts.delete(key);
  }

  clear(): void {
    this.#texts.clear();
  }
}
