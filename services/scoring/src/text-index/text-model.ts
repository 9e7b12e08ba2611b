// The texts of a lead by which it is found, and the terms by which a text within them is looked up: pure.
import { loweredTextsOf, searchTextsOf, type Lead } from '../leads/state.js';

/** Characters in a term. A shorter text has no terms, and cannot be looked up. */
export const termLength = 3;

/** A lead's texts that a batch's event added or removed. */
export interface TextChange {
  readonly ouId: string;
  readonly leadId: string;
  readonly offset: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The change of a lead's texts by an event, or null if it leaves them as they are, as most events do. */
export function textChange(before: Lead | null, after: Lead | null, offset: number): TextChange | null {
  const lead = after ?? before;
  if (!lead || (before && after && before.fields === after.fields && before.aliases === after.aliases))
    return null;
  const [old, current] = [textsOf(before), textsOf(after)];
  const added = [...current].filter((text) => !old.has(text));
  const removed = [...old].filter((text) => !current.has(text));
  if (added.length === 0 && removed.length === 0) return null;
  return { ouId: lead.ou_id, leadId: lead.id, offset, added, removed };
}

function textsOf(lead: Lead | null): Set<string> {
  return new Set(lead ? searchTextsOf(loweredTextsOf(lead)).map(indexedText).filter(Boolean) : []);
}

/**
 * A text as the index stores it, among others that line breaks separate. A search text has no control characters, so no search finds
 * another text than it would in the original.
 */
export function indexedText(text: string): string {
  return text.replaceAll('\n', '\u0001').toWellFormed();
}

/**
 * The terms of a text: hashes of each three consecutive characters, without regard to case. A text that contains another one, as the
 * database compares them without regard to case, has all of its terms.
 */
export function termsOf(text: string): Set<number> {
  const terms = new Set<number>();
  if (isAscii.test(text)) {
    // The same as below, at a fraction of the cost: most texts are addresses.
    const characters = text.toUpperCase();
    for (let at = 0; at + termLength <= characters.length; at += 1)
      terms.add(hashOf(characters, at, at + termLength));
    return terms;
  }
  const characters = charactersOf(text);
  for (let at = 0; at + termLength <= characters.length; at += 1)
    terms.add(hashOf(characters.slice(at, at + termLength).join('')));
  return terms;
}

/** Each character is one of the string's units, and so is its upper-case form. */
const isAscii = /^\p{ASCII}*$/u;

/** A text as it is compared. Texts that the database takes for equal without regard to case are equal here, and some others are too. */
export function sameCase(text: string): string {
  return text.toUpperCase();
}

/** Some characters have two lower-case forms, such as the sigma at the end of a word, but one upper-case form. */
function charactersOf(text: string): string[] {
  return Array.from(text, (character) => character.toUpperCase());
}

/** FNV-1a with a final mix: 32 bits. */
function hashOf(text: string, from = 0, to = text.length): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** At most so many terms are looked up: each further one costs a range of documents, and excludes few leads more. */
const maximumTerms = 5;

/** The terms by which a text is looked up, evenly spread over it. Empty: it is too short. */
export function lookedUpTerms(text: string): number[] {
  const terms = [...termsOf(text)];
  const chosen = Math.min(terms.length, maximumTerms);
  return Array.from(
    { length: chosen },
    (_, index) => terms[Math.round((index * (terms.length - 1)) / Math.max(1, chosen - 1))] ?? 0,
  );
}
