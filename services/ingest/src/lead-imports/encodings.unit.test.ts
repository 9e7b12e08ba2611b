// The encoding of a text, found from its bytes.
import { describe, expect, test } from '@jest/globals';
import { encodingOf, textIn, type FoundEncoding } from './encodings.js';

async function* cut(bytes: Buffer, size = 7): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

const text = 'Name,Ort\nJürgen Müßig,Köln\nZoë Ångström,Malmö\n';
const utf16be = Buffer.from(text, 'utf16le').swap16();

describe('a text', () => {
  test.each<[string, Buffer, FoundEncoding]>([
    ['in UTF-8', Buffer.from(text), { encoding: 'utf-8', isCertain: true }],
    ['in UTF-8 with a mark', Buffer.from(`\ufeff${text}`), { encoding: 'utf-8', isCertain: true }],
    [
      'in UTF-16 with a mark',
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      { encoding: 'utf-16le', isCertain: true },
    ],
    ['in UTF-16 without a mark', Buffer.from(text, 'utf16le'), { encoding: 'utf-16le', isCertain: false }],
    ['in big-endian UTF-16', utf16be, { encoding: 'utf-16be', isCertain: false }],
    ['in Windows-1252', Buffer.from(text, 'latin1'), { encoding: 'windows-1252', isCertain: false }],
    ['of nothing but ASCII', Buffer.from('a,b\n1,2\n'), { encoding: 'utf-8', isCertain: true }],
  ])('%s is found to be, and read', async (_, bytes, found) => {
    expect(await encodingOf(cut(bytes, 2_000))).toEqual(found);
    let read = '';
    for await (const some of textIn(cut(bytes), found.encoding)) read += some;
    expect(read).toBe(bytes.length < 10 ? 'a,b\n1,2\n' : text);
  });

  test('that is UTF-8 except for its end is not taken for UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('a'.repeat(5_000)), Buffer.from('Müller', 'latin1')]);
    expect(await encodingOf(cut(bytes, 1_000))).toMatchObject({ isCertain: false });
  });

  test('is none where there are zeros', async () => {
    expect(await encodingOf(cut(Buffer.from([1, 2, 3, 0, 0, 0, 0, 9])))).toBeNull();
  });
});
