// Event metadata: any JSON within bounds. The bounds exist so that whatever is taken can be stored, replayed
// and returned exactly as it was sent; what cannot be is refused with a pointer to the place.
import type { JsonValue } from './json.js';

export const metadataLimits = { bytes: 100_000, depth: 32, keys: 2_000 };

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
  const seen = { keys: 0, bytes: 0 };
  const found = walk(metadata as JsonValue, at, 1, seen);
  if (found) return found;
  // The walk counts UTF-16 units, never more than the bytes: only a large value needs the exact count.
  if (seen.bytes * 3 > metadataLimits.bytes && Buffer.byteLength(JSON.stringify(metadata)) > metadataLimits.bytes)
    return { path: at, message: `must be at most ${String(metadataLimits.bytes)} bytes of JSON` };
  return null;
}

function walk(value: JsonValue, at: string, depth: number, seen: { keys: number; bytes: number }): MetadataProblem | null {
  switch (typeof value) {
    case 'string':
      seen.bytes += value.length + 2;
      return null;
    case 'number':
      seen.bytes += 8;
      if (!Number.isFinite(value)) return { path: at, message: 'must be a number that a double can hold' };
      if (Number.isInteger(value) && !Number.isSafeInteger(value))
        return { path: at, message: 'must be a whole number within ±9007199254740991; send a larger one as a string' };
      return null;
    case 'boolean':
      seen.bytes += 5;
      return null;
    default:
  }
  if (value === null) {
    seen.bytes += 4;
    return null;
  }
  if (depth > metadataLimits.depth) return { path: at, message: `must not nest deeper than ${String(metadataLimits.depth)} levels` };
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, item] of entries) {
    seen.keys += 1;
    if (seen.keys > metadataLimits.keys)
      return { path: at, message: `must hold at most ${String(metadataLimits.keys)} keys and array elements` };
    if (typeof key === 'string') seen.bytes += key.length + 3;
    if (item === null || typeof item !== 'object') {
      if (typeof item === 'number' || typeof item === 'string' || typeof item === 'boolean' || item === null) {
        const found = walk(item, typeof item === 'number' ? `${at}.${String(key)}` : at, depth + 1, seen);
        if (found) return found;
      }
      continue;
    }
    const found = walk(item, `${at}.${String(key)}`, depth + 1, seen);
    if (found) return found;
  }
  return null;
}
