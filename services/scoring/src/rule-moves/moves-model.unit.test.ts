// The leads that a rule has moved: counted exactly while they are few, estimated within a few percent above, and the same however the
// decisions come.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { idOf, otherOuId, ouId } from '../testing/builders.js';
import {
  countOf,
  maximumMarks,
  MovedByRules,
  movedSince,
  movesTogether,
  noMoves,
  withLeads,
  withMarks,
  type FoldedMoves,
  type MovedLeads,
  type Moves,
} from './moves-model.js';
import { estimate, markOf, sketchOf } from './sketch-model.js';

const leads = Array.from({ length: 3_000 }, (_, index) => idOf(`lead ${String(index)}`));
const marks = leads.map(markOf);
const movesOf = (some: Iterable<number>): Moves => withMarks(noMoves, some);

/** Numbers of leads around the one from which a sketch is kept. */
const leadNumbers = fc.array(fc.nat(maximumMarks + 40), { minLength: 1, maxLength: 2_000 });
const decisionsOf = (numbers: readonly number[]) =>
  numbers.map((lead, at) => ({ lead: marks[lead] ?? 0, offset: at * 3 }));

function movedLeads(decisions: readonly { lead: number; offset: number }[]): MovedLeads {
  return { marks: decisions.map(({ lead }) => lead), offsets: decisions.map(({ offset }) => offset) };
}

/** Folds decisions in batches that end at these places. */
function foldedInBatches(
  decisions: readonly { lead: number; offset: number }[],
  ends: readonly number[],
): FoldedMoves | null {
  let state: FoldedMoves | null = null;
  let from = 0;
  for (const end of [
    ...ends.map((one) => one % (decisions.length + 1)).sort((a, b) => a - b),
    decisions.length,
  ]) {
    const batch = decisions.slice(from, end);
    if (batch.length > 0) state = withLeads(state, movedLeads(batch));
    from = end;
  }
  return state;
}

test('the mark of a lead is made of its twelve first hexadecimal digits and the one behind the version', () => {
  expect(markOf('01234567-89ab-5cde-8f01-23456789abcd')).toBe(0x0123456789abc);
  expect(markOf('FEDCBA98-7654-4321-8000-000000000000')).toBe(0xfedcba9876543);
});

test('any split into batches gives the same, the offset of the last change included', () => {
  fc.assert(
    fc.property(leadNumbers, fc.array(fc.nat(2_000), { maxLength: 8 }), (numbers, ends) => {
      const decisions = decisionsOf(numbers);
      expect(foldedInBatches(decisions, ends)).toEqual(foldedInBatches(decisions, []));
    }),
  );
});

test('decisions that are folded again, from any place, change nothing', () => {
  fc.assert(
    fc.property(leadNumbers, fc.nat(2_000), (numbers, from) => {
      const decisions = decisionsOf(numbers);
      const state = foldedInBatches(decisions, []);
      expect(withLeads(state, movedLeads(decisions.slice(from)))).toBe(state);
    }),
  );
});

/** Numbers in the order given, and in another. */
const twoOrders = (numbers: number[]) => {
  const { length } = numbers;
  return fc.tuple(
    fc.constant(numbers),
    fc.shuffledSubarray(numbers, { minLength: length, maxLength: length }),
  );
};

test('the order of leads does not matter', () => {
  fc.assert(
    fc.property(leadNumbers.chain(twoOrders), ([numbers, other]) => {
      const of = (some: number[]) => movesOf(some.map((number) => marks[number] ?? 0));
      expect(of(other)).toEqual(of(numbers));
    }),
  );
});

test('what is folded apart and put together is what is folded as one', () => {
  fc.assert(
    fc.property(leadNumbers, leadNumbers, (one, other) => {
      const of = (some: number[]) => movesOf(some.map((number) => marks[number] ?? 0));
      expect(movesTogether(of(one), of(other))).toEqual(of([...one, ...other]));
    }),
  );
});

test('leads are counted exactly up to the limit, and estimated above it', () => {
  expect(countOf(noMoves)).toEqual({ leads: 0, isEstimate: false });
  for (const number of [1, 100, maximumMarks])
    expect(countOf(movesOf(marks.slice(0, number)))).toEqual({ leads: number, isEstimate: false });
  const above = countOf(movesOf(marks.slice(0, maximumMarks + 1)));
  expect(above.isEstimate).toBe(true);
  expect(Math.abs(above.leads - maximumMarks - 1)).toBeLessThan(0.05 * maximumMarks);
});

test.each([600, 3_000, 10_000, 40_000])(
  '%i leads are estimated without a bias, with a standard error of 1.6 %%',
  (count) => {
    const errors = Array.from({ length: 12 }, (_, run) => {
      const uniform = Array.from({ length: count }, (_, lead) =>
        markOf(idOf(`${String(run)}/${String(lead)}`)),
      );
      return estimate(sketchOf(uniform)) / count - 1;
    });
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    // Four standard errors, of the mean and of one.
    expect(Math.abs(mean)).toBeLessThan((4 * 0.016) / Math.sqrt(errors.length));
    for (const error of errors) expect(Math.abs(error)).toBeLessThan(4 * 0.016);
  },
  60_000,
);

