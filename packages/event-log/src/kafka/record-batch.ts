// Encodes and decodes Kafka's record batches (message format 2) without an object or a copy for each field: first the
// sizes, then everything is written in place into one buffer. https://kafka.apache.org/documentation/#recordbatch
import { crc32c } from '@node-rs/crc32';
import { decompress } from './compression.js';

type HeaderToWrite = string | Buffer | null | undefined;

/** A record to write. */
export interface RecordToWrite {
  key?: string | Buffer | null;
  value: string | Buffer | null;
  /** An array repeats the header; undefined omits it. */
  headers?: Readonly<Record<string, HeaderToWrite | readonly HeaderToWrite[]>>;
  /** Milliseconds since 1970. Default: the lowest timestamp given in the batch, or the current time. */
  timestamp?: number;
}

/** The attributes of a whole batch. */
export interface BatchAttributes {
  producerId: number | string | bigint;
  producerEpoch: number;
  firstSequence: number;
  transactional: boolean;
}

/** A record as stored on the log. */
export interface RawRecord {
  offset: bigint;
  /** Milliseconds since 1970. */
  timestamp: number;
  key: Buffer | null;
  value: Buffer | null;
  headers: Record<string, HeaderValue>;
}

export type HeaderValue = Buffer | null | (Buffer | null)[] | undefined;

/** A batch as it was fetched. */
export interface FetchedBatch {
  firstOffset: bigint;
  lastOffset: bigint;
  producerId: bigint;
  producerEpoch: number;
  inTransaction: boolean;
  /** The batch holds control records: a transaction's commit or abort marker. */
  isControl: boolean;
  records: RawRecord[];
}

const codecMask = 0x07;
const logAppendTimeFlag = 0x08;
const transactionalFlag = 0x10;
const controlFlag = 0x20;

/** Bytes of a batch before its first record, and before the part that the checksum covers. */
const batchHeadBytes = 61;
const beforeChecksummed = 21;
/** Bytes of the base offset and the length field, which the length does not count. */
const beforeCounted = 12;

// Sizes

/** Texts up to this length are processed faster in JavaScript than by the runtime. */
const shortText = 48;

function textBytes(text: string): number {
  if (text.length > shortText) return Buffer.byteLength(text);
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}

/** Bytes of a non-negative integer up to 2^53 as a zigzag varint. */
function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value * 2; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

function lengthOf(value: string | Buffer): number {
  return typeof value === 'string' ? textBytes(value) : value.length;
}

/** Bytes of a nullable field with its length prefix. */
function fieldBytes(value: string | Buffer | null | undefined): number {
  if (value === null || value === undefined) return 1;
  const length = lengthOf(value);
  return varintBytes(length) + length;
}

function contentBytes({ key, value, headers }: RecordToWrite): number {
  let bytes = fieldBytes(key) + fieldBytes(value);
  let count = 0;
  for (const name in headers) {
    const held = headers[name];
    if (Array.isArray(held)) {
      for (const one of held as readonly HeaderToWrite[]) {
        if (one === undefined) continue;
        bytes += fieldBytes(name) + fieldBytes(one);
        count++;
      }
    } else if (held !== undefined) {
      bytes += fieldBytes(name) + fieldBytes(held as HeaderToWrite);
      count++;
    }
  }
  return bytes + varintBytes(count);
}

/** The maximum size of a record in a batch. */
export function recordBytes(record: RecordToWrite): number {
  // Plus its length, its attributes, and the deltas to the batch's first timestamp and offset.
  return contentBytes(record) + 5 + 1 + 8 + 5;
}

// Writing

/** Clamps timestamps outside the range of Date, which only other producers write, so that their deltas stay exact. */
function calendarTime(timestamp: number): number {
  return Math.max(-calendarEnd, Math.min(calendarEnd, timestamp));
}

const calendarEnd = 8.64e15;

/** A batch whose size is known before it is written. */
export interface SizedBatch {
  bytes: number;
  /** Writes the batch into the buffer from `start` on. */
  writeTo(buffer: Buffer, start: number): void;
}

