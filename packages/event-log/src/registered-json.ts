// JSON in the schema registry's wire format: a zero byte, the schema id in four bytes, the text.

/** Bytes before the JSON. */
export const registeredPrefixBytes = 5;

/** Size of the buffers that many values share. */
const slabBytes = 1024 * 1024;

/**
 * Writes values consecutively into few large buffers. The garbage collector would copy a text that lives as long as its
 * batch several times; it does not copy bytes outside the heap, and the log and the database need bytes.
 */
export interface ValueWriter {
  write(schemaId: number, json: string): Buffer;
}

export function createValueWriter(): ValueWriter {
  let slab = Buffer.alloc(0);
  let used = 0;
  return {
    write(schemaId, json) {
      const textBytes = Buffer.byteLength(json);
      const bytes = registeredPrefixBytes + textBytes;
      if (used + bytes > slab.length) {
        slab = Buffer.allocUnsafeSlow(Math.max(slabBytes, bytes));
        used = 0;
      }
      const start = used;
      used += bytes;
      slab[start] = 0;
      slab.writeInt32BE(schemaId, start + 1);
      // An ASCII text is copied without encoding.
      slab.write(json, start + registeredPrefixBytes, textBytes === json.length ? 'latin1' : 'utf8');
      return slab.subarray(start, used);
    },
  };
}
