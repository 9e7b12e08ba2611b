// Sealed secrets open only with the same setting and the same context.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSealing } from './sealing.js';

const secret = 'a secret of tests that is long enough';
const another = 'another secret of tests, as long as that';
const sealing = createSealing(secret);
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const text = fc.string({ unit: 'grapheme', maxLength: 2_000 });
const context = fc.uuid();

describe('what is sealed', () => {
  test('is opened as it was, holds nothing of the text, and comes out the same for the same place', () => {
    fc.assert(
      fc.property(text, context, (hidden, place) => {
        const sealed = sealing.seal(hidden, place);
        expect(sealing.unseal(sealed, place)).toBe(hidden);
        expect(sealing.seal(hidden, place)).toBe(sealed);
        expect(sealed).toMatch(/^sealed2_[0-9a-f]{8}_[A-Za-z0-9_-]+$/);
        const bytes = Buffer.from(sealed.slice(sealed.lastIndexOf('_') + 1), 'base64url');
        if (hidden.length >= 8) expect(bytes.includes(hidden)).toBe(false);
      }),
    );
  });

  test('is not opened for another place, with another setting, or after any change', () => {
    const other = createSealing(another);
    fc.assert(
      fc.property(text, context, context, (hidden, place, elsewhere) => {
        fc.pre(place !== elsewhere);
        const sealed = sealing.seal(hidden, place);
        expect(() => sealing.unseal(sealed, elsewhere)).toThrow('cannot be opened');
        expect(() => other.unseal(sealed, place)).toThrow('cannot be opened');
      }),
    );
  });

  // The last base64 character holds a different number of bits for each length.
  test.each(['Bearer', 'Bearer of', 'Bearer of a secret.'])(
    'is not opened when any bit, or any character, of sealed %j is another',
    (hidden) => {
      const sealed = sealing.seal(hidden, 'place');
      const from = sealed.lastIndexOf('_') + 1;
      const bytes = Buffer.from(sealed.slice(from), 'base64url');
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const changed = Buffer.from(bytes);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const text = sealed.slice(0, from) + changed.toString('base64url');
        expect(() => sealing.unseal(text, 'place')).toThrow('cannot be opened');
      }
      for (let at = 0; at < sealed.length; at += 1)
        for (const character of alphabet) {
          if (sealed[at] === character) continue;
          const changed = sealed.slice(0, at) + character + sealed.slice(at + 1);
          expect(() => sealing.unseal(changed, 'place')).toThrow('cannot be opened');
        }
    },
  );

  test.each(['', 'AAAA', 'not sealed at all'])('is never %j', (sealed) => {
    expect(() => sealing.unseal(sealed, 'place')).toThrow('cannot be opened');
  });
});

describe('while two keys are in force', () => {
  const before = createSealing(secret);
  const during = createSealing({ current: another, previous: secret });
  const after = createSealing(another);

  test('what either sealed is opened, and what is sealed is sealed with the current one', () => {
    const old = before.seal('text', 'place');
    const now = during.seal('text', 'place');
    expect([during.unseal(old, 'place'), during.unseal(now, 'place')]).toEqual(['text', 'text']);
    expect(now).toBe(after.seal('text', 'place'));
    expect(() => before.unseal(now, 'place')).toThrow(`the key ${after.keyId}`);
    expect(createSealing({ current: secret, next: another }).unseal(now, 'place')).toBe('text');
  });

  test('it is known which key what is sealed needs', () => {
    const old = before.seal('text', 'place');
    const now = during.seal('text', 'place');
    expect([during.standingOf(old, 'place'), during.standingOf(now, 'place')]).toEqual([
      'superseded',
      'current',
    ]);
    expect([after.standingOf(old, 'place'), after.standingOf(now, 'elsewhere')]).toEqual([
      'unreadable',
      'unreadable',
    ]);
  });

  test('a link is the one that either makes, and a new one is of the current key', () => {
    expect(during.shareTokens('firing')).toEqual([after.shareToken('firing'), before.shareToken('firing')]);
    expect(during.shareToken('firing')).toBe(after.shareToken('firing'));
    expect(createSealing({ current: secret, previous: secret }).shareTokens('firing')).toHaveLength(1);
  });
});

describe('what a version before has made', () => {
  const place = '6d1f3f0a-9f64-4a70-8f8e-6b1a6c2f0a01';
  const sealed = 'VX93iZd26nFkHwbw8rh44bv0phK_IwUR2PlT8Rd_QZQ7EK7QAZlz-_t-TN82shwiQUSz0g';

  test('is opened, with the current key and with the previous one, and is to be sealed anew', () => {
    for (const keys of [sealing, createSealing({ current: another, previous: secret })]) {
      expect(keys.unseal(sealed, place)).toBe('Bearer of the first form');
      expect(keys.standingOf(sealed, place)).toBe('superseded');
    }
    expect(createSealing(another).standingOf(sealed, place)).toBe('unreadable');
    expect(() => sealing.unseal(sealed, 'elsewhere')).toThrow('cannot be opened');
    expect(() => sealing.unseal(`${sealed.slice(0, 20)}A${sealed.slice(21)}`, place)).toThrow(
      'cannot be opened',
    );
  });

  test('is derived as it was: signing secrets with the previous key, tokens of links with either', () => {
    const signing = 'whsec_HUXQjfhXLzTfapOjn8a81K1lZA92BH7LeTRkj4iWZHg=';
    const token = 'lsh_X0bvX2OBiaybiDubWQPs7xvHdS9qopFnN7o4C1lu';
    const during = createSealing({ current: another, previous: secret });
    expect([sealing.signingSecret('one'), during.signingSecret('one')]).toEqual([signing, signing]);
    expect(createSealing({ current: secret, next: another }).signingSecret('one')).toBe(signing);
    expect([sealing.shareToken('one'), during.shareTokens('one')[1]]).toEqual([token, token]);
  });
});

describe('the token of a share link', () => {
  test('follows from the setting and the firing, has the form of any other, and differs from firing to firing', () => {
    const token = sealing.shareToken('one');
    // 62 ^ 40 is more than 2 ^ 238.
    expect(token).toMatch(/^lsh_[0-9A-Za-z]{40}$/);
    expect(sealing.shareToken('one')).toBe(token);
    expect(sealing.shareToken('two')).not.toBe(token);
    expect(createSealing(another).shareToken('one')).not.toBe(token);
  });
});