/** Computes the size of a batch of at least one record. */
export function sizeBatch(records: readonly RecordToWrite[], attributes: BatchAttributes): SizedBatch {
  let firstTimestamp = Infinity;
  let maxTimestamp = -Infinity;
  for (const record of records) {
    if (record.timestamp === undefined) continue;
    const timestamp = calendarTime(record.timestamp);
    if (timestamp < firstTimestamp) firstTimestamp = timestamp;
    if (timestamp > maxTimestamp) maxTimestamp = timestamp;
  }
  if (firstTimestamp === Infinity) firstTimestamp = maxTimestamp = Date.now();
  const bodies = new Float64Array(records.length);
  let bytes = batchHeadBytes;
  for (const [index, record] of records.entries()) {
    const delta = calendarTime(record.timestamp ?? firstTimestamp) - firstTimestamp;
    const body = 1 + varintBytes(delta) + varintBytes(index) + contentBytes(record);
    bodies[index] = body;
    bytes += varintBytes(body) + body;
  }
  return {
    bytes,
    writeTo(buffer, start) {
      buffer.writeBigInt64BE(0n, start);
      buffer.writeInt32BE(bytes - beforeCounted, start + 8);
      buffer.writeInt32BE(0, start + 12);
      buffer[start + 16] = 2;
      buffer.writeInt16BE(attributes.transactional ? transactionalFlag : 0, start + 21);
      buffer.writeInt32BE(records.length - 1, start + 23);
      buffer.writeBigInt64BE(BigInt(firstTimestamp), start + 27);
      buffer.writeBigInt64BE(BigInt(maxTimestamp), start + 35);
      buffer.writeBigInt64BE(BigInt(attributes.producerId), start + 43);
      buffer.writeInt16BE(attributes.producerEpoch, start + 51);
      buffer.writeInt32BE(attributes.firstSequence, start + 53);
      buffer.writeInt32BE(records.length, start + 57);
      let at = start + batchHeadBytes;
      for (const [index, record] of records.entries()) {
        at = writeVarint(buffer, at, bodies[index] ?? 0);
        buffer[at++] = 0;
        at = writeVarint(buffer, at, calendarTime(record.timestamp ?? firstTimestamp) - firstTimestamp);
        at = writeVarint(buffer, at, index);
        at = writeField(buffer, at, record.key);
        at = writeField(buffer, at, record.value);
        at = writeHeaders(buffer, at, record.headers);
      }
      if (at !== start + bytes) throw new Error(`a batch of ${bytes} computed bytes took ${at - start}`);
      buffer.writeUInt32BE(crc32c(buffer.subarray(start + beforeChecksummed, at)), start + 17);
    },
  };
}

/** Writes a non-negative integer up to 2^53 as a zigzag varint; returns the end. */
function writeVarint(buffer: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value * 2;
  for (; rest >= 128; rest = Math.floor(rest / 128)) buffer[at++] = (rest % 128) | 0x80;
  buffer[at++] = rest;
  return at;
}

function writeField(buffer: Buffer, start: number, value: string | Buffer | null | undefined): number {
  if (value === null || value === undefined) {
    // Length -1.
    buffer[start] = 1;
    return start + 1;
  }
  const length = lengthOf(value);
  const at = writeVarint(buffer, start, length);
  if (typeof value === 'string') writeText(buffer, at, value, length);
  else buffer.set(value, at);
  return at + length;
}

/** Writes a text of this many bytes. */
function writeText(buffer: Buffer, start: number, text: string, bytes: number): void {
  if (bytes !== text.length) buffer.write(text, start, bytes);
  // An ASCII text is copied without encoding.
  else if (bytes > shortText) buffer.write(text, start, bytes, 'latin1');
  else for (let at = 0; at < bytes; at++) buffer[start + at] = text.charCodeAt(at);
}

function writeHeaders(buffer: Buffer, start: number, headers: RecordToWrite['headers']): number {
  let count = 0;
  for (const name in headers) {
    const held = headers[name];
    if (Array.isArray(held)) {
      for (const one of held as readonly HeaderToWrite[]) if (one !== undefined) count++;
    } else if (held !== undefined) count++;
  }
  let at = writeVarint(buffer, start, count);
  for (const name in headers) {
    const held = headers[name];
    if (Array.isArray(held)) {
      for (const one of held as readonly HeaderToWrite[]) {
        if (one !== undefined) at = writeField(buffer, writeField(buffer, at, name), one);
      }
    } else if (held !== undefined) {
      at = writeField(buffer, writeField(buffer, at, name), held as HeaderToWrite);
    }
  }
  return at;
}

