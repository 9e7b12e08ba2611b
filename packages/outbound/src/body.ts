// Reading an answer's body: decoded, counted, and no further than asked.
import { pipeline, type Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';
import { OutboundFailed } from './errors.js';

export interface ReadBody {
  body: Buffer;
  /** There was more than this. */
  truncated: boolean;
}

/** What is asked for: the one encoding that everybody has and that cannot blow up more than a thousand times. */
export const acceptedEncoding = 'gzip';

/** Some servers answer in encodings that nobody asked for. What was cut off by the sender is read as far as it goes. */
const unzip = (): Transform => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });
const decoders = new Map<string, () => Transform>([
  ['gzip', unzip],
  ['x-gzip', unzip],
  ['deflate', unzip],
  ['br', () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
]);

/** Encoded bytes that are read beyond `maxBytes`: an encoding may be longer than what it says, but not by much. */
const encodingAllowance = 64 * 1_024;

/**
 * The first `maxBytes` of the decoded body. What is beyond is not read: the stream, and the connection below, is
 * destroyed.
 * @throws OutboundFailed `malformed` for an encoding that is not known; else what reading and decoding throw
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
  // Whoever reads gets the errors; destroying what nobody reads any more must not end the process.
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
    // An endless encoding of nothing must end too.
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
    // Errors arrive through `decoded`.
    () => undefined,
  );
  const read = await readAtMost(decoded, maxBytes);
  source.destroy();
  return { body: read.body, truncated: read.truncated || cut };
}

/** Copies into one buffer: a body that comes in millions of chunks of a byte must not cost an object for each. */
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
