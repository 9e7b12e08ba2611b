// A set of many UUIDs in one block of memory, of at most 64 bytes each: a set of their texts would take as much for the text alone, and give
// the garbage collector an object for each.
import { uuidBytes } from './ordered-keys.js';

const wordsInUuid = 4;
const firstSlots = 1_024;

export class UuidSet {
  /** Four words for each slot; those of a free one are 0. At most half of the slots are taken. */
  #words = new Uint32Array(firstSlots * wordsInUuid);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /**
   * Adds the UUID that begins at a place.
   * @throws RangeError for the UUID of zeros
   */
  add(bytes: Buffer, place: number): void {
    const uuid = wordsAt(bytes, place);
    if (uuid.every((word) => word === 0)) throw new RangeError('the UUID of zeros cannot be in a set');
    if (this.#size * 2 >= this.#words.length / wordsInUuid) this.#grow();
    this.#insert(uuid);
  }

  has(bytes: Buffer, place: number): boolean {
    return this.#isTaken(this.#slotOf(wordsAt(bytes, place)));
  }

  /** The slot of a UUID: the one that has it, or the free one that it would be put in. */
  #slotOf(uuid: readonly number[]): number {
    const slots = this.#words.length / wordsInUuid;
    let slot = ((uuid[0] ?? 0) ^ (uuid[3] ?? 0)) & (slots - 1);
    while (this.#isTaken(slot) && !this.#holds(slot, uuid)) slot = (slot + 1) & (slots - 1);
    return slot;
  }

  #holds(slot: number, uuid: readonly number[]): boolean {
    return uuid.every((word, index) => this.#words[slot * wordsInUuid + index] === word);
  }

  #isTaken(slot: number): boolean {
    const at = slot * wordsInUuid;
    const words = this.#words;
    return words[at] !== 0 || words[at + 1] !== 0 || words[at + 2] !== 0 || words[at + 3] !== 0;
  }

  #insert(uuid: readonly number[]): void {
    const slot = this.#slotOf(uuid);
    if (this.#isTaken(slot)) return;
    this.#words.set(uuid, slot * wordsInUuid);
    this.#size += 1;
  }

  #grow(): void {
    const before = this.#words;
    this.#words = new Uint32Array(before.length * 2);
    this.#size = 0;
    for (let at = 0; at < before.length; at += wordsInUuid) {
      const uuid = [...before.subarray(at, at + wordsInUuid)];
      if (uuid.some((word) => word !== 0)) this.#insert(uuid);
    }
  }
}

function wordsAt(bytes: Buffer, place: number): readonly number[] {
  if (place + uuidBytes > bytes.length) throw new RangeError('there is no UUID at this place');
  return [0, 4, 8, 12].map((offset) => bytes.readUInt32BE(place + offset));
}