// Reading

/**
 * Decodes the batches that a broker sent of a partition; keys, values and headers are views of the buffer. A batch that
 * is truncated at the answer's limit is left out.
 * @throws Error for another message format, and for an unknown compression
 */
export function readBatches(buffer: Buffer): FetchedBatch[] {
  const batches: FetchedBatch[] = [];
  let start = 0;
  while (buffer.length - start >= batchHeadBytes) {
    const end = start + beforeCounted + buffer.readInt32BE(start + 8);
    if (end > buffer.length) break;
    batches.push(readBatch(buffer, start, end));
    start = end;
  }
  return batches;
}

function readBatch(buffer: Buffer, start: number, end: number): FetchedBatch {
  const format = buffer[start + 16];
  if (format !== 2) throw new Error(`records in message format ${format} cannot be read: only format 2 can`);
  const attributes = buffer.readInt16BE(start + 21);
  const firstOffset = buffer.readBigInt64BE(start);
  const firstTimestamp = Number(buffer.readBigInt64BE(start + 27));
  const maxTimestamp = Number(buffer.readBigInt64BE(start + 35));
  const codec = attributes & codecMask;
  const count = buffer.readInt32BE(start + 57);
  const body = buffer.subarray(start + batchHeadBytes, end);
  return {
    firstOffset,
    lastOffset: firstOffset + BigInt(buffer.readInt32BE(start + 23)),
    producerId: buffer.readBigInt64BE(start + 43),
    producerEpoch: buffer.readInt16BE(start + 51),
    inTransaction: (attributes & transactionalFlag) !== 0,
    isControl: (attributes & controlFlag) !== 0,
    records: readRecords(count > 0 ? decompress(codec, body) : body, count, {
      firstOffset,
      firstTimestamp,
      fixedTimestamp: (attributes & logAppendTimeFlag) !== 0 ? maxTimestamp : undefined,
    }),
  };
}

function readRecords(
  body: Buffer,
  count: number,
  batch: { firstOffset: bigint; firstTimestamp: number; fixedTimestamp: number | undefined },
): RawRecord[] {
  const records: RawRecord[] = [];
  const reader = new FieldReader(body);
  for (let index = 0; index < count; index++) {
    const length = reader.varint();
    const end = reader.at + length;
    // One byte of attributes; none is in use.
    reader.at++;
    const timestampDelta = reader.varint();
    const offsetDelta = reader.varint();
    const key = reader.field();
    const value = reader.field();
    const headers = reader.headers();
    if (reader.at !== end) throw new Error(`a record of ${length} bytes ends ${reader.at - end} bytes off`);
    records.push({
      offset: batch.firstOffset + BigInt(offsetDelta),
      timestamp: batch.fixedTimestamp ?? batch.firstTimestamp + timestampDelta,
      key,
      value,
      headers,
    });
  }
  return records;
}

class FieldReader {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** A zigzag varint, exact up to 2^53. */
  varint(): number {
    let value = 0;
    let unit = 1;
    for (;;) {
      const byte = this.#bytes[this.at++];
      if (byte === undefined) throw new Error('a record ends before its fields do');
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) break;
      unit *= 128;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Bytes with a length prefix; null for length -1. */
  field(): Buffer | null {
    const length = this.varint();
    if (length < 0) return null;
    const start = this.at;
    this.at += length;
    if (this.at > this.#bytes.length) throw new Error('a record ends before its fields do');
    return this.#bytes.subarray(start, this.at);
  }

  headers(): Record<string, HeaderValue> {
    const headers: Record<string, HeaderValue> = {};
    const count = this.varint();
    for (let index = 0; index < count; index++) {
      const length = this.varint();
      const name = this.#bytes.toString('utf8', this.at, this.at + length);
      this.at += length;
      const value = this.field();
      if (!Object.hasOwn(headers, name)) {
        // Not by assignment, because a header may be named __proto__.
        if (name === '__proto__')
          Object.defineProperty(headers, name, { value, enumerable: true, writable: true });
        else headers[name] = value;
        continue;
      }
      const before = headers[name];
      if (Array.isArray(before)) before.push(value);
      else headers[name] = [before ?? null, value];
    }
    return headers;
  }
}
