// Event metadata: any JSON within limits. The limits ensure that accepted metadata can be stored, replayed and returned
// exactly as it was sent; other metadata is refused, with the path to the problem.
import { z } from 'zod';
import type { JsonObject } from './json.js';

export const metadataLimits = { bytes: 100_000, depth: 32, keys: 2_000 };

/** Metadata as stored and answered, checked at intake. A custom type, because a copy by zod would lose a key `__proto__`. */
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
 * Checks parsed metadata: depth, number of keys, size, and numbers that a double cannot hold exactly.
 * @returns the first problem with its path below `at`, or null when there is none
 */
export function checkMetadata(metadata: unknown, at: string): MetadataProblem | null {
  if (metadata === null || typeof metadata !== 'object' || Array.isArray(metadata))
    return { path: at, message: 'must be an object' };
  const walk: MetadataWalk = { keys: 0, units: 2, place: [] };
  const message = checkContainer(metadata, 1, walk);
  if (message !== null) return { path: [at, ...walk.place.reverse()].join('.'), message };
  // A UTF-16 unit takes at most 6 bytes of JSON, so only metadata above that estimate is serialised to be measured.
  if (
    walk.units * 6 > metadataLimits.bytes &&
    Buffer.byteLength(JSON.stringify(metadata)) > metadataLimits.bytes
  )
    return { path: at, message: `must be at most ${String(metadataLimits.bytes)} bytes of JSON` };
  return null;
}

interface MetadataWalk {
  keys: number;
  units: number;
  /** Path to a problem, filled on the way back from it: the innermost key first. */
  place: string[];
}

function checkContainer(container: object, depth: number, walk: MetadataWalk): string | null {
  if (depth > metadataLimits.depth) return `must not nest deeper than ${String(metadataLimits.depth)} levels`;
  if (Array.isArray(container)) {
    for (let index = 0; index < container.length; index += 1) {
      walk.units += 1;
      const message = checkValue(container[index], depth, walk);
      if (message !== null) {
        walk.place.push(String(index));
        return message;
      }
    }
    return null;
  }
  for (const key of Object.keys(container)) {
    walk.units += key.length + 4;
    const message = checkValue((container as Record<string, unknown>)[key], depth, walk);
    if (message !== null) {
      walk.place.push(key);
      return message;
    }
  }
  return null;
}

function checkValue(value: unknown, depth: number, walk: MetadataWalk): string | null {
  walk.keys += 1;
  if (walk.keys > metadataLimits.keys)
    return `is one too many: metadata holds at most ${String(metadataLimits.keys)} keys and array elements`;
  switch (typeof value) {
    case 'string':
      walk.units += value.length + 2;
      return null;
    case 'number':
      walk.units += 24;
      if (!Number.isFinite(value)) return 'must be a number that a double can hold';
      if (Number.isInteger(value) && !Number.isSafeInteger(value))
        return 'must be a number within ±9007199254740991; send a larger one as a string';
      return null;
    case 'object':
      walk.units += 4;
      return value === null ? null : checkContainer(value, depth + 1, walk);
    default:
      walk.units += 5;
      return typeof value === 'boolean' ? null : 'must be a JSON value';
  }
}
