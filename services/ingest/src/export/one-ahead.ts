// Lets the database and this process work at the same time.
import { Readable } from 'node:stream';

/** The same items; the next one is read while one is used. */
export function oneAhead<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> {
  return Readable.from(items, { highWaterMark: 1 }) as AsyncIterable<Item>;
}
