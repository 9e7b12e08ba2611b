import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { readBody } from './body.js';

const text = 'Preise und Pläne. '.repeat(500);
const whole = 1_000_000;
const from = (...chunks: Buffer[]): Readable => Readable.from(chunks, { objectMode: false });

/** A stream that never ends, and a counter of the bytes read from it. */
function endless(first: Buffer, chunk: Buffer): { stream: Readable; taken: () => number } {
  let taken = 0;
  const stream = new Readable({
    read() {
      this.push(taken === 0 ? first : chunk);
      taken += chunk.length;
    },
  });
  return { stream, taken: () => taken };
}

describe('reading a body', () => {
  test.each([
    ['no encoding', undefined, Buffer.from(text)],
    ['identity', 'identity', Buffer.from(text)],
    ['gzip', 'gzip', gzipSync(text)],
    ['GZIP and identity', ' GZIP , identity', gzipSync(text)],
    ['x-gzip', 'x-gzip', gzipSync(text)],
    ['deflate', 'deflate', deflateSync(text)],
    ['brotli', 'br', brotliCompressSync(text)],
  ])('%s is decoded', async (_name, encoding, bytes) => {
    const read = await readBody(from(bytes), encoding, whole);
    expect(read.body.toString()).toBe(text);
    expect(read.truncated).toBe(false);
  });

  test('gzip may come in several members and in chunks of a byte', async () => {
    const bytes = Buffer.concat([gzipSync(text), gzipSync(text)]);
    const read = await readBody(from(...Array.from(bytes, (byte) => Buffer.from([byte]))), 'gzip', whole);
    expect(read.body.toString()).toBe(text + text);
  });

  test('as much as is asked for and no more: a body of exactly that length is whole', async () => {
    for (const [encoding, bytes] of [
      [undefined, Buffer.from('a'.repeat(100))],
      ['gzip', gzipSync('a'.repeat(100))],
    ] as const) {
      expect(await readBody(from(bytes), encoding, 100)).toEqual({
        body: Buffer.from('a'.repeat(100)),
        truncated: false,
      });
      expect(await readBody(from(bytes), encoding, 99)).toEqual({
        body: Buffer.from('a'.repeat(99)),
        truncated: true,
      });
      expect(await readBody(from(bytes), encoding, 0)).toEqual({ body: Buffer.alloc(0), truncated: true });
    }
    expect(await readBody(from(), undefined, 0)).toEqual({ body: Buffer.alloc(0), truncated: false });
    expect(await readBody(from(), 'gzip', 10)).toEqual({ body: Buffer.alloc(0), truncated: false });
  });

  test('an endless body is left at the bound', async () => {
    const chunk = Buffer.alloc(1_000, 'a');
    const { stream, taken } = endless(chunk, chunk);
    expect((await readBody(stream, undefined, 5_500)).body).toHaveLength(5_500);
    expect(stream.destroyed).toBe(true);
    expect(taken()).toBeLessThan(200_000);
  });

  test('an endless encoding is left at the bound of what it says', async () => {
    const member = gzipSync(Buffer.alloc(10_000_000));
    const { stream, taken } = endless(member, member);
    const read = await readBody(stream, 'gzip', 1_000_000);
    expect(read.body).toHaveLength(1_000_000);
    expect(read.truncated).toBe(true);
    expect(stream.destroyed).toBe(true);
    expect(taken()).toBeLessThan(2_000_000);
  });

  test('an endless encoding that says nothing ends too', async () => {
    // A gzip header with a file name that never ends.
    const { stream, taken } = endless(
      Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]),
      Buffer.alloc(10_000, 'a'),
    );
    expect(await readBody(stream, 'gzip', 1_000_000)).toEqual({ body: Buffer.alloc(0), truncated: true });
    expect(stream.destroyed).toBe(true);
    expect(taken()).toBeLessThan(2_000_000);
  });

  test('what the sender cut off is read as far as it goes', async () => {
    const bytes = gzipSync(Buffer.from(Array.from({ length: 5_000 }, (_, index) => index % 251)));
    const read = await readBody(from(bytes.subarray(0, bytes.length - 20)), 'gzip', whole);
    expect(read.body.length).toBeGreaterThan(0);
  });

  test.each([
    ['zstd', Buffer.from(text)],
    ['gzip, gzip', gzipSync(gzipSync(text))],
    ['__proto__', Buffer.from(text)],
    ['constructor', Buffer.from(text)],
  ])('encoding %j is not known', async (encoding, bytes) => {
    const source = from(bytes);
    await expect(readBody(source, encoding, whole)).rejects.toMatchObject({ reason: 'malformed' });
    expect(source.destroyed).toBe(true);
  });

  test.each(['gzip', 'deflate', 'br'])(
    'what is not %s ends with an error of its decoder',
    async (encoding) => {
      await expect(readBody(from(Buffer.from(`<html>${text}`)), encoding, whole)).rejects.toMatchObject({
        code: expect.stringMatching(/^(Z_|ERR__)/) as unknown,
      });
    },
  );

  test('an error of the source is passed on', async () => {
    const failing = (): Readable =>
      Readable.from(
        (async function* () {
          yield gzipSync(text).subarray(0, 20);
          await Promise.reject(new Error('reset'));
        })(),
        { objectMode: false },
      );
    await expect(readBody(failing(), undefined, whole)).rejects.toThrow('reset');
    await expect(readBody(failing(), 'gzip', whole)).rejects.toThrow('reset');
  });
});
