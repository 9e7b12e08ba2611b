// The slots of a block in which terms occur, packed into bytes: pure. A bucket has the terms whose hashes end in the same bits.

/** Slots of a block by term; the slots of a term are in ascending order. */
export type Postings = Map<number, number[]>;

export const bucketCount = 256;

export function bucketOf(term: number): number {
  return term % bucketCount;
}

/** Terms in more slots than this are packed as a bitmap. */
const listedSlots = 256;
const headBytes = 6;

/** The postings of a block in their buckets. @param termsOfSlots the terms of the text in each slot, by slot */
export function bucketsOf(termsOfSlots: Iterable<ReadonlySet<number>>): Map<number, Postings> {
  const buckets = new Map<number, Postings>();
  let slot = 0;
  for (const terms of termsOfSlots) {
    for (const term of terms) {
      const bucket = bucketOf(term);
      let postings = buckets.get(bucket);
      if (!postings) buckets.set(bucket, (postings = new Map()));
      const slots = postings.get(term);
      if (slots) slots.push(slot);
      else postings.set(term, [slot]);
    }
    slot += 1;
  }
  return buckets;
}

/** Each term in ascending order: the term, the number of slots, the slots. @param slotsOfBlock the number of slots in a block */
export function packPostings(postings: Postings, slotsOfBlock: number): Buffer {
  const parts: Buffer[] = [];
  for (const [term, slots] of [...postings].sort(([left], [right]) => left - right)) {
    const head = Buffer.alloc(headBytes);
    head.writeUInt32BE(term);
    head.writeUInt16BE(slots.length, 4);
    parts.push(head, slots.length > listedSlots ? bitmapOf(slots, slotsOfBlock) : listOf(slots));
  }
  return Buffer.concat(parts);
}

function listOf(slots: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(2 * slots.length);
  for (const [index, slot] of slots.entries()) bytes.writeUInt16BE(slot, 2 * index);
  return bytes;
}

function bitmapOf(slots: readonly number[], slotsOfBlock: number): Buffer {
  const bytes = Buffer.alloc(slotsOfBlock / 8);
  for (const slot of slots) bytes[slot >> 3] = (bytes[slot >> 3] ?? 0) | (1 << (slot & 7));
  return bytes;
}

export function unpackPostings(bytes: Buffer, slotsOfBlock: number): Postings {
  const postings: Postings = new Map();
  for (const { term, slots } of packedTerms(bytes, slotsOfBlock)) postings.set(term, slots.all());
  return postings;
}

/** The slots of a term as they are packed: a search asks for few of them. */
export interface PackedSlots {
  readonly count: number;
  has(slot: number): boolean;
  all(): number[];
}

/** The slots of one term; null if it is in none. */
export function slotsOf(bytes: Buffer, term: number, slotsOfBlock: number): PackedSlots | null {
  for (const one of packedTerms(bytes, slotsOfBlock)) if (one.term === term) return one.slots;
  return null;
}

function* packedTerms(
  bytes: Buffer,
  slotsOfBlock: number,
): Generator<{ readonly term: number; readonly slots: PackedSlots }> {
  for (let at = 0; at < bytes.length;) {
    const count = bytes.readUInt16BE(at + 4);
    const from = at + headBytes;
    const to = from + (count > listedSlots ? slotsOfBlock / 8 : 2 * count);
    const packed = bytes.subarray(from, to);
    yield {
      term: bytes.readUInt32BE(at),
      slots: count > listedSlots ? inBitmap(packed, count) : inList(packed, count),
    };
    at = to;
  }
}

function inList(packed: Buffer, count: number): PackedSlots {
  const slotAt = (index: number) => packed.readUInt16BE(2 * index);
  return {
    count,
    has: (slot) => {
      let [low, high] = [0, count];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (slotAt(middle) < slot) low = middle + 1;
        else high = middle;
      }
      return low < count && slotAt(low) === slot;
    },
    all: () => Array.from({ length: count }, (_, index) => slotAt(index)),
  };
}

function inBitmap(packed: Buffer, count: number): PackedSlots {
  return {
    count,
    has: (slot) => ((packed[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0,
    all: () => slotsInBitmap(packed),
  };
}

function slotsInBitmap(bytes: Buffer): number[] {
  const slots: number[] = [];
  for (const [index, byte] of bytes.entries())
    for (let bit = 0; bit < 8; bit += 1) if (byte & (1 << bit)) slots.push(8 * index + bit);
  return slots;
}

/** The postings without some slots of some terms; a term without slots is absent. */
export function withoutSlots(
  postings: Postings,
  removed: Iterable<{ readonly term: number; readonly slot: number }>,
): Postings {
  const left = new Map(postings);
  for (const { term, slot } of removed) {
    const slots = left.get(term)?.filter((one) => one !== slot) ?? [];
    if (slots.length > 0) left.set(term, slots);
    else left.delete(term);
  }
  return left;
}

/** The slots that all terms are in. @param terms null: a term that is in none */
export function commonSlots(terms: readonly (PackedSlots | null)[]): number[] {
  const [fewest, ...others] = terms
    .filter((slots) => slots !== null)
    .sort((left, right) => left.count - right.count);
  if (!fewest || others.length < terms.length - 1) return [];
  return fewest.all().filter((slot) => others.every((slots) => slots.has(slot)));
}
