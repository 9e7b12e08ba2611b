// Decompresses record batches. This system writes none that are compressed; producers of other topics compress theirs.
import { unzipSync, zstdDecompressSync } from 'node:zlib';
import { decompressFrameSync } from 'lz4-napi';
import { uncompressSync } from 'snappy';

/** Kafka's numbers of the codecs, in the attributes of a batch. */
const codecs = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;

/** Maximum bytes of a batch after decompression. */
const maxOutputLength = 256 * 1024 * 1024;

/** @throws Error for an unknown codec, and for bytes that the codec has not written */
export function decompress(codec: number, bytes: Buffer): Buffer {
  switch (codec) {
    case codecs.none:
      return bytes;
    case codecs.gzip:
      return unzipSync(bytes, { maxOutputLength });
    case codecs.snappy:
      return snappy(bytes);
    case codecs.lz4:
      return decompressFrameSync(bytes);
    case codecs.zstd:
      return zstdDecompressSync(bytes, { maxOutputLength });
    default:
      throw new Error(`records of compression ${codec} cannot be read: gzip, snappy, lz4 and zstd can`);
  }
}

/** The frame of snappy-java, which Kafka's Java clients write: this mark, two version numbers, then blocks with their lengths. */
const snappyJavaMark = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const snappyJavaHeadBytes = 16;

/** Other clients write one block without the frame. */
function snappy(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, snappyJavaMark.length).equals(snappyJavaMark)) return block(bytes);
  const blocks: Buffer[] = [];
  for (let at = snappyJavaHeadBytes; at < bytes.length;) {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0 || at + length > bytes.length) throw new Error('a snappy block is longer than its batch');
    blocks.push(block(bytes.subarray(at, at + length)));
    at += length;
  }
  return Buffer.concat(blocks);
}

function block(bytes: Buffer): Buffer {
  return Buffer.from(uncompressSync(bytes, { asBuffer: true }));
}
