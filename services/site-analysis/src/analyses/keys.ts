// The ids of stored analyses: ordered keys, so that a range of an OU's analyses is read in order from the primary index.
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

/** The id of an analysis: OU, analysis. */
export function analysisKey(ouId: string, analysisId: string): Binary {
  return orderedKey([ouId, analysisId]);
}

/** The aggregate key of an analysis: its analysisKey as hexadecimal text. */
export function aggregateKeyOf({ ou_id, analysis_id }: { ou_id: string; analysis_id: string }): string {
  return hexOf(analysisKey(ou_id, analysis_id));
}

/** The analysisKey of an aggregate key. */
export function keyFromHex(name: string): Binary {
  return new Binary(Buffer.from(name, 'hex'), 0);
}

/** The id of a finished analysis's place in its OU's list: OU, offset of its end in the log. */
export function placeKey(ouId: string, offset: number): Binary {
  return orderedKey([ouId], offset);
}

/** The range of ids of all places of an OU. */
export function placesOf(ouId: string): KeyRange {
  return keysWithin([ouId], offsetBytes);
}

export function cursorOfPlace(place: Binary): string {
  return bytesOf(place).toString('base64url');
}

/** @throws InvalidCursor when the cursor is not a place of this OU */
export function placeOfCursor(cursor: string, ouId: string): Binary {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== uuidBytes + offsetBytes) throw new InvalidCursor();
  if (readUuid(bytes, 0) !== ouId.toLowerCase()) throw new InvalidCursor();
  return new Binary(bytes, 0);
}
