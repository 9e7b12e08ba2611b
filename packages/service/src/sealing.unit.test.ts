// Sealed secrets: opened only by who has the setting and knows the place.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSealing } from './sealing.js';

const sealing = createSealing('a secret of tests that is long enough');
const text = fc.string({ unit: 'grapheme', maxLength: 2_000 });
const context = fc.uuid();

describe('what is sealed', () => {
  test('is opened as it was, holds nothing of the text, and comes out the same for the same place', () => {
    fc.assert(
      fc.property(text, context, (secret, place) => {
        const sealed = sealing.seal(secret, place);
        expect(sealing.unseal(sealed, place)).toBe(secret);
        expect(sealing.seal(secret, place)).toBe(sealed);
        expect(sealed).toMatch(/^[A-Za-z0-9_-]+$/);
        if (secret.length >= 8) expect(Buffer.from(sealed, 'base64url').includes(secret)).toBe(false);
      }),
    );
  });

  test('is not opened for another place, with another setting, or after any change', () => {
    const other = createSealing('another secret of tests, as long as that');
    fc.assert(
      fc.property(text, context, context, fc.nat(), (secret, place, elsewhere, at) => {
        fc.pre(place !== elsewhere);
        const sealed = sealing.seal(secret, place);
        expect(() => sealing.unseal(sealed, elsewhere)).toThrow('cannot be opened');
        expect(() => other.unseal(sealed, place)).toThrow('cannot be opened');
        const bytes = Buffer.from(sealed, 'base64url');
        const changed = at % bytes.length;
        bytes[changed] = (bytes[changed] ?? 0) ^ 1;
        expect(() => sealing.unseal(bytes.toString('base64url'), place)).toThrow('cannot be opened');
      }),
    );
  });

  test.each(['', 'AAAA', 'not sealed at all'])('is never %j', (sealed) => {
    expect(() => sealing.unseal(sealed, 'place')).toThrow('cannot be opened');
  });
});

describe('a signing secret', () => {
  test('follows from the setting and its key, has 256 bits, and differs from key to key', () => {
    const secret = sealing.signingSecret('one');
    expect(secret).toMatch(/^whsec_/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(sealing.signingSecret('one')).toBe(secret);
    expect(sealing.signingSecret('two')).not.toBe(secret);
    expect(createSealing('another secret of tests, as long as that').signingSecret('one')).not.toBe(secret);
  });
});

describe('the token of a share link', () => {
  test('follows from the setting and the firing, has the form of any other, and differs from firing to firing', () => {
    const token = sealing.shareToken('one');
    // 62 ^ 40 are more than 2 ^ 238.
    expect(token).toMatch(/^lsh_[0-9A-Za-z]{40}$/);
    expect(sealing.shareToken('one')).toBe(token);
    expect(sealing.shareToken('two')).not.toBe(token);
    expect(createSealing('another secret of tests, as long as that').shareToken('one')).not.toBe(token);
  });
});
