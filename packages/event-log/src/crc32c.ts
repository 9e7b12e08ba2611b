// The checksum of record batches: CRC-32C (Castagnoli), sixteen bytes at a time with a table for each. Node's zlib.crc32
// is another polynomial. Against the usual loop of a byte at a time: README.md, "Processor time".

/** For each of sixteen places the effect of a byte there on the checksum, 256 entries each; the last place comes first. */
const tables = makeTables();

function makeTables(): Int32Array {
  const made = new Int32Array(16 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0x82f63b78 : sum >>> 1;
    made[byte] = sum;
  }
  for (let at = 256; at < made.length; at++) {
    const behind = made[at - 256] ?? 0;
    made[at] = (behind >>> 8) ^ (made[behind & 0xff] ?? 0);
  }
  return made;
}

/** The CRC-32C of the bytes from `start` to before `end`, as an unsigned 32-bit integer. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  // Every index is inside its array; the assertions are for the compiler, and cost nothing.
  /* eslint-disable @typescript-eslint/no-non-null-assertion */
  const t = tables;
  let sum = -1;
  let at = start;
  for (const last = end - 16; at <= last; at += 16) {
    sum =
      t[3840 | (bytes[at]! ^ (sum & 0xff))]! ^
      t[3584 | (bytes[at + 1]! ^ ((sum >>> 8) & 0xff))]! ^
      t[3328 | (bytes[at + 2]! ^ ((sum >>> 16) & 0xff))]! ^
      t[3072 | (bytes[at + 3]! ^ (sum >>> 24))]! ^
      t[2816 | bytes[at + 4]!]! ^
      t[2560 | bytes[at + 5]!]! ^
      t[2304 | bytes[at + 6]!]! ^
      t[2048 | bytes[at + 7]!]! ^
      t[1792 | bytes[at + 8]!]! ^
      t[1536 | bytes[at + 9]!]! ^
      t[1280 | bytes[at + 10]!]! ^
      t[1024 | bytes[at + 11]!]! ^
      t[768 | bytes[at + 12]!]! ^
      t[512 | bytes[at + 13]!]! ^
      t[256 | bytes[at + 14]!]! ^
      t[bytes[at + 15]!]!;
  }
  for (; at < end; at++) sum = (sum >>> 8) ^ t[(sum ^ bytes[at]!) & 0xff]!;
  return ~sum >>> 0;
  /* eslint-enable @typescript-eslint/no-non-null-assertion */
}
