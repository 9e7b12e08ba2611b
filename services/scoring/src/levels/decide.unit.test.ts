// Given levels, when a list is set, then it replaces them, or is refused with the two levels that conflict.
import { describe, expect, test } from '@jest/globals';
import { problemTypeOf, records, routes } from '@lead-scoring/contracts';
import {
  emptyConfiguration,
  evolveConfiguration,
  levelOf,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { lawRuns } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import { decideConfiguration, resultOf } from '../configuration/decide.js';
import { idOf, ouId, setLevels, type LevelBuilder } from '../testing/builders.js';
import { overlapOf } from './decide.js';

function given(...lists: LevelBuilder[][]): ScoringConfiguration {
  return lists.reduce((configuration, levels) => {
    const decision = decideConfiguration(setLevels(levels), configuration);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    return decision.events.reduce(evolveConfiguration, configuration);
  }, emptyConfiguration(ouId));
}

function when(levels: LevelBuilder[], configuration = given()) {
  const command = setLevels(levels);
  const decision = decideConfiguration(command, configuration);
  if (decision.outcome === 'rejected')
    return { ...decision, status: problemTypeOf(decision.code).status, events: [], after: configuration };
  const after = decision.events.reduce(evolveConfiguration, configuration);
  const result = resultOf(command, after);
  expect(routes.setEngagementLevels.responses[200].schema.safeParse(result).error).toBeUndefined();
  for (const { payload } of decision.events)
    expect(records.engagementLevelsSet.schema.safeParse(payload).error).toBeUndefined();
  return { ...decision, after };
}

const three: LevelBuilder[] = [
  ['Cold', null, 9],
  ['Warm', 10, 49],
  ['Hot', 50, null],
];
const names = ({ levels }: ScoringConfiguration) => levels.map(({ name }) => name);
const idsOf = ({ levels }: ScoringConfiguration) =>
  Object.fromEntries(levels.map(({ id, name }) => [name, id]));

describe('setting levels', () => {
  test('replaces the whole list, in the order in which it was sent', () => {
    expect(names(when(three).after)).toEqual(['Cold', 'Warm', 'Hot']);
    const { after, events } = when([['Hot', 80, null]], given(three));
    expect(names(after)).toEqual(['Hot']);
    expect(events.map(({ type }) => type)).toEqual(['EngagementLevelsSet']);
    expect(when([], given(three)).after.levels).toEqual([]);
  });

  test('a repeated list changes nothing, with ids and without', () => {
    const configuration = given(three);
    const withIds = three.map(([name, low, high]): LevelBuilder => [
      name,
      low,
      high,
      { id: (idsOf(configuration)[name] ?? '').toUpperCase() },
    ]);
    for (const list of [three, withIds])
      expect(when(list, configuration)).toMatchObject({ outcome: 'done', events: [] });
    expect(when([...three].reverse(), configuration).events).toHaveLength(1);
  });

  test('a given id is kept; a level without an id keeps the id of its name, and a new level gets a new id', () => {
    expect(idsOf(when([['Any', null, null, { id: idOf('mine') }]]).after)).toEqual({ Any: idOf('mine') });
    const before = given(three);
    const { after } = when(
      [
        ['HOT', 60, null],
        ['New', 0, 59],
      ],
      before,
    );
    expect(idsOf(after)['HOT']).toBe(idsOf(before)['Hot']);
    expect(Object.values(idsOf(before))).not.toContain(idsOf(after)['New']);
  });

  test('a name that is used again after a renaming gets a new id', () => {
    const before = given(three);
    const hot = idsOf(before)['Hot'] ?? '';
    const renamed: LevelBuilder = ['Burning', 90, null, { id: hot }];
    const { after } = when([renamed, ['Hot', 50, 89]], before);
    expect(idsOf(after)['Burning']).toBe(hot);
    expect(idsOf(after)['Hot']).not.toBe(hot);
    expect(when([renamed, ['Hot', 50, 89]], after).events).toEqual([]);
  });

  test('every change makes a new version of the configuration', () => {
    expect(given(three, three, []).version).toBe(2);
  });
});

describe('refused', () => {
  test('levels that overlap: 409 names the two and the scores that both contain', () => {
    const refused = when([...three.slice(0, 2), ['Hot', 40, null]], given(three));
    expect(refused).toMatchObject({
      status: 409,
      code: 'levels_overlap',
      message: expect.stringContaining('"Warm" (10 to 49) and "Hot" (40 and more) would both take 40 to 49.'),
      errors: [{ path: 'body.levels[1]' }, { path: 'body.levels[2]' }],
    });
    expect(names(refused.after)).toEqual(['Cold', 'Warm', 'Hot']);
  });

  test.each<[string, LevelBuilder[], string]>([
    [
      'one bound in common',
      [
        ['A', 0, 10],
        ['B', 10, 20],
      ],
      'would both take 10.',
    ],
    [
      'one within the other',
      [
        ['A', 0, 100],
        ['B', 40, 50],
      ],
      'would both take 40 to 50.',
    ],
    [
      'the same bounds',
      [
        ['A', 1, 2],
        ['B', 1, 2],
      ],
      'would both take 1 to 2.',
    ],
    [
      'open above',
      [
        ['A', 5, null],
        ['B', 7, null],
      ],
      'would both take 7 and more.',
    ],
    [
      'open below',
      [
        ['A', null, 5],
        ['B', null, -7],
      ],
      'would both take -7 and less.',
    ],
    [
      'open at both ends',
      [
        ['A', null, null],
        ['B', null, null],
      ],
      'would both take every score.',
    ],
    [
      'in any order',
      [
        ['A', 50, null],
        ['B', 0, 9],
        ['C', 9, 20],
      ],
      '"B" (0 to 9) and "C" (9 to 20)',
    ],
  ])('%s overlaps', (_, levels, words) => {
    expect(when(levels)).toMatchObject({ status: 409, message: expect.stringContaining(words) });
  });

  test('two levels with one name, in any case: 409; two with one id: 400', () => {
    expect(
      when([
        ['Hot', 0, 1],
        ['hot', 2, 3],
      ]),
    ).toMatchObject({
      status: 409,
      code: 'duplicate_name',
      errors: [{ path: 'body.levels[1].name' }],
    });
    const id = idOf('one');
    expect(
      when([
        ['A', 0, 1, { id }],
        ['B', 2, 3, { id: id.toUpperCase() }],
      ]),
    ).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ path: 'body.levels[1].id' }],
    });
  });
});

