// What partitions send each other, for tests: it waits until it is delivered, as records on a topic do.
import { expect } from '@jest/globals';

/** Records on their ways: those of one way arrive in their order. */
export class Ways<Item> {
  readonly #waiting = new Map<string, Item[]>();

  send(way: string, item: Item): void {
    this.#waiting.set(way, [...(this.#waiting.get(way) ?? []), item]);
  }

  takeWhile(way: string, takes: (item: Item) => boolean): Item[] {
    const waiting = this.#waiting.get(way) ?? [];
    const end = waiting.findIndex((item) => !takes(item));
    const taken = waiting.splice(0, end < 0 ? Infinity : end);
    if (waiting.length === 0) this.#waiting.delete(way);
    return taken;
  }

  /** @param count at most */
  take(way: string, count = Infinity): Item[] {
    let left = count;
    return this.takeWhile(way, () => (left -= 1) >= 0);
  }

  /** The number of records on each way that has any. */
  counts(): Map<string, number> {
    return new Map([...this.#waiting].map(([way, items]) => [way, items.length]));
  }

  names(): string[] {
    return [...this.#waiting.keys()];
  }
}

/** The record can be written: its payload is what the topic takes. */
export function check({ error }: { error?: unknown }): void {
  expect(error).toBeUndefined();
}
