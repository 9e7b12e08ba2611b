// Turns a value that Avro's decoder has made into plain JSON.

/** The decoder's wrapper of a value of a union whose types it cannot tell apart. */
interface UnionBranch {
  unwrap(): unknown;
}

/**
 * The value as plain objects, lists, texts, numbers, booleans and null: a wrapped value of a union is unwrapped, and bytes are base64.
 * @throws RangeError for a value of a recursive schema that nests too deep
 */
export function avroAsJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (Array.isArray(value)) return value.map(avroAsJson);
  if (isBranch(value)) return avroAsJson(value.unwrap());
  const plain: Record<string, unknown> = {};
  for (const [key, held] of Object.entries(value)) {
    const json = avroAsJson(held);
    // Not by assignment, because a key of a map may be __proto__.
    if (key === '__proto__')
      Object.defineProperty(plain, key, {
        value: json,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    else plain[key] = json;
  }
  return plain;
}

/** A field of a record could have the name of the method, but is its own. */
function isBranch(value: object): value is UnionBranch {
  return !Object.hasOwn(value, 'unwrap') && typeof (value as Partial<UnionBranch>).unwrap === 'function';
}
