// The laws of a deleted type in the order of time: what reads leave out by the mark is what the removal removes, in any parts, in any
// order of batches, and once; events behind the mark stay.
import { describe, expect, test } from '@jest/globals';
import { eventTypeKey, nameBasedId } from '@lead-scoring/contracts';
import fc from 'fast-check';
import type { EventSecondDocument } from '../events/documents.js';
import { leadBytesOf, recordId } from '../events/keys.js';
import { blockOffsets, countIn, SecondFold, visitEvents } from '../events/seconds.js';
import { ouId } from '../testing/builders.js';
import { blankOf, DeletedTypes } from './deleted-types-model.js';
import { partsOf } from './parts-model.js';

const types = ['page view', 'email open'] as const;
const firstOffset = 5 * blockOffsets;
const partition = 2;
const place = (second: number) => ({ ouId, second, partition, block: 5, part: 0 });
const recorded = fc.array(
  fc.record({
    lead: fc.constantFrom('a', 'b', 'c'),
    second: fc.constantFrom(10, 11),
    typeKeys: fc.array(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 20 },
);
type Recorded = typeof recorded extends fc.Arbitrary<infer Value> ? Value : never;

function folds(records: Recorded): Map<number, SecondFold> {
  const seconds = new Map([10, 11].map((second) => [second, new SecondFold(place(second), null)]));
  records.forEach(({ lead, second, typeKeys }, index) => {
    const offset = firstOffset + index;
    const leadBytes = leadBytesOf(recordId(nameBasedId(ouId, lead), offset));
    typeKeys.forEach((typeKey, at) =>
      seconds.get(second)?.add(typeKey, leadBytes, offset, second * 1_000, at),
    );
  });
  return seconds;
}

const documentsOf = (seconds: Map<number, SecondFold>) =>
  [...seconds.values()].map((fold) => fold.document());
const eventsIn = (document: EventSecondDocument) => {
  const found: string[] = [];
  visitEvents(document, (type, timeMs, lead) => found.push(`${type} ${String(timeMs)} ${lead}`));
  return found;
};
const marks = (before: number) => new DeletedTypes([{ key: 'page view', partition, before }], eventTypeKey);
const atOffset = fc.nat(20).map((index) => firstOffset + index);

describe('a deleted type', () => {
  test('the mark leaves out what the removal removes, which is once, and no event behind the mark', () => {
    fc.assert(
      fc.property(recorded, atOffset, (records, before) => {
        const seconds = folds(records);
        const left = documentsOf(seconds).map((document) => marks(before).secondWithout(document));
        const expected = records.flatMap(({ typeKeys }, index) =>
          typeKeys.filter((type) => type !== 'page view' || firstOffset + index >= before),
        );
        expect(left.reduce((sum, { count }) => sum + count, 0)).toBe(expected.length);
        for (const type of types)
          expect(left.reduce((sum, document) => sum + countIn(document, type), 0)).toBe(
            expected.filter((one) => one === type).length,
          );
        for (const fold of seconds.values()) {
          fold.removeType('page view', before, 10_000);
          expect(fold.removeType('page view', before, 10_000)).toEqual([]);
          expect(fold.removeType('page view', before, 10_001)).toEqual([]);
        }
        const removed = documentsOf(seconds);
        expect(removed.map(eventsIn)).toEqual(left.map(eventsIn));
        expect(removed.map(({ counts }) => counts)).toEqual(left.map(({ counts }) => counts));
        for (const document of removed) expect(marks(before).secondWithout(document)).toBe(document);
      }),
    );
  });

  test('folding the events again after the removal changes nothing, and later events are added', () => {
    fc.assert(
      fc.property(recorded, atOffset, (records, before) => {
        const [fold] = folds(records).values();
        if (!fold) throw new Error('two seconds');
        fold.removeType('page view', before, 10_000);
        const document = fold.document();
        const again = new SecondFold(place(10), document);
        records.forEach(({ lead, typeKeys }, index) => {
          const offset = firstOffset + index;
          const leadBytes = leadBytesOf(recordId(nameBasedId(ouId, lead), offset));
          typeKeys.forEach((type, at) => again.add(type, leadBytes, offset, 10_000, at));
        });
        if (document.offset === 10_000) expect(again.document().count).toBe(document.count);
        const later = leadBytesOf(recordId(nameBasedId(ouId, 'a'), 10_001));
        expect(again.add('page view', later, 10_001, 10_000, 0)).toBe(true);
      }),
    );
  });

  test('its steps name every second with deleted events once, and every lead once, within their limits', () => {
    const limit = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(recorded, atOffset, limit, limit, fc.nat(3), (records, before, leads, events, forgets) => {
        const documents = documentsOf(folds(records));
        const asked: string[] = [];
        const seconds: string[] = [];
        let remembered = new Set<string>();
        let [from, lead, found] = [0, null as string | null, 0];
        for (let step = 0; from < documents.length; step += 1) {
          const taken = partsOf(documents.slice(from), {
            ...{ typeKey: 'page view', marks: new Map([[partition, before]]), lead },
            ...{ isAskedFor: (id) => remembered.has(id), limits: { leads, events } },
          });
          const inStep = taken.parts.flatMap((part) => part.leads);
          expect(inStep.length).toBeLessThanOrEqual(leads);
          expect(taken.documents > 0 || inStep.length > 0).toBe(true);
          asked.push(...inStep);
          seconds.push(...taken.parts.flatMap((part) => part.seconds));
          for (const id of inStep) remembered.add(id);
          // A restart loses the remembered leads.
          if (forgets > 0 && step === forgets) remembered = new Set();
          found += taken.events;
          from += taken.documents;
          ({ lead } = taken);
        }
        const deleted = records.flatMap(({ lead: name, second, typeKeys }, index) =>
          typeKeys.flatMap((type) =>
            type === 'page view' && firstOffset + index < before
              ? [{ lead: nameBasedId(ouId, name), second }]
              : [],
          ),
        );
        expect(found).toBe(deleted.length);
        expect(new Set(asked)).toEqual(new Set(deleted.map((one) => one.lead)));
        if (forgets === 0) expect(new Set(asked).size).toBe(asked.length);
        expect(new Set(seconds).size).toBe(seconds.length);
        expect(seconds.length).toBe(new Set(deleted.map(({ second }) => second)).size);
      }),
    );
  });

  test('a record shows the events that are left under their own indexes, blank ones left out', () => {
    const event = (event_type: string) => ({
      id: nameBasedId(ouId, event_type),
      event_type,
      timestamp: '2026-01-01T00:00:00.000Z',
    });
    const events = [event('Page View'), event('Email Open'), blankOf(event('Form')), event('page_view')];
    const marked = new DeletedTypes([{ key: eventTypeKey('Page View'), partition, before: 7 }], eventTypeKey);
    const shown = (offset: number) =>
      marked.visibleIn({ events }, { partition, offset }).map(({ index }) => index);
    expect(shown(6)).toEqual([1]);
    expect(shown(7)).toEqual([0, 1, 3]);
    expect(marked.visibleIn({ events }, { partition: 1, offset: 0 }).map(({ index }) => index)).toEqual([
      0, 1, 3,
    ]);
  });
});