describe('laws', () => {
  const bound = fc.option(fc.integer({ min: -6, max: 6 }));
  const list = fc
    .uniqueArray(
      fc
        .record({ name: fc.constantFrom('A', 'B', 'C', 'D'), low: bound, high: bound })
        .filter(({ low, high }) => low === null || high === null || low <= high),
      { maxLength: 4, selector: ({ name }) => name },
    )
    .map((parts) => parts.map(({ name, low, high }): LevelBuilder => [name, low, high]));
  const takes = ([, low, high]: LevelBuilder, score: number) =>
    (low === null || score >= low) && (high === null || score <= high);
  // Scores beyond the bounds of the list need no test.
  const scores = Array.from({ length: 17 }, (_, index) => index - 8);

  test('a list is accepted exactly if no score is in two of its levels, in any order', () => {
    fc.assert(
      fc.property(list, (levels) => {
        const twice = scores.some((score) => levels.filter((level) => takes(level, score)).length > 1);
        expect(when(levels).outcome).toBe(twice ? 'rejected' : 'done');
        expect(when([...levels].reverse()).outcome).toBe(twice ? 'rejected' : 'done');
      }),
      { numRuns: Math.max(500, lawRuns) },
    );
  });

  test('the two levels that a refusal names overlap', () => {
    fc.assert(
      fc.property(list, (levels) => {
        const pair = overlapOf(levels.map((level) => ({ level, min_score: level[1], max_score: level[2] })));
        if (pair) expect(scores.some((score) => pair.every(({ level }) => takes(level, score)))).toBe(true);
      }),
    );
  });

  test('in an accepted list each score has the one level that contains it', () => {
    fc.assert(
      fc.property(list, (levels) => {
        const { outcome, after } = when(levels);
        if (outcome === 'rejected') return;
        for (const score of scores)
          expect(levelOf(after.levels, score)?.name).toBe(levels.find((level) => takes(level, score))?.[0]);
      }),
    );
  });
});
