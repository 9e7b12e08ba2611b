// The processes that may still write to a partition of the output, read from the output itself: pure.
//
// A process that opens a partition writes a claim to the output, fences the earlier owners, writes a second record that
// says that it has taken the partition, and writes events only after that. When another process has claimed the
// partition in between, it withdraws instead, because the other process may not have seen its claim. So a record
// written after a claim proves that all earlier owners are fenced.
import { headerText } from './codec.js';
import { positionsHeader } from './input-positions.js';
import type { FetchResult } from './kafka/partition-reader.js';

/** On a claim and on every position statement: the transactional id of the writer. */
export const ownerHeader = 'owner';
/** On the record that says that the earlier owners are fenced. */
export const takenHeader = 'taken';
/** On an owner's last record: it does not write again without a new claim. */
export const releasedHeader = 'released';
/** On the record of a process that claimed the partition and withdraws. */
export const withdrawnHeader = 'withdrawn';

export class OwnerReader {
  /** The owners that may still write, in the order of their claims. */
  #owners: string[] = [];
  #isSure = false;
  /** Owners that have released the partition in a transaction that is still open. */
  #leaving: { owner: string; offset: bigint }[] = [];

  /** Reads records in order, also those of open and aborted transactions, because their writers may continue. */
  take({ records, stableEnd }: Pick<FetchResult, 'records' | 'stableEnd'>): void {
    for (const { headers, offset } of records) {
      const owner = headerText(headers, ownerHeader);
      if (owner === undefined) continue;
      const has = (name: string) => headerText(headers, name) !== undefined;
      if (has(withdrawnHeader)) this.#owners = this.#owners.filter((one) => one !== owner);
      else if (has(positionsHeader) || has(takenHeader)) this.#wrote(owner);
      else this.#claimed(owner);
      // A process that has taken the partition may still withdraw, and another one may then own it.
      if (has(positionsHeader)) this.#isSure = true;
      if (has(releasedHeader)) this.#leaving.push({ owner, offset });
    }
    // An open transaction blocks readers of the output, so an owner that dies in it still has to be fenced.
    for (const { owner } of this.#leaving.filter(({ offset }) => offset < stableEnd)) this.#left(owner);
    this.#leaving = this.#leaving.filter(({ offset }) => offset >= stableEnd);
  }

  /** The owners that may still write and whose last claim precedes that of `owner`. */
  before(owner: string): readonly string[] {
    return this.#owners.slice(0, this.#owners.indexOf(owner));
  }

  /** The owners whose claim follows that of `owner` and that may not have seen it: `owner` withdraws for them. */
  after(owner: string): readonly string[] {
    return this.#owners.slice(this.#owners.indexOf(owner) + 1);
  }

  /** Whether the records before the first one read cannot name further owners. */
  isSure(): boolean {
    return this.#isSure;
  }

  #claimed(owner: string): void {
    this.#owners = [...this.#owners.filter((one) => one !== owner), owner];
    this.#leaving = this.#leaving.filter((one) => one.owner !== owner);
  }

  #wrote(owner: string): void {
    // An owner whose claim was not read claimed the partition before all owners whose claims were read.
    this.#owners = [owner, ...this.after(owner)];
  }

  #left(owner: string): void {
    this.#owners = this.#owners.filter((one) => one !== owner);
  }
}
