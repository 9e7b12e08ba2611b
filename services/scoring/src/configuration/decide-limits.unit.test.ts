// Given a configuration, when a command sets limits, then they are in the answer and in the next version, or are refused with what
// to change.
import { describe, expect, test } from '@jest/globals';
import { records, routeDeclarations } from '@lead-scoring/contracts';
import {
  configurationRecords,
  emptyConfiguration,
  evolveConfiguration,
  packConfiguration,
  unpackConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { at, createRule, createRuleset, idOf, ouId, updateRuleset } from '../testing/builders.js';
import { decideConfiguration, resultOf } from './decide.js';
import type { ConfigurationCommand } from './messages.js';

function given(...commands: ConfigurationCommand[]): ScoringConfiguration {
  return commands.reduce((configuration, command) => {
    const decision = decideConfiguration(command, configuration);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    for (const { type, payload } of decision.events)
      expect(configurationRecords[type].schema.safeParse(payload).error).toBeUndefined();
    return decision.events.reduce(evolveConfiguration, configuration);
  }, emptyConfiguration(ouId));
}

const refusal = (command: ConfigurationCommand, before = given()) => {
  const decision = decideConfiguration(command, before);
  return decision.outcome === 'rejected' ? decision : null;
};

describe('limits of a rule', () => {
  test.each<[Partial<records.CreateRule>]>([
    [{ max_count: 3 }],
    [{ once_per: 'event' }],
    [{ once_per: 'lead' }],
    [{ once_per: 'value:page.path', max_count: 20 }],
    [{ cap_points: 10 }],
    [{ weight: -5, cap_points: 50, cap_days: 7, max_count: 3 }],
  ])('%j are in the answer and stay in the stored configuration', (limits) => {
    const command = createRule('view', limits);
    const configuration = given(command);
    expect(routeDeclarations.rule.parse(resultOf(command, configuration))).toMatchObject(limits);
    const stored = unpackConfiguration(configuration, packConfiguration(configuration));
    expect(stored.rules.get(idOf('view'))).toMatchObject(limits);
  });

  test.each<[string, Partial<records.CreateRule>, string]>([
    ['max_count beside once_per lead', { once_per: 'lead', max_count: 3 }, 'max_count'],
    ['cap_points beside once_per lead', { once_per: 'lead', cap_points: 30 }, 'cap_points'],
    ['cap_days without cap_points', { cap_days: 7 }, 'cap_days'],
    ['cap_points below the weight', { cap_points: 9 }, 'cap_points'],
    ['cap_points below a negative weight', { weight: -20, cap_points: 19 }, 'cap_points'],
  ])('%s: refused, with the field and what to change', (_, limits, field) => {
    expect(refusal(createRule('view', limits))).toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/Leave|Add|Raise/),
      errors: [{ path: `body.${field}` }],
    });
  });

  test.each([
    { max_count: 0 },
    { once_per: 'value:' },
    { once_per: 'day' },
    { cap_points: 1.5 },
    { cap_days: 366 },
  ])('%j is refused by the form', (limits) => {
    const body = { event_type: 'Page View', weight: 1, ...limits };
    expect(routeDeclarations.createEngagementRule.body.safeParse(body).success).toBe(false);
  });

  test('are changed and taken away like other fields, and senseless ones are refused then too', () => {
    const change = (fields: Partial<records.UpdateRule>): ConfigurationCommand => ({
      type: 'UpdateRule',
      payload: { ou_id: ouId, rule_id: idOf('view'), requested_at: at, ...fields },
    });
    const before = createRule('view', { max_count: 3, cap_points: 50 });
    const changed = given(before, change({ max_count: 5, cap_points: null })).rules.get(idOf('view'));
    expect(changed).toMatchObject({ max_count: 5, version: 2 });
    expect(changed).not.toHaveProperty('cap_points');
    expect(refusal(change({ weight: 60 }), given(before))).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'body.cap_points' }],
    });
  });

  test('two rules that differ in their limits do not do the same', () => {
    const second = createRule('second', { max_count: 3 });
    const configuration = given(createRule('first'), second);
    expect(resultOf(second, configuration)).not.toHaveProperty('warnings');
  });
});

describe('limits of a ruleset', () => {
  test('are set, changed, taken away with null, and kept by a change that does not name them', () => {
    const create = createRuleset('Web', { min_score: -20, max_score: 100 });
    expect(routeDeclarations.ruleset.parse(resultOf(create, given(create)))).toMatchObject({
      min_score: -20,
      max_score: 100,
    });
    const change = updateRuleset('Web', { min_score: null, max_score: 50 });
    const changed = resultOf(change, given(create, change));
    expect(routeDeclarations.ruleset.parse(changed)).toMatchObject({ max_score: 50, version: 2 });
    expect(changed).not.toHaveProperty('min_score');
    const rename = updateRuleset('Web', { name: 'Website' });
    expect(resultOf(rename, given(create, rename))).toMatchObject({ min_score: -20, max_score: 100 });
  });

  test('that are there already make no new version', () => {
    const decision = decideConfiguration(
      updateRuleset('Web', { max_score: 100, min_score: null }),
      given(createRuleset('Web', { max_score: 100 })),
    );
    expect(decision).toEqual({ outcome: 'done', events: [] });
  });

  test('that leave it no points are refused', () => {
    expect(refusal(createRuleset('Web', { min_score: 0, max_score: 0 }))).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'body.max_score' }],
    });
    expect(
      refusal(updateRuleset('Web', { min_score: 0 }), given(createRuleset('Web', { max_score: 0 }))),
    ).toMatchObject({ code: 'invalid_request' });
  });

  test('are those of rulesets of every kind', () => {
    const fit = createRuleset('Fit', { score_type: 'profile', min_score: -5, max_score: 10 });
    expect(resultOf(fit, given(fit))).toMatchObject({ score_type: 'profile', min_score: -5, max_score: 10 });
    const change = updateRuleset('Fit', { max_score: 20, min_score: null });
    expect(resultOf(change, given(fit, change))).toMatchObject({ max_score: 20, version: 2 });
  });

  test.each([{ min_score: 1 }, { max_score: -1 }, { max_score: 1.5 }])(
    '%j is refused by the form',
    (limits) => {
      const { error } = routeDeclarations.updateRuleset.body.safeParse(limits);
      expect(error?.issues[0]?.message).toContain('a lead begins with 0 points');
    },
  );
});
