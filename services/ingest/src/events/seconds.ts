// Documents with the events of an OU in one second, from one block of a partition's log. Pure. One document lists hundreds of events
// in place of a document for each event, and depends only on the log.
import { Binary, bytesOf, UuidMap } from '@lead-scoring/read-model';
import { placeOf, readSecondKey, secondKey, type SecondPlace } from './keys.js';
import type { EventSecondDocument } from './documents.js';

/** The number of offsets in a block. Records of a block share documents; later batches add only to the block at the log's end. */
export const blockOffsets = 1_024;
/** A record with more events has documents of its own, so that no document grows beyond 1 MB. */
const maximumShared = 32;

// The layout of an event in its document: millisecond, lead, offset within the block, index in the record, type.
const leadAt = 2;
const offsetAt = leadAt + 16;
const indexAt = offsetAt + 2;
const typeAt = indexAt + 2;
const entryBytes = typeAt + 2;
const firstEntries = 8;

/** The block and part of the documents for the events of a record. */
export function blockOf(offset: number, events: number): Pick<SecondPlace, 'block' | 'part'> {
  return {
    block: Math.floor(offset / blockOffsets),
    part: events > maximumShared ? (offset % blockOffsets) + 1 : 0,
  };
}

/** Folds events into one document. */
export class SecondFold {
  private types: Map<string, number>;
  private counts: number[];
  private entries: Buffer;
  private length: number;
  /** The offsets of the last completely folded record, and of the record that is being folded. */
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
   * Adds an event, unless its record is folded already. Records come in the order of the log.
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
   * Removes the events of deleted leads in one pass; deletions that are folded already change nothing.
   * @param deleted the offset of each lead's deletion, by lead
   * @returns whether any event was removed
   */
  removeLeads(deleted: ReadonlyMap<string, number>): boolean {
    const later = [...deleted].filter(([, offset]) => offset > this.current);
    if (later.length === 0) return false;
    const leads = new UuidMap(later);
    let last = this.current;
    const document = this.document();
    const left = documentOf(document, (entries, at) => {
      const offset = leads.at(entries, at + leadAt);
      if (offset === undefined) return true;
      last = Math.max(last, offset);
      return false;
    });
    return this.keep(left, document, last);
  }

  /**
   * Removes the events of a type in records before an offset, by a record at another offset, unless that is folded already.
   * @returns the records of the removed events
   */
  removeType(typeKey: string, before: number, offset: number): RemovedPlace[] {
    if (offset <= this.current) return [];
    const document = this.document();
    const left = withoutTypes(document, (key) => (key === typeKey ? before : 0));
    if (!this.keep(left, document, offset)) return [];
    return placesOfType(document, typeKey).filter((place) => place.offset < before);
  }

  /** @returns whether the document has fewer events than before */
  private keep(left: EventSecondDocument, before: EventSecondDocument, offset: number): boolean {
    if (left === before) return false;
    this.types = new Map(left.types.map((key, index) => [key, index]));
    this.counts = left.counts;
    this.entries = Buffer.from(bytesOf(left.events));
    this.length = this.entries.length;
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

/** The record of an event. */
export interface RemovedPlace {
  /** The lead's id. */
  readonly leadBytes: Buffer;
  readonly offset: number;
}

/** The records of a document's events of a type; one with several of them is named several times. */
export function placesOfType(document: EventSecondDocument, typeKey: string): RemovedPlace[] {
  const type = document.types.indexOf(typeKey);
  const first = readSecondKey(document._id).block * blockOffsets;
  const entries = bytesOf(document.events);
  const places: RemovedPlace[] = [];
  for (let at = 0; at < entries.length; at += entryBytes)
    if (entries.readUInt16BE(at + typeAt) === type)
      places.push({
        leadBytes: Buffer.from(entries.subarray(at + leadAt, at + offsetAt)),
        offset: first + entries.readUInt16BE(at + offsetAt),
      });
  return places;
}

/**
 * The document without events of some types; the same one where it has none of them.
 * @param beforeOf the offset, by type, before which the records of the left out events are; 0: none are left out
 */
export function withoutTypes(
  document: EventSecondDocument,
  beforeOf: (typeKey: string) => number,
): EventSecondDocument {
  const first = readSecondKey(document._id).block * blockOffsets;
  const ends = document.types.map((key) => beforeOf(key) - first);
  if (ends.every((end) => end <= 0)) return document;
  return documentOf(
    document,
    (entries, at) => entries.readUInt16BE(at + offsetAt) >= (ends[entries.readUInt16BE(at + typeAt)] ?? 0),
  );
}

/**
 * The document with the kept events only; the same document when all are kept. Types are numbered in the order of the kept events, so
 * that a rebuild from a log without the other events gives the same document.
 * @param isKept called with the entries, and the place among them at which an event begins
 */
function documentOf(
  document: EventSecondDocument,
  isKept: (entries: Buffer, at: number) => boolean,
): EventSecondDocument {
  const entries = bytesOf(document.events);
  const kept = Buffer.allocUnsafe(entries.length);
  const numbers = new Map<number, number>();
  const counts: number[] = [];
  let length = 0;
  for (let at = 0; at < entries.length; at += entryBytes) {
    if (!isKept(entries, at)) continue;
    const type = entries.readUInt16BE(at + typeAt);
    const number = numbers.get(type) ?? numbers.size;
    numbers.set(type, number);
    counts[number] = (counts[number] ?? 0) + 1;
    entries.copy(kept, length, at, at + entryBytes);
    kept.writeUInt16BE(number, length + typeAt);
    length += entryBytes;
  }
  if (length === entries.length) return document;
  return {
    ...document,
    count: length / entryBytes,
    types: [...numbers.keys()].map((type) => document.types[type] ?? ''),
    counts,
    events: new Binary(kept.subarray(0, length), 0),
  };
}

/** The number of events in a document, of one type or (null) of all. */
export function countIn({ count, types, counts }: EventSecondDocument, typeKey: string | null): number {
  return typeKey === null ? count : (counts[types.indexOf(typeKey)] ?? 0);
}

/** Calls `visit` for each event of a document, with the key of its type, its time, and 16 characters that tell its lead from others. */
export function visitEvents(
  document: EventSecondDocument,
  visit: (typeKey: string, timeMs: number, lead: string) => void,
): void {
  const startMs = readSecondKey(document._id).second * 1_000;
  const entries = bytesOf(document.events);
  for (let at = 0; at < entries.length; at += entryBytes)
    visit(
      document.types[entries.readUInt16BE(at + typeAt)] ?? '',
      startMs + entries.readUInt16BE(at),
      entries.toString('latin1', at + leadAt, at + offsetAt),
    );
}

/**
 * The places of the newest events in documents of an OU, newest first.
 * @param wanted the most places to return
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
  // Only the few wanted events get a place, which is compared completely.
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
