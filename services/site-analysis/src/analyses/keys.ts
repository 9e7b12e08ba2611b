// The ids under which analyses are stored: ordered keys, so that a range of an OU's comes in order from the primary index.
import { Binary, InvalidCursor, uuidToBinary } from '@lead-scoring/read-model';

const uuidBytes = 16;
const offsetBytes = 8;

/** An analysis within its OU. */
export function analysisKey(ouId: string, analysisId: string): Binary {
  return new Binary(Buffer.concat([bytesOf(uuidToBinary(ouId)), bytesOf(uuidToBinary(analysisId))]), 0);
}

/** A finished analysis's place in its OU's list: the offset of its end in the log. */
export function placeKey(ouId: string, offset: number): Binary {
  const bytes = Buffer.alloc(uuidBytes + offsetBytes);
  bytesOf(uuidToBinary(ouId)).copy(bytes);
  bytes.writeBigUInt64BE(BigInt(offset), uuidBytes);
  return new Binary(bytes, 0);
}

/** All places of an OU. */
export function placesOf(ouId: string): { $gte: Binary; $lte: Binary } {
  return { $gte: placeKey(ouId, 0), $lte: placeKey(ouId, Number.MAX_SAFE_INTEGER) };
}

export function cursorOfPlace(place: Binary): string {
  return bytesOf(place).toString('base64url');
}

/** @throws InvalidCursor for what is no place of this OU */
export function placeOfCursor(cursor: string, ouId: string): Binary {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== uuidBytes + offsetBytes) throw new InvalidCursor();
  if (!bytes.subarray(0, uuidBytes).equals(bytesOf(uuidToBinary(ouId)))) throw new InvalidCursor();
  return new Binary(bytes, 0);
}

function bytesOf(binary: Binary): Buffer {
  return Buffer.from(binary.buffer.buffer, binary.buffer.byteOffset, binary.position);
}
