// The stored forms of ids, offsets and arbitrary JSON.
import { Binary } from 'mongodb';
import type { JsonValue } from '@lead-scoring/contracts';
import { ReadModelError } from './errors.js';
import { bytesOf, readUuid, uuidBytes } from './ordered-keys.js';

const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The stored form of a UUID: 16 bytes, BSON subtype 4. Inserts are a third faster than with text as `_id`.
 * @throws TypeError when the text is not a UUID
 */
export function uuidToBinary(text: string): Binary {
  if (!uuidText.test(text)) throw new TypeError(`not a UUID: ${JSON.stringify(text).slice(0, 80)}`);
  return new Binary(Buffer.from(text.replaceAll('-', ''), 'hex'), Binary.SUBTYPE_UUID);
}

/** The lower-case text form of a stored UUID. */
export function binaryToUuid(binary: Binary): string {
  if (binary.position !== uuidBytes) throw new TypeError(`not a UUID: ${binary.position} bytes`);
  return readUuid(bytesOf(binary), 0);
}

/**
 * The stored form of an offset: a number. Offsets have 64 bits in the protocol, but a partition with a million records
 * a second reaches 2^53 after 285 years, and numbers sort alike in every engine.
 * @throws ReadModelError `offset_out_of_range` beyond 2^53 - 1, instead of storing another offset
 */
export function offsetToNumber(offset: bigint): number {
  const stored = Number(offset);
  if (!Number.isSafeInteger(stored) || stored < -1)
    throw new ReadModelError(
      'offset_out_of_range',
      `offset ${String(offset)} cannot be stored exactly`,
      false,
    );
  return stored;
}

/** The offset that `offsetToNumber` stored. */
export function numberToOffset(stored: number): bigint {
  return BigInt(stored);
}

/**
 * Stores any JSON as one text. Keys with dots, dollars, NUL, `__proto__`, `_bsontype` or lone surrogates are lost or
 * dangerous as BSON keys; in a text they are plain characters. `unpackJson` returns the same value.
 */
export function packJson(value: JsonValue): string {
  return JSON.stringify(value);
}

/** The JSON that `packJson` stored. */
export function unpackJson(text: string): JsonValue {
  return JSON.parse(text) as JsonValue;
}

/** The stored form of JSON text: its bytes. `readJson` parses it. */
export function storedJson(utf8: Uint8Array): Binary {
  return new Binary(utf8, 0);
}

/** The JSON that `storedJson` stored. */
export function readJson(stored: Binary): JsonValue {
  return JSON.parse(bytesOf(stored).toString()) as JsonValue;
}

/** A map key for any `_id` that read models use. */
export function keyOf(documentId: unknown): string {
  if (typeof documentId === 'string') return `s${documentId}`;
  if (documentId instanceof Binary) return `b${latin1Of(documentId)}`;
  if (typeof documentId === 'number' || typeof documentId === 'bigint') return `n${String(documentId)}`;
  if (documentId instanceof Date) return `d${String(documentId.getTime())}`;
  return `j${JSON.stringify(documentId)}`;
}

/** The bytes as a text of one character each: several times as fast as base64. */
function latin1Of({ buffer, position }: Binary): string {
  const bytes = Buffer.isBuffer(buffer) ? buffer : Buffer.from(buffer.buffer, buffer.byteOffset, position);
  return bytes.toString('latin1', 0, position);
}

/**
 * Sorts documents into the same order for all writers. Writers that lock the same documents in different orders
 * deadlock, which PostgreSQL detects only after a second each time.
 */
export function inLockingOrder<Stored extends { _id?: unknown }>(documents: readonly Stored[]): Stored[] {
  return inOrderOfKeys(documents.map((document) => [keyOf(document._id), document]));
}

/** The same for documents whose `keyOf(_id)` is known. The entries are sorted in place. */
export function inOrderOfKeys<Stored>(entries: (readonly [key: string, document: Stored])[]): Stored[] {
  return entries
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
    .map(([, document]) => document);
}
