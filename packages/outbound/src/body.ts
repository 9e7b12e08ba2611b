// Reads an answer's body: decoded, and no further than the maximum.
import { pipeline, type Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';
import { OutboundFailed } from './errors.js';

export interface ReadBody {
  body: Buffer;
  /** True when the body was longer than `bytes`. */
  truncated: boolean;
}

/** The requested encoding: every server has it, and it expands a body at most a thousandfold. */
export const acceptedEncoding = 'gzip';

/** Decodes encodings that nobody requested too, as some servers send them. A cut-off body is decoded up to the cut. */
const unzip = (): Transform => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });
const decoders = new Map<string, () => Transform>([
  ['gzip', unzip],
  ['x-gzip', unzip],
  ['deflate', unzip],
  ['br', () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
]);

/**
 * Encoded bytes that may be read beyond `maxBytes`: an encoding may be slightly longer than the data that it encodes.
 */
const encodingAllowance = 64 * 1_024;

/**
 * Reads the first `maxBytes` of the decoded body. The stream, and its connection, is destroyed at that point.
 * @throws OutboundFailed `malformed` for an unknown encoding; also the errors of reading and decoding
 */
export async function readBody(
  source: Readable,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<ReadBody> {
  const encodings = (contentEncoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  // The reader gets the errors. Without a listener, destroying an unread stream would end the process.
  source.on('error', () => undefined);
  const [encoding] = encodings;
  if (encoding === undefined) return readAtMost(source, maxBytes);
  const createDecoder = encodings.length === 1 ? decoders.get(encoding) : undefined;
  if (createDecoder === undefined) {
    source.destroy();
    throw new OutboundFailed(
      'malformed',
      `The answer is encoded in a way that was not asked for ("${encodings.join(', ').slice(0, 100)}").`,
    );
  }
  const decoded = createDecoder();
  let cut = false;
  pipeline(
    source,
    // An endless encoded stream without decoded content must end too.
    async function* (chunks: AsyncIterable<Buffer>) {
      let length = 0;
      for await (const chunk of chunks) {
        length += chunk.length;
        cut = length > maxBytes + encodingAllowance;
        if (cut) return;
        yield chunk;
      }
    },
    decoded,
    // The reader gets the errors through `decoded`.
    () => undefined,
  );
  const read = await readAtMost(decoded, maxBytes);
  source.destroy();
  return { body: read.body, truncated: read.truncated || cut };
}

/** Copies chunks into one buffer: a body of millions of one-byte chunks must not keep an object for each. */
async function readAtMost(source: Readable, maxBytes: number): Promise<ReadBody> {
  let room = Buffer.allocUnsafe(Math.min(maxBytes, 16 * 1_024));
  let length = 0;
  // Leaving the loop early destroys the stream.
  for await (const chunk of source as AsyncIterable<Buffer>) {
    const wanted = length + chunk.length;
    if (Math.min(wanted, maxBytes) > room.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(wanted, 2 * room.length), maxBytes));
      room.copy(larger, 0, 0, length);
      room = larger;
    }
    length += chunk.copy(room, length);
    if (wanted > maxBytes) return { body: room, truncated: true };
  }
  return { body: room.subarray(0, length), truncated: false };
}
