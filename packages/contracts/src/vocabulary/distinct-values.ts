// Tells the values of a metadata field apart, for rules whose points are given once for each value.
import { hash } from 'node:crypto';
import { comparableNumber, comparableText, finderOf } from './filters.js';
import type { JsonObject, JsonValue } from './json.js';

/** Length of a value's hash in characters of base64url: 48 bits. Of 500 values, two have one hash once in 2 billion sets. */
const hashLength = 8;

/**
 * The hash of an event's value of the field. Values have one hash if filters find them equal: texts without case, numbers
 * by value. A list or an object is one value as a whole. Missing and null are one value too. The field is part of the hash.
 */
export function distinctValueOf(field: string): (metadata: JsonObject | undefined) => string {
  const find = finderOf(field);
  return (metadata) =>
    hash('sha256', JSON.stringify([field, comparable(metadata && find(metadata))]), 'base64url').slice(
      0,
      hashLength,
    );
}

/** Equal JSON for values that filters find equal. */
function comparable(value: JsonValue | undefined): JsonValue {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'object')
    return Object.keys(value)
      .sort()
      .map((key) => [key, comparable(value[key])]);
  const number = comparableNumber(value);
  if (number === null) return comparableText(value);
  // JSON has no infinity. Texts are in lower case, so that none is equal to "Infinity".
  return Number.isFinite(number) ? number : String(number);
}
