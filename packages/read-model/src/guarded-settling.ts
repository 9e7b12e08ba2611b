// The algorithm of guarded writing, independent of the database: insert absent documents, replace older ones, leave the
// rest.
import { ReadModelError } from './errors.js';
import { inLockingOrder, inOrderOfKeys, keyOf } from './values.js';

/** The fields of every guarded document besides its own. */
export interface GuardedDocument {
  _id: unknown;
  /** The partition that owns the document. */
  partition: number;
  /** Offset of the last own event folded into the document: the guard. */
  offset: number;
}

export interface GuardedWriteResult {
  /** The number of documents that were absent before. */
  inserted: number;
  /** The number of documents that existed: replaced if older, otherwise unchanged. */
  found: number;
}

/**
 * The operations of a store. The change of each document is atomic; a call as a whole need not be. Documents are passed in
 * locking order.
 */
export interface GuardedStore<Stored extends GuardedDocument> {
  /** Inserts documents. @returns those whose id was taken, which are unchanged */
  insert(documents: readonly Stored[]): Promise<readonly Stored[]>;
  /**
   * Replaces each document whose stored offset is lower.
   * @returns the number of documents now known to be stored at their offset or beyond: the replaced ones, and possibly
   * others that were not older (some engines count these too); never absent or older ones
   */
  replace(documents: readonly Stored[]): Promise<number>;
  /** The stored offsets by `keyOf(_id)`; absent documents are omitted. */
  offsets(documents: readonly Stored[]): Promise<ReadonlyMap<string, number>>;
}

const maximumRounds = 6;

/**
 * Brings every document to at least its offset, with concurrent writers.
 * @throws ReadModelError `write_not_settled` when documents are repeatedly neither found nor inserted
 */
export async function settle<Stored extends GuardedDocument>(
  store: GuardedStore<Stored>,
  documents: readonly Stored[],
  isNew: (document: Stored) => boolean,
): Promise<GuardedWriteResult> {
  const wanted = newestOfEach(documents);
  let inserted = 0;
  let absent = wanted.filter((document) => isNew(document));
  let present = wanted.filter((document) => !isNew(document));
  // An absent document becomes present when another writer inserted it first; a present one becomes absent when it was
  // not found. Only a reset of the partition deletes documents, so two rounds suffice; the bound guards against a loop.
  for (let round = 1; absent.length + present.length > 0; round += 1) {
    if (round > maximumRounds)
      throw new ReadModelError(
        'write_not_settled',
        `${String(absent.length + present.length)} documents were neither found nor inserted`,
        true,
      );
    const taken = absent.length > 0 ? await store.insert(absent) : [];
    inserted += absent.length - taken.length;
    if (taken.length > 0) present = inLockingOrder([...present, ...taken]);
    if (present.length === 0) break;
    if ((await store.replace(present)) === present.length) break;
    const offsets = await store.offsets(present);
    const offsetOf = (document: Stored) => offsets.get(keyOf(document._id));
    absent = present.filter((document) => offsetOf(document) === undefined);
    present = present.filter((document) => (offsetOf(document) ?? Infinity) < document.offset);
  }
  return { inserted, found: wanted.length - inserted };
}

/** The newest document of each id: the highest offset, the last of equal ones; in locking order. */
function newestOfEach<Stored extends GuardedDocument>(documents: readonly Stored[]): Stored[] {
  const newest = new Map<string, Stored>();
  for (const document of documents) {
    const key = keyOf(document._id);
    const known = newest.get(key);
    if (!known || known.offset <= document.offset) newest.set(key, document);
  }
  return inOrderOfKeys([...newest]);
}
