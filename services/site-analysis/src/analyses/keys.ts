// The ids under which analyses are stored: ordered keys, so that a range of an OU's comes in order from the primary index.
import {
  Binary,
  bytesOf,
  hexOf,
  InvalidCursor,
  keysWithin,
  offsetBytes,
  orderedKey,
  readUuid,
  uuidBytes,
  type KeyRange,
} from '@lead-scoring/read-model';

/** An analysis within its OU. */
export function analysisKey(ouId: string, analysisId: string): Binary {
  return orderedKey([ouId, analysisId]);
}

/** The name of an analysis, which is its key as a text. */
export function nameOf({ ou_id, analysis_id }: { ou_id: string; analysis_id: string }): string {
  return hexOf(analysisKey(ou_id, analysis_id));
}

/** analysisKey */
export function keyOfName(name: string): Binary {
  return new Binary(Buffer.from(name, 'hex'), 0);
}

/** A finished analysis's place in its OU's list: the offset of its end in the log. */
export function placeKey(ouId: string, offset: number): Binary {
  return orderedKey([ouId], offset);
}

/** All places of an OU. */
export function placesOf(ouId: string): KeyRange {
  return keysWithin([ouId], offsetBytes);
}

export function cursorOfPlace(place: Binary): string {
  return bytesOf(place).toString('base64url');
}

/** @throws InvalidCursor for what is no place of this OU */
export function placeOfCursor(cursor: string, ouId: string): Binary {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== uuidBytes + offsetBytes) throw new InvalidCursor();
  if (readUuid(bytes, 0) !== ouId.toLowerCase()) throw new InvalidCursor();
  return new Binary(bytes, 0);
}
