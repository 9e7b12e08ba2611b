// Changes and deletions of rules and rulesets: given a configuration, when a command comes, then events change it, or it is refused.
import { describe, expect, test } from '@jest/globals';
import { problemTypeOf, routeDeclarations } from '@lead-scoring/contracts';
import {
  driversOf,
  evolveConfiguration,
  formerLimits,
  isDeletedRule,
  packConfiguration,
  ruleWordsAsOf,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import {
  at,
  createRule,
  createRuleset,
  deleteRule,
  deleteRuleset,
  idOf,
  ouId,
  setRulesActive,
  updateRule,
} from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { decideConfiguration, defaultRulesetIdOf, resultOf } from './decide.js';
import type { ConfigurationCommand } from './messages.js';

const later = '2026-02-01T00:00:00.000Z';
const pricing = { field: 'path', operator: 'contains', value: '/pricing' } as const;

function when(command: ConfigurationCommand, configuration: ScoringConfiguration) {
  const decision = decideConfiguration(command, configuration);
  if (decision.outcome === 'rejected')
    return { ...decision, status: problemTypeOf(decision.code).status, events: [], result: undefined };
  const after = decision.events.reduce(evolveConfiguration, configuration);
  return { ...decision, after, result: resultOf(command, after) };
}

const rule = (...changes: ConfigurationCommand[]) =>
  configured(
    createRuleset('Intent'),
    createRuleset('Other'),
    createRule('view', {
      ruleset_id: idOf('Intent'),
      label: 'Pricing',
      icon: 'tag',
      filters: [pricing],
      starts_at: at,
    }),
    ...changes,
  );

describe('a change of a rule', () => {
  test('changes the named fields, and makes the next version with its time', () => {
    const { events, result } = when(updateRule('view', { weight: -4, requested_at: later }), rule());
    expect(events).toMatchObject([{ type: 'RuleUpdated', payload: { weight: -4, label: 'Pricing' } }]);
    expect(routeDeclarations.newRule.parse(result)).toEqual({
      id: idOf('view'),
      ruleset_id: idOf('Intent'),
      event_type: 'Page View',
      weight: -4,
      label: 'Pricing',
      icon: 'tag',
      attribute_filters: [pricing],
      filter_label: 'path contains "/pricing"',
      active: true,
      starts_at: at,
      version: 2,
      created_at: at,
      updated_at: later,
    });
  });

  test('null removes a field that a rule need not have', () => {
    const none = { label: null, icon: null, attribute_filters: null, starts_at: null, ends_at: null };
    const { result } = when(updateRule('view', none), rule());
    expect(routeDeclarations.newRule.parse(result)).toEqual({
      id: idOf('view'),
      ruleset_id: idOf('Intent'),
      event_type: 'Page View',
      weight: 10,
      attribute_filters: [],
      active: true,
      version: 2,
      created_at: at,
      updated_at: at,
    });
  });

  test.each([
    ['the same values', { weight: 10, label: 'Pricing', attribute_filters: [pricing] }],
    ['null for a field that it has not', { ends_at: null }],
  ])('%s make no version', (_, changes) => {
    expect(when(updateRule('view', changes), rule())).toMatchObject({ events: [], result: { version: 1 } });
  });

  test('the rule moves to another ruleset; to one that is not there it does not: 404', () => {
    expect(when(updateRule('view', { ruleset_id: idOf('Other') }), rule())).toMatchObject({
      result: { ruleset_id: idOf('Other'), version: 2 },
    });
    expect(when(updateRule('view', { ruleset_id: idOf('nowhere') }), rule())).toMatchObject({
      code: 'ruleset_not_found',
      status: 404,
    });
  });

  test('a rule that would never give points is refused, whichever bound is changed: 400', () => {
    const refused = { code: 'invalid_request', status: 400, errors: [{ path: 'body.ends_at' }] };
    expect(when(updateRule('view', { ends_at: at }), rule())).toMatchObject(refused);
    const bounded = rule(updateRule('view', { ends_at: later }));
    expect(when(updateRule('view', { starts_at: later }), bounded)).toMatchObject(refused);
    expect(when(updateRule('view', { starts_at: null }), bounded)).toMatchObject({ outcome: 'done' });
  });

  test('of a rule that is not there is refused: 404', () => {
    expect(when(updateRule('other', { weight: 1 }), rule())).toMatchObject({
      code: 'rule_not_found',
      status: 404,
    });
  });

  test('a change that makes the rule do what another does is taken, with a warning that names the other', () => {
    const two = rule(createRule('twin', { filters: [pricing], starts_at: at, weight: 3 }));
    expect(when(updateRule('twin', { weight: 10 }), two).result).toMatchObject({
      warnings: [{ code: 'identical_rule', message: expect.stringContaining('"Pricing"') }],
    });
  });

  test('filters that would not fit into one document are refused: 409', () => {
    const value = Array.from({ length: 100 }, () => '\u4e16'.repeat(1_000));
    const filters = Array.from({ length: 20 }, () => ({ field: 'f', operator: 'in' as const, value }));
    const full = rule(createRule('large', { filters: filters.slice(0, 13) }));
    expect(when(updateRule('view', { attribute_filters: filters }), full)).toMatchObject({
      code: 'limit_reached',
      status: 409,
    });
    // In place of its own filters they fit.
    expect(when(updateRule('large', { attribute_filters: filters }), full)).toMatchObject({
      outcome: 'done',
    });
  });
});

describe('a deleted rule', () => {
  const deleted = rule(updateRule('view', { label: 'Prices' }), deleteRule('view'));

  test('is in no list, and the deletion is a version', () => {
    const { events, result } = when(deleteRule('view'), rule());
    expect(events).toMatchObject([{ type: 'RuleDeleted', payload: { rule_id: idOf('view'), version: 2 } }]);
    expect(result).toBeUndefined();
    expect(deleted.rules.size).toBe(0);
    expect(isDeletedRule(deleted, idOf('view'))).toBe(true);
  });

  test.each<[string, ConfigurationCommand]>([
    ['deleted again', deleteRule('view')],
    ['changed', updateRule('view', { weight: 1 })],
    ['switched on with others', setRulesActive(['view'], true)],
  ])('cannot be %s: 404', (_, command) => {
    expect(when(command, deleted)).toMatchObject({ code: 'rule_not_found', status: 404 });
  });

  test('does not come back by its id: 409', () => {
    expect(when(createRule('view'), deleted)).toMatchObject({ code: 'already_deleted', status: 409 });
  });

  test('is explained with the words of the version that gave the points', () => {
    const labelAt = (version: number) => ruleWordsAsOf(deleted, idOf('view'), version)?.label;
    expect([labelAt(1), labelAt(2)]).toEqual(['Pricing', 'Prices']);
    const contribution = { event_type: 'page_view', count: 2, weight: 10, total: 20, rule_version: 2 };
    expect(driversOf(new Map([['', { rule_id: idOf('view'), ...contribution }]]), deleted)).toEqual([
      {
        rule_id: idOf('view'),
        ...contribution,
        event_type: 'Page View',
        label: 'Prices',
        filter_label: 'path contains "/pricing"',
      },
    ]);
  });

  test('the words of deleted and changed rules never outgrow a document: those of the longest ago go first', () => {
    const label = '\u4e16'.repeat(100);
    const filters = [{ ...pricing, value: '\u4e16'.repeat(900) }];
    let configuration = configured(createRule('first', { label, filters }), deleteRule('first'));
    const id = (index: number) => idOf(`rule ${String(index)}`);
    for (let index = 0; index < 1_500; index += 1)
      for (const command of [
        createRule(`rule ${String(index)}`, { label, filters }),
        deleteRule(`rule ${String(index)}`),
      ]) {
        const decision = decideConfiguration(command, configuration);
        if (decision.outcome === 'done')
          configuration = decision.events.reduce(evolveConfiguration, configuration);
      }
    expect(Buffer.byteLength(packConfiguration(configuration))).toBeLessThan(formerLimits.bytes + 1_000);
    expect(isDeletedRule(configuration, idOf('first'))).toBe(false);
    expect(isDeletedRule(configuration, id(1_499))).toBe(true);
    expect(configuration.former.size).toBeGreaterThan(1_000);
  });
});

describe('deleting a ruleset', () => {
  test('with rules, active or not, is refused, and the refusal says what to do: 409', () => {
    for (const configuration of [rule(), rule(setRulesActive(['view'], false))])
      expect(when(deleteRuleset('Intent'), configuration)).toMatchObject({
        code: 'ruleset_not_empty',
        status: 409,
        message: expect.stringMatching(/has 1 rule\. Move each .* GET .*ruleset_id=[0-9a-f-]{36} lists them/),
      });
  });

  test('without rules removes it, and its name is free; its former name is kept for leads with its points', () => {
    const moved = rule(updateRule('view', { ruleset_id: idOf('Other') }), deleteRuleset('Intent'));
    expect([...moved.rulesets.keys()]).toEqual([idOf('Other')]);
    expect(moved.former_rulesets.get(idOf('Intent'))).toEqual({ name: 'Intent', score_type: 'engagement' });
    expect(when(createRuleset('new', { name: 'Intent' }), moved)).toMatchObject({ outcome: 'done' });
    expect(when(createRuleset('Intent'), moved)).toMatchObject({ code: 'already_deleted', status: 409 });
    expect(when(deleteRuleset('Intent'), moved)).toMatchObject({ code: 'ruleset_not_found', status: 404 });
  });

  test('that is the default one: the next rule without a ruleset gets a default ruleset with another id', () => {
    const configuration = configured(
      createRule('a'),
      deleteRule('a'),
      deleteRuleset('Default', { ruleset_id: defaultRulesetIdOf(ouId) }),
      createRule('b'),
    );
    const [ruleset] = configuration.rulesets.values();
    expect(ruleset).toMatchObject({ name: 'Default', is_default: true });
    expect(ruleset?.id).not.toBe(defaultRulesetIdOf(ouId));
    expect(configuration.rules.get(idOf('b'))?.ruleset_id).toBe(ruleset?.id);
  });
});
