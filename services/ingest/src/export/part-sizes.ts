// How much of an export is read from the database in one call: enough that the call itself costs little for each event, and never more
// than a bounded size. Pure.
import type { EventSecondDocument } from '../events/documents.js';

/** Places whose records are read in the first call of an export, when their size is not known. */
export const firstPlacesAtOnce = 250;
const mostPlacesAtOnce = 1_000;
/** The most bytes of records that one call keeps, unless a single record is larger. */
export const maximumBytes = 8_000_000;
/** The bytes of records that a call is to have. Far below the maximum, because a call that exceeds it has read in vain. */
const wantedBytes = 2_000_000;

/**
 * The number of places whose records are read in the next call.
 * @param places of the call before
 * @param bytes of the records that it has read
 */
export function placesAtOnce(places: number, bytes: number): number {
  const fitting = Math.floor((places * wantedBytes) / Math.max(bytes, 1));
  return Math.min(Math.max(fitting, 1), mostPlacesAtOnce);
}

/** The size of the next part, where all are to be of about the same size. */
export function evenPart(left: number, most: number): number {
  return Math.ceil(left / Math.ceil(left / most));
}

/** Few enough that the database finds those of a rare type among all others within the time in which it has to answer. */
const mostDocumentsAtOnce = 512;
/** Documents that are read beyond the expected ones, because only the document after the last wanted one shows its second's end. */
const furtherDocuments = 8;

/**
 * The number of documents of seconds that are read in one call.
 * @param wanted the number of places that they are to have together
 * @param before how many places so many documents had before
 */
export function documentsAtOnce(wanted: number, before: { documents: number; places: number }): number {
  const expected = Math.ceil((wanted * before.documents) / Math.max(before.places, 1)) + furtherDocuments;
  return evenPart(expected, mostDocumentsAtOnce);
}

/** More than the bytes of a type in a document of a second, which is a text of about 100 characters, and of what else a document has. */
const bytesOfType = 1_000;

/**
 * Whether no document comes after these. Fewer than the limit are not enough for that, because the database also ends an answer at
 * 16 MB. Where they may have so many bytes, a further call has to show the end.
 * @param found the documents of seconds in an answer
 */
export function isAtEnd(
  found: readonly Pick<EventSecondDocument, 'types' | 'events'>[],
  limit: number,
): boolean {
  if (found.length >= limit) return false;
  const bytes = found.reduce(
    (sum, { types, events }) => sum + events.position + (types.length + 1) * bytesOfType,
    0,
  );
  return bytes < maximumBytes;
}
