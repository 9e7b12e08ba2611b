// A lead is deleted and a new lead gets its id. Two topics report the deletion at unrelated times; the new lead behaves as if the
// first one had never existed.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { lawRuns } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import {
  compileTriggers,
  decideDeletion,
  decideIngested,
  decideScored,
  type Deletion,
  evolveLead,
  type FiringDecision,
  type FiringDraft,
  initialLeadState,
  isEnded,
  isExplained,
  type LeadState,
  type Source,
} from '@lead-scoring/scoring-domain/triggers';
import {
  act,
  configurationOf,
  eventsIngested,
  idOf,
  ingestedAt,
  leadDeleted,
  leadId,
  leadRemoved,
  leadScored,
  milestone,
  ouId,
  scoredAt,
  second,
  sequence,
  surge,
  type Act,
} from '../testing/firing-builders.js';
import { isFired } from './subject-model.js';

const triggers = compileTriggers(
  configurationOf([
    milestone({ score_threshold: 20, rearm: { below: 10, cooldown_seconds: 0 } }),
    surge({ threshold: 25, window_seconds: 10, cooldown_seconds: 3 }),
    sequence(['A', 'B'], { window_seconds: 10 }),
  ]),
  { levels: [] },
);

/** The decision on one record. */
type Deciding = (state: LeadState) => FiringDecision;

const deletionOf = (
  { deletion_id, ...told }: records.LeadRemoved | records.LeadDeleted,
  at: string,
): Deletion => ({ ...told, deletion_id, at });

/** The records of scoring and those of ingest on leads with one id, separated by deletions; each list is in order. */
function logsOf(lives: readonly (readonly Act[])[]): { scoring: Deciding[][]; ingest: Deciding[][] } {
  let offset = 0;
  const scoring = lives.map((life, nth) => {
    let score = 0;
    const decidings = life.map((one): Deciding => {
      const scored = leadScored([one], score, one.at);
      const source = scoredAt((offset += 2));
      ({ score } = scored);
      return (state) => decideScored(scored, source, state, triggers);
    });
    const source = scoredAt((offset += 2));
    const deletion = deletionOf(leadRemoved(`deletion ${String(nth)}`, score), second(nth));
    return [...decidings, (state: LeadState) => decideDeletion(deletion, source, state, true)];
  });
  offset = 0;
  const ingest = lives.map((life, nth) => {
    const decidings = life.map((one): Deciding => {
      const source = ingestedAt((offset += 2));
      return (state) => decideIngested(eventsIngested([one], one.at), source, state, triggers);
    });
    const source = ingestedAt((offset += 2));
    const deletion = deletionOf(leadDeleted(`deletion ${String(nth)}`), second(nth));
    return [...decidings, (state: LeadState) => decideDeletion(deletion, source, state, true)];
  });
  return { scoring, ingest };
}

interface Run {
  events: FiringDraft[];
  state: LeadState;
}

const begin = (): Run => ({ events: [], state: initialLeadState(ouId, leadId) });

/** Takes from one log or the other, each in its order. */
function inTurns(scoring: readonly Deciding[], ingest: readonly Deciding[], turns: readonly boolean[]): Run {
  const logs = { scoring: [...scoring], ingest: [...ingest] };
  const order = turns.flatMap((isScoring) => (isScoring ? logs.scoring : logs.ingest).shift() ?? []);
  return [...order, ...logs.scoring, ...logs.ingest].reduce<Run>(({ events, state }, decide) => {
    const decision = decide(state);
    return { events: [...events, ...decision.events], state: decision.state };
  }, begin());
}

/** The firings that are not forgotten, by topic. */
function left(events: readonly FiringDraft[]): Record<Source['topic'], unknown[]> {
  const ends = events.flatMap((event) => (event.type === 'LeadForgotten' ? [event.payload.source] : []));
  const fired = events.filter(
    (event) => isFired(event) && !ends.some((end) => isEnded(event.payload.source, end)),
  );
  const of = (topic: Source['topic']) => fired.filter(({ payload }) => payload.source.topic === topic);
  return { 'scoring.events': of('scoring.events'), 'ingest.events': of('ingest.events') };
}

const memoryOf = ({ memories, matches, gains }: LeadState) => ({
  memories: new Map([...memories].sort()),
  matches,
  gains,
});

