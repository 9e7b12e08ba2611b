// The requests of all partition states of a process for one collection, gathered: one call of the driver for many of them.
import type { Collection, Document } from 'mongodb';
import { mayBeOfOneDocument } from './errors.js';
import { createGathering, type alone } from './gathering.js';
import { checked, withoutLease } from './lease.js';
import { keyOf } from './values.js';
import type { WriteLease } from './write-lease.js';

interface Leased<Item> {
  items: readonly Item[];
  lease: WriteLease | undefined;
}

/** What is asked of a collection: by ids, or with documents. */
export interface CollectionCall<Item, Result> {
  /** Items in one call. */
  maximumItems: number;
  /** Where one call must not have two items with the same id. */
  idOf?: (item: Item) => unknown;
  /**
   * @param collection refuses to write once a caller may not write any more
   * @returns the results in the order of the requests; `alone` where one of several is to be sent again by itself
   */
  send: (
    collection: Collection,
    requests: readonly (readonly Item[])[],
  ) => Promise<readonly (Result | typeof alone)[]>;
}

/**
 * A kind of call that is gathered, collection by collection.
 * @returns calls it for some items, together with what others ask of the same collection
 */
export function gatheredCall<Item, Result>({
  maximumItems,
  idOf,
  send,
}: CollectionCall<Item, Result>): <Stored extends Document>(
  collection: Collection<Stored>,
  items: readonly Item[],
) => Promise<Result> {
  const gatherings = new WeakMap<object, (request: Leased<Item>) => Promise<Result>>();
  const gatheringOf = (collection: Collection) =>
    createGathering<Leased<Item>, Result>({
      sizeOf: ({ items }) => items.length,
      ...(idOf && { keysOf: ({ items }) => items.map((item) => keyOf(idOf(item))) }),
      maximumSize: maximumItems,
      permit: ({ lease }) => lease?.check(),
      send: (requests, check) =>
        send(
          checked(collection, { check }),
          requests.map(({ items }) => items),
        ),
      mayBeOfOne: mayBeOfOneDocument,
    });
  return async (given, items) => {
    const { collection, lease } = withoutLease(given);
    lease?.check();
    let gathering = gatherings.get(collection);
    if (!gathering) {
      gathering = gatheringOf(collection as unknown as Collection);
      gatherings.set(collection, gathering);
    }
    return gathering({ items, lease });
  };
}
