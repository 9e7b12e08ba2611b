// A lead's state survives packing and unpacking, and an event that many triggers remember is in the text once.
import { expect, test } from '@jest/globals';
import type { JsonValue } from '@lead-scoring/contracts';
import { packJson } from '@lead-scoring/read-model';
import fc from 'fast-check';
import {
  type Gain,
  initialLeadState,
  type LeadState,
  noDeletions,
  type StepMatch,
  type Timeline,
  type TimelineEntry,
} from '@lead-scoring/scoring-domain/triggers';
import { packState, unpackState, type RememberedState } from './state-text.js';

const version = fc.integer({ min: 1, max: 5 });
const moment = fc.integer({ min: 0, max: 2_000_000_000_000 });

/** Of a few names, so that sequences have events in common, and of two events one may have the other's id. */
const match: fc.Arbitrary<StepMatch> = fc.record({
  at: fc.oneof(fc.constantFrom(1, 2), moment),
  event_id: fc.constantFrom('a', 'b', '1 a', '', '__proto__'),
  event_type: fc.constantFrom('Page View', 'Email Open', '', 'constructor'),
  steps: fc.array(fc.nat(9), { maxLength: 3 }),
  configuration_version: version,
});
const gain: fc.Arbitrary<Gain> = fc.record({
  at: moment,
  points: fc.integer({ min: -50, max: 50 }),
  configuration_version: version,
});

/** `newest` may be later than the last entry: the newest entry was dropped, or had a time in the future. */
function timelineOf<Entry extends TimelineEntry>(entry: fc.Arbitrary<Entry>): fc.Arbitrary<Timeline<Entry>> {
  return fc
    .record({ newest: moment, entries: fc.array(entry, { minLength: 1, maxLength: 5 }), same: fc.boolean() })
    .map(({ newest, entries, same }) => ({ newest: same ? (entries.at(-1)?.at ?? 0) : newest, entries }));
}

const state: fc.Arbitrary<RememberedState> = fc
  .record({
    matches: fc.dictionary(fc.constantFrom('first', 'second', 'third'), timelineOf(match)),
    gains: fc.dictionary(fc.constantFrom('page_view', 'email_open'), timelineOf(gain)),
    fired: fc.array(fc.record({ at: moment, configuration_version: version }), { maxLength: 2 }),
    disarmed: fc.option(version),
    suppressed: fc.option(fc.record({ until: moment, configuration_version: version })),
    deletion: fc.option(fc.uuid()),
    seen: fc.record({ 'ingest.events': fc.integer({ min: -1 }), 'scoring.events': fc.integer({ min: -1 }) }),
  })
  .map(({ matches, gains, fired, disarmed, suppressed, deletion, seen }) => ({
    seen,
    memories: new Map([['milestone', { fired, disarmed, suppressed, topic: 'scoring.events' as const }]]),
    matches: new Map(Object.entries(matches)),
    gains: new Map(Object.entries(gains)),
    deletions: { ...noDeletions, 'ingest.events': deletion },
  }));

test('is the same after packing and unpacking', () => {
  fc.assert(
    fc.property(state, (one) => {
      expect(unpackState(packState(one))).toEqual(one);
    }),
  );
});

test('is read in the form of earlier versions', () => {
  fc.assert(
    fc.property(state, (one) => {
      const { seen, memories, matches, gains, deletions } = one;
      const former = { seen, memories: [...memories], matches: [...matches], gains: [...gains], deletions };
      expect(unpackState(packJson(JSON.parse(JSON.stringify(former)) as JsonValue))).toEqual(one);
    }),
  );
});

test('has an event once, however many sequences remember it', () => {
  const sizeWith = (sequences: number): number => {
    const entries = Array.from({ length: 10 }, (_, number): StepMatch => ({
      at: 1_800_000_000_000 + number,
      event_id: `40256f52-123a-4d4e-a813-e8df96ef21a${String(number)}`,
      event_type: 'Email Open',
      steps: [1],
      configuration_version: 201,
    }));
    const matches = new Map(
      Array.from({ length: sequences }, (_, number) => [
        String(number),
        { newest: 1_800_000_000_009, entries },
      ]),
    );
    const one: LeadState = { ...initialLeadState('ou', 'lead'), matches };
    return packState(one).length;
  };
  expect(sizeWith(10)).toBeLessThan(2 * sizeWith(1) + 500);
  expect(sizeWith(1)).toBeLessThan(900);
});
