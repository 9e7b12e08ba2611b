// The entry in the index of due leads: a lead is named before it is due or when it is, and seldom written while it is active.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dueEntryAfter, type DueEntry } from './due-entry-model.js';

const day = 86_400_000;
const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

describe('the entry of a lead', () => {
  const moments = fc.array(
    fc.record({ afterMs: fc.nat(3 * day), dueInMs: fc.option(fc.integer({ min: -day, max: 40 * day })) }),
    { maxLength: 30 },
  );

  test('is there while the lead is due at some time, and then names it in time', () => {
    fc.assert(
      fc.property(moments, (decisions) => {
        let now = 0;
        let entry: DueEntry | undefined;
        for (const [offset, { afterMs, dueInMs }] of decisions.entries()) {
          now += afterMs;
          const due = dueInMs === null ? undefined : at(now + dueInMs);
          entry = dueEntryAfter(entry, due, { decided_at: at(now), offset });
          expect(entry === undefined).toBe(due === undefined);
          if (entry && due !== undefined) expect(entry.at <= due).toBe(true);
          // One that names the lead too early names it later than the decision: the clock does not find the lead at once.
          if (entry && entry.at !== due) expect(entry.at > at(now)).toBe(true);
        }
      }),
    );
  });

  test('is written once in an interval, however often the lead is scored', () => {
    let entry: DueEntry | undefined;
    const written = new Set<number>();
    for (let hour = 0; hour < 24 * 30; hour += 1) {
      const now = (hour * day) / 24;
      entry = dueEntryAfter(entry, at(now + 7 * day), { decided_at: at(now), offset: hour });
      written.add(entry?.offset ?? -1);
    }
    expect(written.size).toBe(5);
  });

  test('follows a tick that comes earlier than before', () => {
    const known = { at: at(7 * day), offset: 1 };
    const decision = { decided_at: at(0), offset: 2 };
    expect(dueEntryAfter(known, at(day), decision)).toEqual({ at: at(day), offset: 2 });
    expect(dueEntryAfter(known, undefined, decision)).toBeUndefined();
  });
});
