// The rule of guarded writing, apart from any database: insert what is absent, replace what is older, leave the rest.
import { ReadModelError } from './errors.js';
import { inLockingOrder, keyOf } from './values.js';

/** What every guarded document carries besides its own fields. */
export interface GuardedDocument {
  _id: unknown;
  /** The partition that owns the document. */
  partition: number;
  /** Offset of the last own event folded into the document: the guard. */
  offset: number;
}

export interface GuardedWriteResult {
  /** Documents that were not there before. */
  inserted: number;
  /** Documents that were there: replaced if they were older, left if not. */
  found: number;
}

/** What a store must be able to do; each document's change is atomic, a call as a whole need not be. */
export interface GuardedStore<Stored extends GuardedDocument> {
  /** Inserts; @returns those whose id was taken, which are left as they were. */
  insert(documents: readonly Stored[]): Promise<readonly Stored[]>;
  /**
   * Replaces each where the stored offset is lower.
   * @returns how many are now known to be stored at their offset or beyond: those replaced, and perhaps others that
   *   were found not to be older (some engines count these as well); never one that is absent or older
   */
  replace(documents: readonly Stored[]): Promise<number>;
  /** The stored offsets by `keyOf(_id)`; absent documents are missing. */
  offsets(documents: readonly Stored[]): Promise<ReadonlyMap<string, number>>;
}

const maximumRounds = 6;

/**
 * Brings every document to at least its offset. Others may write at the same time, before, between and after.
 * @throws ReadModelError `write_not_settled` when documents are neither found nor inserted, again and again
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
  // Absent turns present when somebody else inserted first, present turns absent when nothing was found. Documents
  // are not deleted but by the partition's reset, so this settles in two rounds; the bound is for what cannot be.
  for (let round = 1; absent.length + present.length > 0; round += 1) {
    if (round > maximumRounds)
      throw new ReadModelError(
        'write_not_settled',
        `${String(absent.length + present.length)} documents were neither found nor inserted`,
        true,
      );
    const taken = absent.length > 0 ? await store.insert(absent) : [];
    inserted += absent.length - taken.length;
    present = [...present, ...taken];
    if (present.length === 0) break;
    if ((await store.replace(present)) === present.length) break;
    const offsets = await store.offsets(present);
    const offsetOf = (document: Stored) => offsets.get(keyOf(document._id));
    absent = present.filter((document) => offsetOf(document) === undefined);
    present = present.filter((document) => (offsetOf(document) ?? Infinity) < document.offset);
  }
  return { inserted, found: wanted.length - inserted };
}

/** Of several documents with one id the one with the highest offset, of equal ones the last; in locking order. */
function newestOfEach<Stored extends GuardedDocument>(documents: readonly Stored[]): Stored[] {
  const newest = new Map<string, Stored>();
  for (const document of documents) {
    const key = keyOf(document._id);
    const known = newest.get(key);
    if (!known || known.offset <= document.offset) newest.set(key, document);
  }
  return inLockingOrder([...newest.values()]);
}
