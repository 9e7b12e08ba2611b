// Each record of ingest.events is decided once, however often and in whichever batches it is read.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deleted, ingested, ouId } from '../testing/builders.js';
import { viewRules } from '../testing/view-rules.js';
import { decideLeads } from './decide.js';
import { endAfter, undecided } from './source-model.js';
import type { LeadCause, CausedEvent } from './messages.js';
import { causedEvents } from '../testing/caused-events.js';

interface Happened {
  offset: bigint;
  cause: LeadCause;
}

/** The state that a partition folds from its own events alone. */
interface Known {
  end: number;
  leads: Map<string, { score: number } | null>;
}

const nothing = (): Known => ({ end: 0, leads: new Map() });

function fold(known: Known, events: readonly CausedEvent[]): void {
  for (const { type, payload } of events) {
    known.end = endAfter(known.end, payload.source);
    known.leads.set(payload.lead_id, type === 'LeadScored' ? { score: payload.score } : null);
  }
}

function decide(known: Known, handed: readonly Happened[]): CausedEvent[] {
  return causedEvents(
    decideLeads(
      undecided(handed, known.end).map(({ offset, cause }) => ({
        ...cause,
        source: { offset: Number(offset) },
      })),
      (_, lead) => known.leads.get(lead) ?? null,
      viewRules,
    ),
  );
}

/** Offsets grow, with gaps for markers. */
const log = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 3 }),
      lead: fc.constantFrom('ada', 'bob', 'cleo'),
      isDeletion: fc.boolean(),
      events: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((happened) => {
    let offset = 0n;
    return happened.map(({ gap, lead, isDeletion, events }): Happened => {
      offset += BigInt(gap);
      return {
        offset,
        cause: isDeletion
          ? { type: 'LeadDeleted', payload: deleted(lead) }
          : {
              type: 'EventsIngested',
              payload: ingested(
                lead,
                Array.from({ length: events }, () => ({})),
              ),
            },
      };
    });
  });

describe('records that are read', () => {
  test('again from any earlier offset, at any time, give the same decisions as records that are read once', () => {
    const steps = fc.array(
      fc.record({
        take: fc.integer({ min: 1, max: 8 }),
        back: fc.integer({ min: 0, max: 30 }),
        replay: fc.boolean(),
      }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(log, steps, (happened, ways) => {
        const once = nothing();
        const expected = decide(once, happened);

        let known = nothing();
        const recorded: CausedEvent[] = [];
        let at = 0;
        const hand = (from: number, to: number) => {
          const events = decide(known, happened.slice(from, to));
          recorded.push(...events);
          fold(known, events);
        };
        for (const { take, back, replay } of ways) {
          const from = Math.max(0, at - back);
          at = Math.min(happened.length, at + take);
          hand(from, at);
          if (replay) {
            // A new owner, or a rebuild: the state is folded from the events.
            known = nothing();
            fold(known, recorded);
          }
        }
        hand(at, happened.length);
        hand(0, happened.length);
        expect(recorded).toEqual(expected);
      }),
    );
  });

  test('twice in one batch are decided once', () => {
    const record: Happened = {
      offset: 7n,
      cause: { type: 'EventsIngested', payload: ingested('ada', [{}]) },
    };
    expect(decide(nothing(), [record, record])).toHaveLength(1);
  });
});

test('a decision names its record, also one of several parts and one that removes a lead', () => {
  const source = { offset: 42 };
  const events = decideLeads(
    [
      { type: 'EventsIngested', payload: ingested('ada', [{}, {}]), source },
      { type: 'LeadDeleted', payload: deleted('ada'), source: { offset: 43 } },
    ],
    () => null,
    viewRules,
  );
  expect(causedEvents(events).map(({ payload }) => [payload.ou_id, payload.source])).toEqual([
    [ouId, { offset: 42 }],
    [ouId, { offset: 43 }],
  ]);
});

test('a decision of an earlier version, without a source, does not move the end', () => {
  expect(endAfter(5, undefined)).toBe(5);
  expect(endAfter(5, { offset: 3, sent_again: true })).toBe(5);
  expect(endAfter(5, { offset: 5 })).toBe(6);
});
