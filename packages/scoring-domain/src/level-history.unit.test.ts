// Laws of the level history: which levels counted when a decision was made.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ConfigurationEvent } from './configuration-events.js';
import { emptyConfiguration, evolveConfiguration } from './configuration.js';
import { emptyLevelHistory, evolveLevels, levelsAsOf, levelsOfNow } from './level-history.js';
import { levelsSet, ouId, ruleCreated, rulesetCreated } from './testing/builders.js';

const event: fc.Arbitrary<ConfigurationEvent> = fc.oneof(
  fc.constant<ConfigurationEvent>({ type: 'RulesetCreated', payload: rulesetCreated() }),
  fc.nat(9).map((nth): ConfigurationEvent => ({
    type: 'RuleCreated',
    payload: ruleCreated(`rule ${String(nth)}`, 5),
  })),
  fc.nat(9).map((bound): ConfigurationEvent => {
    return { type: 'EngagementLevelsSet', payload: levelsSet([['Hot', bound, null]]) };
  }),
  fc.nat(9).map((bound): ConfigurationEvent => {
    return { type: 'ProfileLevelsSet', payload: levelsSet([['Good fit', bound, null]]) };
  }),
);

describe('the levels as of a version of the configuration', () => {
  test('are those that the configuration of this version had', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const history = events.reduce(evolveLevels, emptyLevelHistory(ouId));
        expect(history.version).toBe(events.length);
        let configuration = emptyConfiguration(ouId);
        expect(levelsAsOf(history, 0).levels).toEqual([]);
        for (const one of events) {
          configuration = evolveConfiguration(configuration, one);
          const { levels, profile_levels } = configuration;
          expect(levelsAsOf(history, configuration.version)).toMatchObject({ levels });
          expect(levelsAsOf(history, configuration.version).profile_levels).toEqual(profile_levels);
        }
        expect(levelsOfNow(history).levels).toEqual(configuration.levels);
        expect(levelsOfNow(history).profile_levels).toEqual(configuration.profile_levels);
      }),
    );
  });

  test('however often they were changed, take bounded space; of what is forgotten the oldest that is known counts', () => {
    const bounds = Array.from({ length: 500 }, (_, bound) => bound);
    const history = bounds.reduce(
      (known, bound) =>
        evolveLevels(known, { type: 'EngagementLevelsSet', payload: levelsSet([['Hot', bound, null]]) }),
      emptyLevelHistory(ouId),
    );
    const lowest = (version: number) => levelsAsOf(history, version).levels[0]?.min_score;
    expect(JSON.stringify(history).length).toBeLessThan(10_000);
    expect([lowest(0), lowest(400), lowest(500), lowest(499)]).toEqual([468, 468, 499, 498]);
  });
});
