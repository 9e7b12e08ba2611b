// Ids that are computed from names, and the normalisation of aliases.
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { alias, leadIdOf, nameBasedId, nameBasedIds, normaliseAlias } from './identity.js';

test("name-based ids are RFC 9562's version 5", () => {
  expect(nameBasedId('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
    '2ed6657d-e927-568b-95e1-2665a8aea6a2',
  );
});

test('a name of any length and script gives the id that SHA-1 of namespace and name gives', () => {
  const namespace = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
  const idOf = nameBasedIds(namespace);
  const expected = (name: string) => {
    const digest = createHash('sha1')
      .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
      .update(name)
      .digest();
    digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
    digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
    return digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  };
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 3_000, size: 'max' }), (name) => {
      expect(idOf(name)).toBe(expected(name));
    }),
    { numRuns: 50 },
  );
});

test('the same alias is another lead in another unit, and under another kind', () => {
  const [a, b] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
  expect(new Set([leadIdOf(a, 'x', 'y'), leadIdOf(b, 'x', 'y'), leadIdOf(a, 'z', 'y')]).size).toBe(3);
});

describe('normalising', () => {
  test.each([
    ['email', '  Ada.Lovelace@Example.COM ', 'ada.lovelace@example.com'],
    ['phone', '+49 (151) 234-5678', '+491512345678'],
    ['external_id', ' Ab C ', 'Ab C'],
  ])('%s %j is %j', (kind, value, expected) => {
    expect(normaliseAlias(kind, value)).toEqual({ alias: expected });
  });

  test.each([
    ['email', 'ada'],
    ['email', 'a@b@c'],
    ['email', 'a b@c'],
    ['phone', '0151 2345678'],
    ['phone', '+0151'],
    ['external_id', ' '],
    ['external_id', 'a\u0000'],
    ['external_id', '\ud800'],
    ['external_id', 'x'.repeat(513)],
    ['email', `${'İ'.repeat(300)}@b`],
  ])('%s %j is refused', (kind, value) => {
    expect(normaliseAlias(kind, value)).toHaveProperty('problem');
  });

  test('twice is once, and the result is an alias as records hold it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('email', 'phone', 'cookie'),
        fc.oneof(fc.string({ unit: 'binary' }), fc.emailAddress()),
        (kind, value) => {
          const once = normaliseAlias(kind, value);
          if ('problem' in once) return;
          expect(normaliseAlias(kind, once.alias)).toEqual(once);
          expect(alias.safeParse({ alias_kind: kind, alias: once.alias }).success).toBe(true);
        },
      ),
    );
  });
});
