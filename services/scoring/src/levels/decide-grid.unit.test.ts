// Given an OU's configuration, when profile levels or a grid are set, then the change is recorded once.
import { describe, expect, test } from '@jest/globals';
import { records, type Grid } from '@lead-scoring/contracts';
import {
  configurationRecords,
  emptyConfiguration,
  evolveConfiguration,
  packConfiguration,
  unpackConfiguration,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { decideConfiguration, resultOf } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { at, ouId, setLevels, type LevelBuilder } from '../testing/builders.js';

const grid: Grid = { profile: { A: 60, B: 30, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } };
const setGrid = (to: Grid | null): ConfigurationCommand => ({
  type: 'SetScoringGrid',
  payload: { ou_id: ouId, grid: to, requested_at: at },
});
const setProfileLevels = (levels: LevelBuilder[]): ConfigurationCommand => ({
  type: 'SetProfileLevels',
  payload: setLevels(levels).payload,
});
const fits: LevelBuilder[] = [
  ['Poor', null, 29],
  ['Good', 30, null],
];

function decide(commands: readonly ConfigurationCommand[], from = emptyConfiguration(ouId)) {
  const events: ConfigurationEvent[] = [];
  let after: ScoringConfiguration = from;
  for (const command of commands) {
    const decision = decideConfiguration(command, after);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    events.push(...decision.events);
    after = decision.events.reduce(evolveConfiguration, after);
  }
  return { events, after };
}

describe('a grid', () => {
  test('is recorded and answered as it was sent', () => {
    const { events, after } = decide([setGrid(grid)]);
    expect(events).toEqual([{ type: 'ScoringGridSet', payload: { ou_id: ouId, grid, at } }]);
    expect(resultOf(setGrid(grid), after)).toEqual({ grid });
    expect(after.version).toBe(1);
  });

  test('that is sent again changes nothing; null takes it away, once', () => {
    const reordered: Grid = { engagement: { 3: 10, 2: 40, 1: 80 }, profile: { C: 10, B: 30, A: 60 } };
    const { events, after } = decide([
      setGrid(null),
      setGrid(grid),
      setGrid(reordered),
      setGrid(null),
      setGrid(null),
    ]);
    expect(events).toHaveLength(2);
    expect(after).not.toHaveProperty('grid');
    expect(resultOf(setGrid(null), after)).toEqual({ grid: null });
  });
});

describe('profile levels', () => {
  test('are a list of their own: engagement levels stay, and one name in both lists is two levels', () => {
    const { after, events } = decide([setLevels(fits), setProfileLevels(fits)]);
    expect(events.map(({ type }) => type)).toEqual(['EngagementLevelsSet', 'ProfileLevelsSet']);
    const ids = (levels: ScoringConfiguration['levels'] = []) => levels.map(({ id }) => id);
    expect(new Set([...ids(after.levels), ...ids(after.profile_levels)]).size).toBe(4);
    expect(decide([setProfileLevels([])], after).after.levels).toBe(after.levels);
    expect(resultOf(setProfileLevels(fits), after)).toEqual({ levels: after.profile_levels });
  });

  test('that are sent again without ids keep their ids, and change nothing', () => {
    const { after } = decide([setProfileLevels(fits)]);
    expect(decide([setProfileLevels(fits)], after).events).toEqual([]);
  });

  test('that overlap, or share a name, are refused', () => {
    const refused = (levels: LevelBuilder[]) =>
      decideConfiguration(setProfileLevels(levels), emptyConfiguration(ouId));
    expect(refused([...fits, ['Great', 90, null]])).toMatchObject({ code: 'levels_overlap' });
    expect(
      refused([
        ['Good', 1, 2],
        ['good', 3, 4],
      ]),
    ).toMatchObject({ code: 'duplicate_name' });
  });
});

test('replay equals live, as it is stored; the same command again gives no event; events are as declared', () => {
  const bound = fc.integer({ min: -3, max: 3 });
  const command = fc.oneof(
    fc.constant(null).map(() => setGrid(null)),
    fc.tuple(bound, bound).map(([low, high]) =>
      setGrid({
        profile: { A: low + 2, B: low + 1, C: low },
        engagement: { 1: high + 2, 2: high + 1, 3: high },
      }),
    ),
    bound.map((split) =>
      setProfileLevels([
        ['Poor', null, split],
        ['Good', split + 1, null],
      ]),
    ),
    bound.map((split) => setLevels([['Hot', split, null]])),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 8 }), (commands) => {
      const { events, after } = decide(commands);
      expect(events.reduce(evolveConfiguration, emptyConfiguration(ouId))).toEqual(after);
      const { version } = after;
      expect(unpackConfiguration({ ou_id: ouId, version }, packConfiguration(after))).toEqual(after);
      const last = commands.at(-1);
      if (last) expect(decide([last], after).events).toEqual([]);
      for (const { type, payload } of events) configurationRecords[type].schema.parse(payload);
      expect(records.scoringGridSet.topic).toBe('scoring.events');
    }),
  );
});
