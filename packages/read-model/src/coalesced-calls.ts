// Coalesces the requests of all partition states of a process to one collection: one call of the driver serves many
// requests.
import type { Collection, Document } from 'mongodb';
import { mayBeOfOneDocument } from './errors.js';
import { createCoalescer, type alone } from './coalescer.js';
import { withLeaseChecks, withoutLease } from './lease.js';
import { keyOf } from './values.js';
import type { WriteLease } from './write-lease.js';

interface LeasedRequest<Item> {
  items: readonly Item[];
  lease: WriteLease | undefined;
}

/** A kind of call to a collection, with ids or documents as items. */
export interface CollectionCall<Item, Result> {
  /** Maximum number of items in one call. */
  maximumItems: number;
  /** Set when one call must not contain two items with the same id. */
  idOf?: (item: Item) => unknown;
  /**
   * @param collection refuses writes once the lease of a caller has ended
   * @returns the results in the order of the requests; `alone` for a request that must be sent again by itself
   */
  send: (
    collection: Collection,
    requests: readonly (readonly Item[])[],
  ) => Promise<readonly (Result | typeof alone)[]>;
}

/**
 * Creates a coalesced kind of call.
 * @returns a function that makes the call for some items, together with concurrent requests to the same collection
 */
export function coalescedCall<Item, Result>({
  maximumItems,
  idOf,
  send,
}: CollectionCall<Item, Result>): <Stored extends Document>(
  collection: Collection<Stored>,
  items: readonly Item[],
) => Promise<Result> {
  const coalescers = new WeakMap<object, (request: LeasedRequest<Item>) => Promise<Result>>();
  const coalescerOf = (collection: Collection) =>
    createCoalescer<LeasedRequest<Item>, Result>({
      sizeOf: ({ items }) => items.length,
      ...(idOf && { keysOf: ({ items }) => items.map((item) => keyOf(idOf(item))) }),
      maximumSize: maximumItems,
      permit: ({ lease }) => lease?.check(),
      send: (requests, check) =>
        send(
          withLeaseChecks(collection, { check }),
          requests.map(({ items }) => items),
        ),
      mayBeCausedByOne: mayBeOfOneDocument,
    });
  return async (given, items) => {
    const { collection, lease } = withoutLease(given);
    lease?.check();
    let coalescer = coalescers.get(collection);
    if (!coalescer) {
      coalescer = coalescerOf(collection as unknown as Collection);
      coalescers.set(collection, coalescer);
    }
    return coalescer({ items, lease });
  };
}
