// Finds the encoding of a text whose sender may not know it: by its byte order mark, by valid UTF-8, otherwise by a guess from its bytes.
import { analyse } from 'chardet';

export interface FoundEncoding {
  /** As TextDecoder names it. */
  encoding: string;
  /** False: it was concluded from the bytes, and a person should look at the result. */
  isCertain: boolean;
}

/** Bytes from which the encoding is guessed, beginning shortly before the first byte outside ASCII: such bytes tell the most. */
const sampleBytes = 100_000;

/** @returns null where the bytes are no text */
export async function encodingOf(parts: AsyncIterable<Uint8Array>): Promise<FoundEncoding | null> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let first: Buffer | null = null;
  /** The first part with a byte outside ASCII. */
  let telling: Buffer | null = null;
  let isUtf8 = true;
  for await (const part of parts) {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    if (!first) {
      first = bytes;
      const marked = byMark(bytes) ?? byZeros(bytes);
      if (marked) return marked;
    }
    if (bytes.includes(0)) return null;
    const at = bytes.findIndex((byte) => byte > 0x7f);
    if (!telling && at !== -1) telling = bytes.subarray(Math.max(0, at - 1_000));
    isUtf8 &&= decodes(utf8, bytes);
    if (!isUtf8 && telling) break;
  }
  isUtf8 &&= decodes(utf8, null);
  if (isUtf8) return { encoding: 'utf-8', isCertain: true };
  return { encoding: likeliest(telling ?? Buffer.alloc(0)), isCertain: false };
}

function decodes(decoder: TextDecoder, bytes: Uint8Array | null): boolean {
  try {
    if (bytes) decoder.decode(bytes, { stream: true });
    else decoder.decode();
    return true;
  } catch {
    return false;
  }
}

function byMark(bytes: Buffer): FoundEncoding | null {
  const begins = (...mark: number[]) => mark.every((byte, index) => bytes[index] === byte);
  const encoding = begins(0xef, 0xbb, 0xbf)
    ? 'utf-8'
    : begins(0xff, 0xfe)
      ? 'utf-16le'
      : begins(0xfe, 0xff)
        ? 'utf-16be'
        : null;
  return encoding === null ? null : { encoding, isCertain: true };
}

/** UTF-16 without a mark: in a table, most characters are of ASCII, and every other byte is 0. */
function byZeros(bytes: Buffer): FoundEncoding | null {
  const sample = bytes.subarray(0, 1_000);
  const zeros = [0, 0];
  for (const [index, byte] of sample.entries())
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const half = Math.floor(sample.length / 2);
  if (half === 0) return null;
  if (odd > 0.4 * half && even < 0.1 * half) return { encoding: 'utf-16le', isCertain: false };
  if (even > 0.4 * half && odd < 0.1 * half) return { encoding: 'utf-16be', isCertain: false };
  return null;
}

/** The likeliest of those that TextDecoder knows, UTF-8 aside; it reads ISO-8859-1 as Windows-1252, which has more characters. */
function likeliest(bytes: Buffer): string {
  for (const { name } of analyse(bytes.subarray(0, sampleBytes))) {
    if (/^(?:utf|ascii)/i.test(name)) continue;
    try {
      return new TextDecoder(name).encoding;
    } catch {
      // TextDecoder does not know it.
    }
  }
  return 'windows-1252';
}

/** The text of the bytes; what is no character of the encoding becomes U+FFFD. */
export async function* textIn(parts: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const part of parts) yield decoder.decode(part, { stream: true });
  yield decoder.decode();
}