const life = fc.array(
  fc.record({
    type: fc.constantFrom('A', 'B'),
    at: fc.integer({ min: 0, max: 25 }),
    points: fc.integer({ min: -15, max: 25 }),
  }),
  { maxLength: 12 },
);
const lives = fc
  .array(life, { minLength: 2, maxLength: 3 })
  .map((all) =>
    all.map((one, nth) =>
      one.map(({ type, at, points }, index) => act(`${String(nth)}-${String(index)}`, type, at, points)),
    ),
  );
const turns = fc.array(fc.boolean(), { maxLength: 60 });

describe('a lead that is deleted and begins anew', () => {
  test('behaves like a first lead, for any interleaving of the two topics', () => {
    fc.assert(
      fc.property(lives, turns, (all, order) => {
        const { scoring, ingest } = logsOf(all);
        const last = (log: readonly Deciding[][]) => log.at(-1)?.slice(0, -1) ?? [];
        const before = (log: readonly Deciding[][]) => log.slice(0, -1).flat();
        const run = inTurns(
          [...before(scoring), ...last(scoring)],
          [...before(ingest), ...last(ingest)],
          order,
        );
        const alone = inTurns(last(scoring), last(ingest), []);
        expect(memoryOf(run.state)).toEqual(memoryOf(alone.state));
        expect(left(run.events)).toEqual(left(alone.events));
        expect(isExplained(run.state)).toBe(true);
      }),
      { numRuns: Math.max(500, lawRuns) },
    );
  });

  test('leaves only the offsets of its last records after its last deletion', () => {
    fc.assert(
      fc.property(lives, turns, (all, order) => {
        const { scoring, ingest } = logsOf(all);
        const run = inTurns(scoring.flat(), ingest.flat(), order);
        expect(memoryOf(run.state)).toEqual(memoryOf(begin().state));
        expect(left(run.events)).toEqual({ 'scoring.events': [], 'ingest.events': [] });
        // A repeated record changes nothing.
        for (const decide of [...scoring, ...ingest].flat())
          expect(decide(run.state)).toEqual({ events: [], state: run.state });
      }),
    );
  });

  test('replay equals live', () => {
    fc.assert(
      fc.property(lives, turns, (all, order) => {
        const { scoring, ingest } = logsOf(all);
        const run = inTurns(scoring.flat(), ingest.flat(), order);
        expect(run.events.reduce(evolveLead, begin().state)).toEqual(run.state);
        for (const event of run.events)
          if (event.type === 'LeadForgotten') records.leadForgotten.schema.parse(event.payload);
      }),
    );
  });
});

describe('the explanation of a lead', () => {
  const removed = (name: string): Deciding => {
    const deletion = deletionOf(leadRemoved(name), second(0));
    return (state) => decideDeletion(deletion, scoredAt(state.seen['scoring.events'] + 1), state, true);
  };
  const deleted = (name: string, more: Partial<records.LeadDeleted> = {}): Deciding => {
    const deletion = deletionOf(leadDeleted(name, more), second(0));
    return (state) => decideDeletion(deletion, ingestedAt(state.seen['ingest.events'] + 1), state, true);
  };

  test.each<[string, Deciding[], boolean]>([
    ['belongs to the lead where nothing was deleted', [], true],
    ['does not belong to the lead before scoring has reported the deletion', [deleted('one')], false],
    [
      'belongs to the lead again after scoring has reported the deletion',
      [deleted('one'), removed('one')],
      true,
    ],
    [
      'belongs to the lead when scoring has reported the deletion first',
      [removed('one'), deleted('one')],
      true,
    ],
    [
      'does not belong to the lead while scoring is one deletion behind',
      [deleted('one'), removed('one'), deleted('two')],
      false,
    ],
    [
      'counts as the lead’s when it was linked: scoring may never report the deletion',
      [deleted('one', { linked_to: idOf('bob') })],
      true,
    ],
    [
      'counts as the lead’s when it was linked, whatever was deleted before',
      [deleted('one'), removed('one'), deleted('two', { linked_to: idOf('bob') }), removed('two')],
      true,
    ],
  ])('%s', (_, decidings, expected) => {
    expect(isExplained(inTurns(decidings, [], []).state)).toBe(expected);
  });
});

test('a deletion records nothing where the OU never had triggers', () => {
  const { state } = begin();
  const deletion = deletionOf(leadRemoved('one'), second(0));
  expect(decideDeletion(deletion, scoredAt(3), state, false)).toEqual({ events: [], state });
  const known = decideDeletion(deletion, scoredAt(3), state, true).state;
  expect(decideDeletion(deletion, scoredAt(4), known, false).events).toHaveLength(1);
});
