// Event metadata: any JSON within bounds. The bounds exist so that whatever is taken can be stored, replayed
// and returned exactly as it was sent; what cannot be is refused with a pointer to the place.
import { z } from 'zod';
import type { JsonObject } from './json.js';

export const metadataLimits = { bytes: 100_000, depth: 32, keys: 2_000 };

/** Metadata as it is stored and answered; it was checked when it came in. A copy through zod would lose a key `__proto__`. */
export const metadataObject = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), {
    error: 'must be an object',
  })
  .meta({ type: 'object', additionalProperties: true });

export interface MetadataProblem {
  path: string;
  message: string;
}

/**
 * Checks what a JSON text's parser let through: depth, number of keys, size, and numbers that do not survive.
 * @returns the first problem with its path below `at`, or null when all is well
 */
export function checkMetadata(metadata: unknown, at: string): MetadataProblem | null {
  if (metadata === null || typeof metadata !== 'object' || Array.isArray(metadata))
    return { path: at, message: 'must be an object' };
  const seen: Seen = { keys: 0, units: 2, place: [] };
  const message = checkContainer(metadata, 1, seen);
  if (message !== null) return { path: [at, ...seen.place.reverse()].join('.'), message };
  // A UTF-16 unit takes at most 6 bytes of JSON: only metadata that could be too large is written out to be measured.
  if (
    seen.units * 6 > metadataLimits.bytes &&
    Buffer.byteLength(JSON.stringify(metadata)) > metadataLimits.bytes
  )
    return { path: at, message: `must be at most ${String(metadataLimits.bytes)} bytes of JSON` };
  return null;
}

interface Seen {
  keys: number;
  units: number;
  /** Filled while the walk unwinds from a problem: the innermost key first. */
  place: string[];
}

function checkContainer(container: object, depth: number, seen: Seen): string | null {
  if (depth > metadataLimits.depth) return `must not nest deeper than ${String(metadataLimits.depth)} levels`;
  if (Array.isArray(container)) {
    for (let index = 0; index < container.length; index += 1) {
      seen.units += 1;
      const message = checkValue(container[index], depth, seen);
      if (message !== null) {
        seen.place.push(String(index));
        return message;
      }
    }
    return null;
  }
  for (const key of Object.keys(container)) {
    seen.units += key.length + 4;
    const message = checkValue((container as Record<string, unknown>)[key], depth, seen);
    if (message !== null) {
      seen.place.push(key);
      return message;
    }
  }
  return null;
}

function checkValue(value: unknown, depth: number, seen: Seen): string | null {
  seen.keys += 1;
  if (seen.keys > metadataLimits.keys)
    return `is one too many: metadata holds at most ${String(metadataLimits.keys)} keys and array elements`;
  switch (typeof value) {
    case 'string':
      seen.units += value.length + 2;
      return null;
    case 'number':
      seen.units += 24;
      if (!Number.isFinite(value)) return 'must be a number that a double can hold';
      if (Number.isInteger(value) && !Number.isSafeInteger(value))
        return 'must be a number within ±9007199254740991; send a larger one as a string';
      return null;
    case 'object':
      seen.units += 4;
      return value === null ? null : checkContainer(value, depth + 1, seen);
    default:
      seen.units += 5;
      return typeof value === 'boolean' ? null : 'must be a JSON value';
  }
}
