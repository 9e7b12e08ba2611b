// The events of a second give the same documents for any batches, and are read back in order.
import { describe, expect, test } from '@jest/globals';
import { nameBasedId } from '@lead-scoring/contracts';
import { bytesOf } from '@lead-scoring/read-model';
import fc from 'fast-check';
import { ouId } from '../testing/builders.js';
import { leadBytesOf, placeOf, recordId } from './keys.js';
import type { EventSecondDocument } from './documents.js';
import { blockOf, blockOffsets, countIn, newestPlaces, SecondFold } from './seconds.js';

const second = 1_767_225_600;

interface Event {
  typeKey: string;
  ms: number;
}
interface Recorded {
  offset: number;
  lead: string;
  events: Event[];
}

const eventArbitrary = fc.record({
  typeKey: fc.constantFrom('page view', 'email open', '$where'),
  ms: fc.nat(999),
});
const log = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 3 }),
      lead: fc.constantFrom('a', 'b', 'c'),
      events: fc.array(eventArbitrary, { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((records) => {
    let offset = 5 * blockOffsets - 1;
    return records.map(({ gap, lead, events }): Recorded => ({ offset: (offset += gap), lead, events }));
  });

const leadBytes = (record: Recorded) => leadBytesOf(recordId(nameBasedId(ouId, record.lead), record.offset));
const placeAt = () => ({ ouId, second, partition: 2, block: 5, part: 0 });

function fold(records: readonly Recorded[], stored: EventSecondDocument | null): EventSecondDocument {
  const open = new SecondFold(placeAt(), stored);
  for (const record of records)
    record.events.forEach(({ typeKey, ms }, index) =>
      open.add(typeKey, leadBytes(record), record.offset, second * 1_000 + ms, index),
    );
  return open.document();
}

const everything = { typeKey: null, fromMs: -Infinity, toMs: Infinity, before: null };

describe('the events of a second', () => {
  test('any division into batches, and folding some of them again after a crash, gives the same documents', () => {
    fc.assert(
      fc.property(log, fc.nat(30), fc.nat(30), (records, cut, back) => {
        const whole = fold(records, null);
        const first = records.slice(0, cut);
        const again = records.slice(Math.max(0, cut - back));
        expect(fold(again, first.length > 0 ? fold(first, null) : null)).toEqual(
          first.length > 0 ? whole : fold(again, null),
        );
      }),
    );
  });

  test('a deleted lead is removed once, and its later events stay', () => {
    fc.assert(
      fc.property(log, fc.nat(30), fc.boolean(), (records, cut, again) => {
        const deletedAt = (records.slice(0, cut).at(-1)?.offset ?? 5 * blockOffsets - 1) + 0.5;
        const lead = nameBasedId(ouId, 'a');
        let open = new SecondFold(placeAt(), null);
        const add = (some: readonly Recorded[]) => {
          for (const record of some)
            record.events.forEach(({ typeKey, ms }, index) =>
              open.add(typeKey, leadBytes(record), record.offset, second * 1_000 + ms, index),
            );
        };
        add(records.slice(0, cut));
        open.removeLeads(new Map([[lead, deletedAt]]));
        if (again) {
          // After a crash: from what was stored.
          open = new SecondFold(placeAt(), open.document());
          add(records.slice(0, cut));
          open.removeLeads(new Map([[lead, deletedAt]]));
        }
        add(records.slice(cut));
        const left = [
          ...records.slice(0, cut).filter((record) => record.lead !== 'a'),
          ...records.slice(cut),
        ];
        const expected = fold(left, null);
        const found = open.document();
        // An erased log no longer has the events of the lead, and a rebuild from it gives the same documents.
        expect({ ...found, offset: null }).toEqual({ ...expected, offset: null });
        expect(newestPlaces(ouId, [found], everything, Infinity)).toEqual(
          newestPlaces(ouId, [expected], everything, Infinity),
        );
        for (const typeKey of ['page view', 'email open', '$where'])
          expect(countIn(found, typeKey)).toBe(countIn(expected, typeKey));
      }),
    );
  });

  test('leads that are removed in one pass leave what they leave when they are removed one after the other', () => {
    fc.assert(
      fc.property(log, fc.subarray(['a', 'b', 'c']), fc.nat(3), (records, leads, known) => {
        const last = records.at(-1)?.offset ?? 5 * blockOffsets;
        // Of those that are folded already, nothing is removed.
        const deleted = leads.map((lead, index) => [nameBasedId(ouId, lead), last - known + index] as const);
        const together = new SecondFold(placeAt(), fold(records, null));
        const apart = new SecondFold(placeAt(), fold(records, null));
        const isChanged = deleted.map((one) => apart.removeLeads(new Map([one]))).includes(true);
        expect(together.removeLeads(new Map(deleted))).toBe(isChanged);
        expect(together.document()).toEqual(apart.document());
      }),
    );
  });

  test('are read back newest first, by type, between times and after a place, as by a plain sort', () => {
    fc.assert(
      fc.property(
        log,
        fc.option(fc.constantFrom('page view', '$where', 'never'), { nil: null }),
        fc.nat(999),
        fc.nat(1_000),
        fc.nat(20),
        fc.nat(60),
        (records, typeKey, from, to, wanted, after) => {
          const document = fold(records, null);
          const all = records
            .flatMap((record) =>
              record.events.map(({ typeKey: type, ms }, index) => ({
                type,
                ms,
                place: bytesOf(
                  placeOf(ouId, {
                    leadBytes: leadBytes(record),
                    offset: record.offset,
                    timestampMs: second * 1_000 + ms,
                    index,
                  }),
                ),
              })),
            )
            .sort((left, right) => Buffer.compare(right.place, left.place));
          expect(countIn(document, typeKey)).toBe(
            all.filter(({ type }) => typeKey === null || type === typeKey).length,
          );
          const before = all[after]?.place ?? null;
          expect(
            newestPlaces(
              ouId,
              [document],
              { typeKey, fromMs: second * 1_000 + from, toMs: second * 1_000 + to, before },
              wanted,
            ),
          ).toEqual(
            all
              .filter(({ type, ms }) => (typeKey === null || type === typeKey) && ms >= from && ms < to)
              .map(({ place }) => place)
              .filter((place) => !before || Buffer.compare(place, before) < 0)
              .slice(0, wanted),
          );
        },
      ),
    );
  });

  test('a record with very many events has documents of its own, so that no document grows without limit', () => {
    expect(blockOf(3 * blockOffsets + 7, 5)).toEqual({ block: 3, part: 0 });
    expect(blockOf(3 * blockOffsets + 7, 5_000)).toEqual({ block: 3, part: 8 });
    const events = Array.from({ length: 5_000 }, (_, at) => ({ typeKey: 'page view', ms: at % 1_000 }));
    const document = fold([{ offset: 3 * blockOffsets + 7, lead: 'a', events }], null);
    expect(document.count).toBe(5_000);
    expect(bytesOf(document.events).length).toBeLessThan(200_000);
    expect(newestPlaces(ouId, [document], everything, 10)).toHaveLength(10);
  });
});
