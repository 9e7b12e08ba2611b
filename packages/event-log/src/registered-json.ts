// JSON in the schema registry's wire format: a zero byte, the schema's id, the text.

/** What stands in front of the JSON. */
export const registeredPrefixBytes = 5;

/** Bytes of the buffers that many values share. */
const slabBytes = 1024 * 1024;

/**
 * Writes values one behind the other into few large buffers. A text that lives as long as its batch would be copied by
 * the collector, more than once; bytes outside the heap are not, and are ready for the log and for the database.
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
      // Nothing but ASCII: copied instead of encoded.
      slab.write(json, start + registeredPrefixBytes, textBytes === json.length ? 'latin1' : 'utf8');
      return slab.subarray(start, used);
    },
  };
}
