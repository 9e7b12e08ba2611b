// Which events of an OU happened in which second, as one block of a partition's log has them: pure. One document names
// hundreds of events where each would have one of its own, and depends on nothing but the log.
import { Binary, bytesOf } from '@lead-scoring/read-model';
import { placeOf, readSecondKey, secondKey, type SecondPlace } from './keys.js';
import type { EventSecondDocument } from './documents.js';

/** Offsets that share documents: a later batch adds to those of the block at the log's end only. */
export const blockOffsets = 1_024;
/** A record with more events has documents of its own, so that none grows beyond a megabyte. */
const maximumShared = 32;

// An event within its document: millisecond, lead, offset within the block, index in the record, type.
const leadAt = 2;
const offsetAt = leadAt + 16;
const indexAt = offsetAt + 2;
const typeAt = indexAt + 2;
const entryBytes = typeAt + 2;
const firstEntries = 8;

/** Where the events of a record go, but for the second. */
export function blockOf(offset: number, events: number): Pick<SecondPlace, 'block' | 'part'> {
  return {
    block: Math.floor(offset / blockOffsets),
    part: events > maximumShared ? (offset % blockOffsets) + 1 : 0,
  };
}

/** A document being folded. */
export class SecondFold {
  private readonly types: Map<string, number>;
  private readonly counts: number[];
  private entries: Buffer;
  private length: number;
  /** The last record that is folded whole, and the one at hand. */
  private folded: number;
  private current: number;

  constructor(
    private readonly place: SecondPlace,
    stored: EventSecondDocument | null,
  ) {
    this.types = new Map(stored?.types.map((key, index) => [key, index]));
    this.counts = [...(stored?.counts ?? [])];
    this.entries = stored
      ? Buffer.from(bytesOf(stored.events))
      : Buffer.allocUnsafe(firstEntries * entryBytes);
    this.length = stored ? this.entries.length : 0;
    this.folded = this.current = stored?.offset ?? -1;
  }

  /**
   * Adds an event; one of a record that is folded already changes nothing. Records come in the order of the log.
   * @param leadBytes the lead's id
   * @returns whether it was added
   */
  add(typeKey: string, leadBytes: Uint8Array, offset: number, timestampMs: number, index: number): boolean {
    if (offset <= this.folded) return false;
    if (offset !== this.current) {
      this.folded = this.current;
      this.current = offset;
    }
    let type = this.types.get(typeKey);
    if (type === undefined) {
      type = this.types.size;
      this.types.set(typeKey, type);
      this.counts.push(0);
    }
    this.counts[type] = (this.counts[type] ?? 0) + 1;
    if (this.length + entryBytes > this.entries.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.entries.length, firstEntries * entryBytes));
      this.entries.copy(larger, 0, 0, this.length);
      this.entries = larger;
    }
    this.entries.writeUInt16BE(timestampMs - this.place.second * 1_000, this.length);
    this.entries.set(leadBytes, this.length + leadAt);
    this.entries.writeUInt16BE(offset % blockOffsets, this.length + offsetAt);
    this.entries.writeUInt16BE(index, this.length + indexAt);
    this.entries.writeUInt16BE(type, this.length + typeAt);
    this.length += entryBytes;
    return true;
  }

  /**
   * Takes the events of a lead out that was deleted at an offset; a deletion that is folded already changes nothing.
   * @returns whether any was taken out
   */
  removeLead(leadBytes: Uint8Array, offset: number): boolean {
    if (offset <= this.current) return false;
    const kept = Buffer.allocUnsafe(this.length);
    let length = 0;
    for (let at = 0; at < this.length; at += entryBytes) {
      if (Buffer.compare(this.entries.subarray(at + leadAt, at + offsetAt), leadBytes) === 0) {
        const type = this.entries.readUInt16BE(at + typeAt);
        this.counts[type] = (this.counts[type] ?? 0) - 1;
      } else length += this.entries.copy(kept, length, at, at + entryBytes);
    }
    if (length === this.length) return false;
    this.entries = kept;
    this.length = length;
    this.folded = this.current = offset;
    return true;
  }

  document(): EventSecondDocument {
    return {
      _id: secondKey(this.place),
      count: this.length / entryBytes,
      types: [...this.types.keys()],
      counts: [...this.counts],
      events: new Binary(this.entries.subarray(0, this.length), 0),
      partition: this.place.partition,
      offset: this.current,
    };
  }
}

/** How many events of a type, or of all (null), a document names. */
export function countIn({ count, types, counts }: EventSecondDocument, typeKey: string | null): number {
  return typeKey === null ? count : (counts[types.indexOf(typeKey)] ?? 0);
}

/**
 * The newest events that documents of an OU name, newest first: their places in the order of time.
 * @param wanted no more than so many
 */
export function newestPlaces(
  ouId: string,
  documents: readonly EventSecondDocument[],
  matches: { typeKey: string | null; fromMs: number; toMs: number; before: Uint8Array | null },
  wanted: number,
): Buffer[] {
  const found: { timeMs: number; entries: Buffer; at: number; block: number }[] = [];
  for (const document of documents) {
    const type = matches.typeKey === null ? null : document.types.indexOf(matches.typeKey);
    if (type === -1) continue;
    const { second, block } = readSecondKey(document._id);
    const entries = bytesOf(document.events);
    for (let at = 0; at < entries.length; at += entryBytes) {
      if (type !== null && entries.readUInt16BE(at + typeAt) !== type) continue;
      const timeMs = second * 1_000 + entries.readUInt16BE(at);
      if (timeMs >= matches.fromMs && timeMs < matches.toMs) found.push({ timeMs, entries, at, block });
    }
  }
  // Few of them are wanted: only those are written out and compared in full.
  found.sort((left, right) => right.timeMs - left.timeMs);
  const { before } = matches;
  const places: Buffer[] = [];
  let last = Infinity;
  for (const { timeMs, entries, at, block } of found) {
    if (places.length >= wanted && timeMs < last) break;
    last = timeMs;
    const place = bytesOf(
      placeOf(ouId, {
        leadBytes: entries.subarray(at + leadAt, at + offsetAt),
        offset: block * blockOffsets + entries.readUInt16BE(at + offsetAt),
        timestampMs: timeMs,
        index: entries.readUInt16BE(at + indexAt),
      }),
    );
    if (!before || Buffer.compare(place, before) < 0) places.push(place);
  }
  return places.sort((left, right) => Buffer.compare(right, left)).slice(0, wanted);
}