describe('since a version', () => {
  test('the leads of it and of later versions count, each once in a partition, and partitions are added up', () => {
    const found = [
      { version: 3, partition: 0, moves: movesOf(marks.slice(0, 10)) },
      { version: 2, partition: 1, moves: movesOf(marks.slice(100, 105)) },
      { version: 2, partition: 0, moves: movesOf(marks.slice(5, 20)) },
      { version: 1, partition: 0, moves: movesOf(marks.slice(0, 3)) },
    ];
    const exact = (count: number) => ({ leads: count, isEstimate: false });
    expect(movedSince(found, [5, 4, 3, 2, 1])).toEqual([exact(0), exact(0), exact(10), exact(25), exact(25)]);
    expect(movedSince(found, [2])).toEqual([exact(25)]);
  });

  test('one partition with an estimate makes the sum one', () => {
    const found = [
      { version: 1, partition: 1, moves: movesOf(marks) },
      { version: 1, partition: 0, moves: movesOf(marks.slice(0, 10)) },
    ];
    const [since] = movedSince(found, [1]);
    expect(since?.isEstimate).toBe(true);
    expect(Math.abs((since?.leads ?? 0) - 3_010)).toBeLessThan(0.05 * 3_010);
  });
});

describe('a decision', () => {
  const match = (
    rule: string,
    points: number,
    more: { counted_points?: number; rule_version?: number } = {},
  ) => ({
    rule_id: idOf(rule),
    rule_version: 1,
    ruleset_id: idOf('ruleset'),
    points,
    ...more,
  });
  const scored = (lead: string, matches: ReturnType<typeof match>[], ou_id = ouId) =>
    ({ ou_id, lead_id: idOf(lead), scored_events: [{ matches }] }) as never;
  const movedBy = (rules: MovedByRules) =>
    Array.from(rules, ({ ou_id, rule_id, version, marks: moved, offsets }) => ({
      ou_id,
      rule_id,
      version,
      leads: moved.map((mark, index) => [mark, offsets[index]]),
    }));

  test('has moved its lead by each version of a rule whose points counted', () => {
    const rules = new MovedByRules();
    rules.addScored(
      scored('ada', [match('a', 5), match('b', -3), match('capped', 4, { counted_points: 0 })]),
      1,
    );
    rules.addScored(scored('bob', [match('a', 5, { rule_version: 2 })]), 2);
    rules.addScored(scored('ada', [match('a', 5)], otherOuId), 3);
    rules.addScored(scored('bob', [match('a', 5)]), 4);
    rules.addScored(scored('ada', [match('a', 5)]), 5);
    expect(movedBy(rules)).toEqual([
      {
        ou_id: ouId,
        rule_id: idOf('a'),
        version: 1,
        leads: [
          [markOf(idOf('ada')), 1],
          [markOf(idOf('bob')), 4],
          [markOf(idOf('ada')), 5],
        ],
      },
      { ou_id: ouId, rule_id: idOf('a'), version: 2, leads: [[markOf(idOf('bob')), 2]] },
      { ou_id: otherOuId, rule_id: idOf('a'), version: 1, leads: [[markOf(idOf('ada')), 3]] },
      { ou_id: ouId, rule_id: idOf('b'), version: 1, leads: [[markOf(idOf('ada')), 1]] },
    ]);
  });

  test('that a profile rule caused has moved it too; one that a limit caused has not', () => {
    const rules = new MovedByRules();
    const rule = { rule_id: idOf('title'), rule_version: 4, ruleset_id: idOf('profile') };
    rules.addAdjusted(
      {
        ou_id: ouId,
        lead_id: idOf('ada'),
        adjustments: [
          { reason: 'profile_rule', ...rule, points: -10, counted: 0 },
          { reason: 'capped_by_rule', rule_id: idOf('capped'), rule_version: 1, points: -5 },
          { reason: 'reset', points: -20 },
        ],
      } as never,
      7,
    );
    expect(movedBy(rules)).toEqual([
      { ou_id: ouId, rule_id: idOf('title'), version: 4, leads: [[markOf(idOf('ada')), 7]] },
    ]);
  });

  test('that a deal rule caused has moved the lead; one on an account that an account rule caused, the account', () => {
    const rules = new MovedByRules();
    const adjustment = (reason: string, name: string, points: number) => {
      const rule = { rule_id: idOf(name), rule_version: 2, ruleset_id: idOf('one') };
      return { reason, points, ...rule };
    };
    const adjustments = [adjustment('deal_rule', 'won', 10), { reason: 'deal', points: 5 }];
    rules.addAdjusted({ ou_id: ouId, lead_id: idOf('ada'), adjustments } as never, 7);
    const ofAccount = [{ reason: 'leads', points: 3 }, adjustment('account_rule', 'several', -20)];
    rules.addAccount({ ou_id: ouId, account_id: idOf('acme'), adjustments: ofAccount } as never, 9);
    expect(movedBy(rules)).toEqual([
      { ou_id: ouId, rule_id: idOf('won'), version: 2, leads: [[markOf(idOf('ada')), 7]] },
      { ou_id: ouId, rule_id: idOf('several'), version: 2, leads: [[markOf(idOf('acme')), 9]] },
    ]);
  });
});
