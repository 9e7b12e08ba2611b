// Who may still write a partition of the output, as the output itself tells: pure.
//
// Whoever opens a partition claims it in a record of the output, fences who claimed it before, says in a second record that it
// has taken it, and writes only then. Where somebody else has claimed it in between it withdraws instead: the other one need
// not know of it. So a record that is written after a claim proves that all who claimed the partition before are fenced.
import { headerText } from './codec.js';
import { positionsHeader } from './input-positions.js';
import type { Fetched } from './kafka/partition-reader.js';

/** On a claim, and on every record that says how far the inputs are read: the transactional id of the writer. */
export const ownerHeader = 'owner';
/** On the record by which an owner says that all who claimed the partition before are fenced. */
export const takenHeader = 'taken';
/** On an owner's last record: it writes no more, unless it claims the partition anew. */
export const releasedHeader = 'released';
/** On the record of somebody who claimed the partition and does not take it. */
export const withdrawnHeader = 'withdrawn';

export class OwnerReader {
  /** In the order of their claims; any of them may still write. */
  #owners: string[] = [];
  #isSure = false;
  /** Owners whose last record is of a transaction that has not ended. */
  #leaving: { owner: string; offset: bigint }[] = [];

  /** Takes records in their order, also of transactions that are open or aborted: who wrote them may go on. */
  take({ records, stableEnd }: Pick<Fetched, 'records' | 'stableEnd'>): void {
    for (const { headers, offset } of records) {
      const owner = headerText(headers, ownerHeader);
      if (owner === undefined) continue;
      const has = (name: string) => headerText(headers, name) !== undefined;
      if (has(withdrawnHeader)) this.#owners = this.#owners.filter((one) => one !== owner);
      else if (has(positionsHeader) || has(takenHeader)) this.#wrote(owner);
      else this.#claimed(owner);
      // Who says that it has taken the partition may withdraw next, and another one may have it.
      if (has(positionsHeader)) this.#isSure = true;
      if (has(releasedHeader)) this.#leaving.push({ owner, offset });
    }
    // Its transaction would hold up whoever reads the output, so an owner that dies in it is fenced.
    for (const { owner } of this.#leaving.filter(({ offset }) => offset < stableEnd)) this.#left(owner);
    this.#leaving = this.#leaving.filter(({ offset }) => offset >= stableEnd);
  }

  /** Those who may still write and claimed the partition before this one did last. */
  before(owner: string): readonly string[] {
    return this.#owners.slice(0, this.#owners.indexOf(owner));
  }

  /** Those who claimed it after this one did last, and may not know of it: it withdraws for them. */
  after(owner: string): readonly string[] {
    return this.#owners.slice(this.#owners.indexOf(owner) + 1);
  }

  /** Whether what lies before the first record that was taken cannot add anybody. */
  isSure(): boolean {
    return this.#isSure;
  }

  #claimed(owner: string): void {
    this.#owners = [...this.#owners.filter((one) => one !== owner), owner];
    this.#leaving = this.#leaving.filter((one) => one.owner !== owner);
  }

  #wrote(owner: string): void {
    // One whose claim was not seen claimed before all whose claims were.
    this.#owners = [owner, ...this.after(owner)];
  }

  #left(owner: string): void {
    this.#owners = this.#owners.filter((one) => one !== owner);
  }
}
