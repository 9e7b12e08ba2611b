// Names of event types, positions in the log, and the form of secrets.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isWellFormedSecret, secretFrom, secretHashOf } from './credential-secrets.js';
import { eventTypeKey } from './event-types.js';
import { decodePosition, encodePosition, laterPosition } from './position.js';

describe('event types', () => {
  test('all spellings of a type have one key', () => {
    for (const name of ['Page View', 'page_view', ' PAGE-VIEW ', 'page  view', 'Page_-View'])
      expect(eventTypeKey(name)).toBe('page_view');
    expect(eventTypeKey('PageView')).not.toBe('page_view');
  });

  test('a key is its own key', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(eventTypeKey(eventTypeKey(name))).toBe(eventTypeKey(name));
      }),
    );
  });
});

describe('positions', () => {
  const position = fc
    .uniqueArray(fc.tuple(fc.nat(999), fc.bigInt(0n, 2n ** 62n)), {
      minLength: 1,
      maxLength: 12,
      selector: ([partition]) => partition,
    })
    .map((entries) => new Map(entries));

  test('are read as they were written, and need no encoding in a URL', () => {
    fc.assert(
      fc.property(position, (one) => {
        const text = encodePosition(one);
        expect(text).toMatch(/^[A-Za-z0-9_-]{1,2000}$/);
        expect(decodePosition(text)).toEqual(new Map([...one].sort(([a], [b]) => a - b)));
      }),
    );
  });

  test('join to the one that reaches as far as both', () => {
    fc.assert(
      fc.property(position, position, (a, b) => {
        const joined = laterPosition(a, b);
        for (const [partition, offset] of joined)
          expect(offset).toBe(
            [a.get(partition), b.get(partition)].reduce((most = -1n, one = -1n) => (one > most ? one : most)),
          );
        expect(joined.size).toBe(new Set([...a.keys(), ...b.keys()]).size);
        expect(encodePosition(laterPosition(b, a))).toBe(encodePosition(joined));
      }),
    );
  });

  test.each([
    '',
    '0',
    '0-',
    '-1',
    '0-1_',
    '0-1__1-1',
    '0-1_0-2',
    '0-1.',
    'A-1',
    'zzzzz-1',
    `0-${'z'.repeat(14)}`,
    '0-1_1-1'.repeat(400),
  ])('%j is none', (text) => {
    expect(decodePosition(text)).toBeNull();
  });
});

describe('secrets', () => {
  const entropy = fc.uint8Array({ minLength: 32, maxLength: 32 });

  test('have the form of their kind, and one changed character is noticed', () => {
    fc.assert(
      fc.property(entropy, fc.nat(39), (bytes, place) => {
        const secret = secretFrom('lsp_', bytes);
        expect(secret).toMatch(/^lsp_[0-9A-Za-z]{36}$/);
        expect(isWellFormedSecret('lsp_', secret)).toBe(true);
        expect(isWellFormedSecret('lss_', secret)).toBe(false);
        const changed =
          secret.slice(0, place) + (secret[place] === 'a' ? 'b' : 'a') + secret.slice(place + 1);
        expect(isWellFormedSecret('lsp_', changed)).toBe(false);
      }),
    );
  });

  test('too little entropy is refused', () => {
    expect(() => secretFrom('lsp_', new Uint8Array(16))).toThrow('30 bytes');
  });

  test('are stored as their SHA-256', () => {
    expect(secretHashOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
