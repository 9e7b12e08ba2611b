// The pure parts of the index of texts: a text that contains another one has all its terms, and packed postings lose nothing.
import { expect, test } from '@jest/globals';
import { escapeForRegex } from '@lead-scoring/read-model';
import fc from 'fast-check';
import { idOf, ouId } from '../testing/builders.js';
import type { Lead } from '../leads/state.js';
import {
  pageKey,
  placeOfPage,
  placeOfPostings,
  postingsKey,
  postingsKeysOf,
  storedTexts,
  textsIn,
} from './documents.js';
import {
  bucketsOf,
  commonSlots,
  packPostings,
  slotsOf,
  unpackPostings,
  withoutSlots,
} from './postings-model.js';
import { indexedText, lookedUpTerms, sameCase, termLength, termsOf, textChange } from './text-model.js';

/** Texts of few letters, so that one is often part of another; and of any characters. */
const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom(...Array.from('aAbB. -@ßσςΣſsµ')), maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

test('a text that contains another one in any case has all the terms by which the other one is looked up', () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, fc.boolean(), (before, middle, after, isUpper) => {
      const stored = `${before}${middle}${after}`.toLowerCase();
      // A search has no control characters, and is well-formed.
      const text = middle.replace(/\p{Cc}/gu, '').toWellFormed();
      const searched = (isUpper ? text.toUpperCase() : text).toLowerCase();
      fc.pre(new RegExp(escapeForRegex(searched), 'iu').test(stored));
      const terms = termsOf(indexedText(stored));
      expect(lookedUpTerms(searched).filter((term) => !terms.has(term))).toEqual([]);
      expect(sameCase(indexedText(stored))).toContain(sameCase(searched));
    }),
    { numRuns: 500 },
  );
});

test('characters that differ in case alone are the same to the index, for each letter of Unicode', () => {
  const different: string[] = [];
  for (let code = 0; code < 0x20000; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const character = String.fromCodePoint(code).toLowerCase();
    for (const other of [character.toUpperCase(), character.toUpperCase().toLowerCase()])
      if (
        other !== character &&
        Array.from(other).length === 1 &&
        /\p{L}/u.test(character) &&
        new RegExp(`^${character}$`, 'iu').test(other) &&
        sameCase(character) !== sameCase(other)
      )
        different.push(`${character} ${other}`);
  }
  expect(different).toEqual([]);
});

test('only a text of fewer characters than a term has no terms', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(lookedUpTerms(text).length === 0).toBe(Array.from(text).length < termLength);
    }),
  );
});

const slotsOfBlock = 1_024;
const termsOfSlots = fc.array(
  fc.uniqueArray(
    fc.oneof(fc.constantFrom(1, 2, 257, 4_294_967_295), fc.integer({ min: 0, max: 4_294_967_295 })),
    {
      maxLength: 6,
    },
  ),
  { maxLength: 400, size: 'max' },
);

test('packed postings have each slot of each term, without those that were removed', () => {
  fc.assert(
    fc.property(termsOfSlots, fc.nat(), (terms, removed) => {
      const buckets = bucketsOf(terms.map((some) => new Set(some)));
      const slot = terms.length === 0 ? 0 : removed % terms.length;
      for (const postings of buckets.values()) {
        const bytes = packPostings(postings, slotsOfBlock);
        expect(unpackPostings(bytes, slotsOfBlock)).toEqual(postings);
        const left = withoutSlots(
          postings,
          (terms[slot] ?? []).map((term) => ({ term, slot })),
        );
        for (const [term, slots] of postings) {
          expect(slots).toEqual([...terms.keys()].filter((one) => terms[one]?.includes(term)));
          expect(slotsOf(bytes, term, slotsOfBlock)?.all()).toEqual(slots);
          expect(left.get(term) ?? []).toEqual(slots.filter((one) => one !== slot));
        }
      }
    }),
    { numRuns: 5 },
  );
});

test('common slots are those of every term, whether they are packed as lists or as bitmaps', () => {
  // Every slot, every other slot, and some slots.
  const slots = fc.oneof(
    fc
      .constantFrom(1, 2)
      .map((step) => Array.from({ length: slotsOfBlock / step }, (_, index) => index * step)),
    fc.uniqueArray(fc.nat(slotsOfBlock - 1)).map((all) => all.sort((left, right) => left - right)),
  );
  fc.assert(
    fc.property(fc.array(slots, { minLength: 1, maxLength: 4 }), (lists) => {
      const bytes = packPostings(new Map(lists.map((list, term) => [term, list])), slotsOfBlock);
      const expected = (lists[0] ?? []).filter((slot) => lists.every((list) => list.includes(slot)));
      const packed = lists.map((list, term) =>
        list.length === 0 ? null : slotsOf(bytes, term, slotsOfBlock),
      );
      expect(commonSlots(packed)).toEqual(expected);
      expect(commonSlots([...packed, slotsOf(bytes, lists.length, slotsOfBlock)])).toEqual([]);
    }),
    { numRuns: 50 },
  );
});

test('stored texts and ids are read as they were', () => {
  const texts = [
    { text: 'ada', leadId: idOf('ada') },
    { text: indexedText('two\nlines'), leadId: idOf('bob') },
  ];
  expect(textsIn(storedTexts(texts))).toEqual(texts);
  expect(textsIn(storedTexts([]))).toEqual([]);
  const place = { ouId, partition: 7, kind: 'sorted', page: 70_000 } as const;
  expect(placeOfPage(pageKey(place))).toEqual(place);
  const block = { ouId, partition: 7, block: 9 };
  expect(placeOfPostings(postingsKey(block, 255))).toEqual({ ...block, bucket: 255 });
  const { $gte, $lte } = postingsKeysOf(ouId, 255);
  const key = Buffer.from(postingsKey(block, 255).buffer);
  expect(Buffer.compare(Buffer.from($gte.buffer), key)).toBe(-1);
  expect(Buffer.compare(key, Buffer.from($lte.buffer))).toBe(-1);
});

test('an event that leaves name, company and aliases as they are changes no texts', () => {
  const lead = (more: Partial<Lead>): Lead => ({
    ...{ id: idOf('ada'), ou_id: ouId, score: 0, rulesets: [], event_count: 1, first_offset: 1, offset: 1 },
    ...{ first_activity_at: '', last_activity_at: '', fields: {} },
    aliases: [{ alias_kind: 'email', alias: 'ada@example.com' }],
    ...more,
  });
  const named = (value: string, at: string) => ({ name: { value, at } });
  const before = lead({ fields: named('Ada', '1') });
  expect(textChange(before, lead({ fields: named('Ada', '2') }), 5)).toBeNull();
  expect(
    textChange(before, lead({ ...before, fields: { ...before.fields, owner: { value: 'B', at: '' } } }), 5),
  ).toBeNull();
  expect(textChange(before, lead({ fields: named('Bob', '2') }), 5)).toEqual({
    ...{ ouId, leadId: idOf('ada'), offset: 5 },
    ...{ added: ['bob'], removed: ['ada'] },
  });
  expect(textChange(before, null, 5)).toMatchObject({ added: [], removed: ['ada', 'ada@example.com'] });
  expect(textChange(null, before, 5)).toMatchObject({ added: ['ada', 'ada@example.com'], removed: [] });
});
