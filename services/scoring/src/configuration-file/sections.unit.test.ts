// Given a configuration, when a document with mappings, profile rules, levels, the grid or filters is applied, then that section equals
// the document, and the answer says what has changed.
import { describe, expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import {
  emptyConfiguration,
  evolveConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { decideConfiguration } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import {
  addMapping,
  at,
  createProfileRule,
  createRuleset,
  idOf,
  ouId,
  setLevels,
} from '../testing/builders.js';
import { createFilter } from '../testing/filter-builders.js';
import { documentOf } from './document-model.js';

type File = records.ConfigurationFile;

let changes = 0;
const apply = (configuration: File): ConfigurationCommand => ({
  type: 'ApplyConfiguration',
  payload: {
    ou_id: ouId,
    change_id: idOf(`change ${String((changes += 1))}`),
    configuration,
    dry_run: false,
    requested_at: at,
  },
});

function after(commands: ConfigurationCommand[], before: ScoringConfiguration = emptyConfiguration(ouId)) {
  let configuration = before;
  let decision = decideConfiguration(apply({}), before);
  for (const command of commands) {
    decision = decideConfiguration(command, configuration);
    if (decision.outcome === 'done')
      configuration = decision.events.reduce(evolveConfiguration, configuration);
  }
  return { configuration, decision };
}

/** Applies a document, which must be taken, and once more, which must change nothing. */
function applied(file: File, before?: ScoringConfiguration) {
  const { configuration, decision } = after([apply(file)], before);
  if (decision.outcome !== 'done') throw new Error(decision.message);
  expect(decideConfiguration(apply(file), configuration)).toMatchObject({ events: [], result: { total: 0 } });
  return { configuration, events: decision.events, result: decision.result };
}

const refused = (file: File, before?: ScoringConfiguration) => {
  const { configuration, decision } = after([apply(file)], before);
  expect(configuration).toEqual(before ?? emptyConfiguration(ouId));
  expect(decision).toMatchObject({ outcome: 'rejected' });
  return decision;
};

const colour = { color: '#e8590c' };
const hot = { name: 'Hot', min_score: 50, max_score: null, ...colour };
const title = { field: 'seniority', source: 'metadata.title' };
const role = { field: 'seniority', source: 'metadata.role' };
const country = { field: 'country', source: 'metadata.country' };
const vp = { conditions: [{ field: 'seniority', operator: 'equals' as const, value: 'vp' }], weight: 20 };
const fit = (...rules: records.FileConditionRule[]): File => ({
  profile_rulesets: [{ name: 'Fit', active: true, rules }],
});

describe('profile rulesets', () => {
  test('a rule that is found again keeps its id, also with another weight, and the change is shown', () => {
    const { configuration: before } = applied(fit({ ...vp, label: 'VP' }));
    const [id = ''] = [...(before.profile?.rules.keys() ?? [])];
    const off = applied(fit({ ...vp, label: 'VP', active: false }), before);
    expect(off.configuration.profile?.rules.get(id)).toMatchObject({ active: false, version: 2 });
    const heavier = applied(fit({ ...vp, label: 'VP', weight: 30 }), before);
    expect(heavier.configuration.profile?.rules.get(id)).toMatchObject({ weight: 30, version: 2 });
    expect(heavier.result).toMatchObject({
      changes: [
        {
          section: 'profile_rulesets',
          kind: 'rule',
          action: 'change',
          ruleset: 'Fit',
          name: 'VP',
          fields: [{ field: 'weight', before: '20', after: '30' }],
        },
      ],
    });
  });

  test('deal rulesets are a section of their own', () => {
    const deals = (weight: number) => ({
      deal_rulesets: [
        {
          name: 'Size',
          active: true,
          max_score: 50,
          rules: [{ conditions: [{ field: 'amount', operator: 'gte' as const, value: 100 }], weight }],
        },
      ],
    });
    const { configuration } = applied(deals(5));
    const [id = ''] = [...(configuration.deals?.rules.keys() ?? [])];
    expect(applied(deals(8), configuration).configuration.deals?.rules.get(id)).toMatchObject({
      weight: 8,
      version: 2,
    });
    expect(applied({ deal_rulesets: [] }, configuration).configuration.deals?.rules.size).toBe(0);
    expect(applied(fit(vp), configuration).configuration.deals).toEqual(configuration.deals);
    expect(refused({ deal_rulesets: [{ name: 'Size', active: true, rules: [vp] }] })).toMatchObject({
      message: expect.stringMatching(
        /^In deal_rulesets, ruleset "Size", rule 1 "seniority is "vp"": A deal has/,
      ),
      errors: [{ path: 'body.deal_rulesets[0].rules[0].conditions[0].field' }],
    });
  });

  test('a rule without a label is named by its conditions, and those that are not in the document are removed', () => {
    const { configuration: before } = applied(fit(vp));
    expect(applied(fit(), before).result).toMatchObject({
      total: 1,
      sections: [{ section: 'profile_rulesets', added: 0, changed: 0, removed: 1 }],
      changes: [{ action: 'remove', name: 'seniority is "vp"' }],
    });
    const none = applied({ profile_rulesets: [] }, before);
    expect(none.configuration.rulesets.size).toBe(0);
    expect(none.result).toMatchObject({ total: 2 });
  });

  test('limits are refused with the words of POST /rulesets, behind the place', () => {
    const limits = { min_score: 0, max_score: 0 };
    const single = decideConfiguration(
      createRuleset('Fit', { score_type: 'profile', ...limits }),
      emptyConfiguration(ouId),
    );
    expect(
      refused({ profile_rulesets: [{ name: 'Fit', active: true, ...limits, rules: [] }] }),
    ).toMatchObject({
      code: 'invalid_request',
      message: `In profile_rulesets, ruleset "Fit": ${single.outcome === 'rejected' ? single.message : ''}`,
      errors: [{ path: 'body.profile_rulesets[0].max_score' }],
    });
  });

  test('one name is one ruleset of all kinds: the refusal names the second place', () => {
    const both = {
      engagement_rulesets: [{ name: 'fit', active: true, rules: [] }],
      profile_rulesets: [{ name: 'Fit', active: true, rules: [] }],
    };
    expect(refused(both)).toMatchObject({
      code: 'duplicate_name',
      errors: [{ path: 'body.profile_rulesets[0].name' }],
    });
    const before = after([createRuleset('Fit', { score_type: 'profile' })]).configuration;
    expect(refused({ engagement_rulesets: both.engagement_rulesets }, before)).toMatchObject({
      errors: [{ path: 'body.engagement_rulesets[0].name' }],
    });
  });

  test('a name may pass from one kind to the other in one document', () => {
    const before = after([createRuleset('Fit', { score_type: 'profile' })]).configuration;
    const { configuration } = applied(
      { engagement_rulesets: [{ name: 'Fit', active: true, rules: [] }], profile_rulesets: [] },
      before,
    );
    expect([...configuration.rulesets.values()]).toMatchObject([{ name: 'Fit', score_type: 'engagement' }]);
  });
});

describe('account scoring', () => {
  const companies = (weight: number): File => ({
    account_rulesets: [
      {
        name: 'Companies',
        active: true,
        max_score: 40,
        rules: [{ conditions: [{ field: 'leads', operator: 'gte', value: 3 }], weight, label: 'Several' }],
      },
    ],
  });

  test('account rulesets are a section of their own: their rules keep their ids, and other sections leave them', () => {
    const { configuration } = applied(companies(5));
    const [id = ''] = [...(configuration.accounts?.rules.keys() ?? [])];
    const heavier = applied(companies(8), configuration);
    expect(heavier.configuration.accounts?.rules.get(id)).toMatchObject({ weight: 8, version: 2 });
    expect(heavier.result).toMatchObject({
      changes: [
        {
          section: 'account_rulesets',
          kind: 'rule',
          action: 'change',
          ruleset: 'Companies',
          name: 'Several',
          fields: [{ field: 'weight', before: '5', after: '8' }],
        },
      ],
    });
    expect(applied({ account_rulesets: [] }, configuration).configuration.accounts?.rules.size).toBe(0);
    expect(applied(fit(vp), configuration).configuration.accounts).toEqual(configuration.accounts);
    expect(documentOf(configuration)).toMatchObject({ ...companies(5), account_roll_up: null });
  });

  test('the roll-up is set, changed, and with null is as if it had never been set', () => {
    const { configuration, result } = applied({ account_roll_up: { method: 'top', leads: 3 } });
    expect(configuration.accounts?.roll_up).toEqual({ method: 'top', leads: 3 });
    expect(result).toMatchObject({
      sections: [{ section: 'account_roll_up', added: 0, changed: 1, removed: 0 }],
      changes: [
        {
          section: 'account_roll_up',
          kind: 'roll_up',
          action: 'change',
          name: 'roll-up',
          fields: [
            { field: 'method', before: null, after: 'top' },
            { field: 'leads', before: null, after: '3' },
          ],
        },
      ],
    });
    const changed = applied({ account_roll_up: { method: 'mean' } }, configuration).configuration;
    expect(documentOf(changed).account_roll_up).toEqual({ method: 'mean' });
    expect(applied(companies(5), changed).configuration.accounts?.roll_up).toEqual({ method: 'mean' });
    expect(applied({ account_roll_up: null }, changed).configuration.accounts?.roll_up).toBeNull();
    expect(applied({ account_roll_up: null }).events).toEqual([]);
  });

  test('account rules count toward the rules that an organizational unit may have', () => {
    const rules = Array.from({ length: 2_501 }, () => ({ ...vp, active: false }));
    const both = {
      profile_rulesets: [{ name: 'Fit', active: true, rules }],
      account_rulesets: [{ name: 'Companies', active: true, rules }],
    };
    expect(refused(both)).toMatchObject({ code: 'limit_reached' });
  });
});

describe('mappings', () => {
  const before = after([
    addMapping('title', 'seniority', 'metadata.title'),
    addMapping('country', 'country', 'metadata.country'),
    addMapping('role', 'seniority', 'metadata.role'),
  ]).configuration;
  const idsOf = ({ profile }: ScoringConfiguration) => [...(profile?.mappings.keys() ?? [])];

  test('mappings that stand in the order of the document keep their ids, whatever stands between them', () => {
    const { events } = applied({ profile_mappings: [country, title, role] }, before);
    expect(events).toEqual([]);
  });

  test('the first mapping of a field that finds a value wins: another order makes those that come later anew', () => {
    const { configuration, result } = applied({ profile_mappings: [role, title, country] }, before);
    expect(
      [...(configuration.profile?.mappings.values() ?? [])].filter(({ field }) => field === 'seniority'),
    ).toMatchObject([role, title]);
    expect(idsOf(configuration).slice(0, 2)).toEqual([idOf('country'), idOf('role')]);
    expect(result).toMatchObject({
      total: 1,
      changes: [
        {
          kind: 'mapping',
          action: 'change',
          name: 'seniority from metadata.title',
          fields: [{ field: 'place', before: '1 of 2', after: '2 of 2' }],
        },
      ],
    });
  });

  test('a changed transform is shown as a change, an absent mapping as removed, a new one as added', () => {
    const { result } = applied(
      {
        profile_mappings: [
          { ...title, transform: 'lower' },
          { field: 'city', source: 'metadata.city' },
        ],
      },
      after([
        addMapping('title', 'seniority', 'metadata.title'),
        addMapping('c', 'country', 'metadata.country'),
      ]).configuration,
    );
    expect(result).toMatchObject({
      sections: [{ section: 'profile_mappings', added: 1, changed: 1, removed: 1 }],
      changes: [
        { action: 'remove', name: 'country from metadata.country' },
        {
          action: 'change',
          name: 'seniority from metadata.title',
          fields: [{ field: 'transform', before: null, after: 'lower' }],
        },
        { action: 'add', name: 'city from metadata.city' },
      ],
    });
  });

  test('two that read the same place are refused, and so are more than an OU may have', () => {
    expect(refused({ profile_mappings: [title, { ...title, source: 'title' }] })).toMatchObject({
      code: 'duplicate_mapping',
      message: expect.stringMatching(/^In profile_mappings, seniority from title: Another mapping feeds/),
      errors: [{ path: 'body.profile_mappings[1].source' }],
    });
    const many = Array.from({ length: 51 }, (_, index) => ({ field: 'a', source: String(index) }));
    expect(refused({ profile_mappings: many })).toMatchObject({ code: 'limit_reached' });
  });
});

describe('levels and the grid', () => {
  const grid = { profile: { A: 60, B: 30, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } };

  test('levels of each kind are replaced, and another order is a change too', () => {
    const cold = { name: 'Cold', min_score: null, max_score: 9, ...colour };
    const { configuration } = applied({
      ...{ engagement_levels: [cold, hot], profile_levels: [hot], account_levels: [cold] },
    });
    const { result } = applied(
      { engagement_levels: [hot, cold], profile_levels: [], account_levels: [hot] },
      configuration,
    );
    expect(result).toMatchObject({
      changes: [
        {
          section: 'engagement_levels',
          fields: [{ field: 'order', before: 'Cold, Hot', after: 'Hot, Cold' }],
        },
        { section: 'profile_levels', fields: [{ field: 'Hot', before: '50 to open, #e8590c', after: null }] },
        {
          section: 'account_levels',
          fields: [
            { field: 'Cold', before: 'open to 9, #e8590c', after: null },
            { field: 'Hot', before: null, after: '50 to open, #e8590c' },
          ],
        },
      ],
    });
  });

  test('levels that overlap are refused at their place in the document', () => {
    for (const section of ['profile_levels', 'account_levels'])
      expect(refused({ [section]: [hot, { ...hot, name: 'Hotter' }] })).toMatchObject({
        code: 'levels_overlap',
        message: expect.stringMatching(new RegExp(`^In ${section}: `)),
        errors: [{ path: `body.${section}[0]` }, { path: `body.${section}[1]` }],
      });
  });

  test('the grid is set, changed, and with null taken away', () => {
    const { configuration } = applied({ grid });
    const changed = applied({ grid: { ...grid, profile: { ...grid.profile, A: 70 } } }, configuration);
    expect(changed.result).toMatchObject({
      changes: [
        {
          section: 'grid',
          action: 'change',
          fields: [{ field: 'profile A from', before: '60', after: '70' }],
        },
      ],
    });
    expect(applied({ grid: null }, configuration).configuration.grid).toBeUndefined();
    expect(applied({ filters: [] }, configuration).configuration.grid).toEqual(grid);
  });
});

describe('decay rules', () => {
  const quiet = { name: 'Quiet', mode: 'inactivity_points' as const, points: -5, interval_days: 7 };
  const withIntent = { engagement_rulesets: [{ name: 'Intent', active: true, rules: [] }] };

  test('name a ruleset that the same document makes, keep their ids by their names, and show what changes', () => {
    const { configuration } = applied({ ...withIntent, decays: [{ ...quiet, ruleset: 'intent' }] });
    const [rule] = [...(configuration.decays?.rules.values() ?? [])];
    expect(rule).toMatchObject({ points: -5, floor: 0, ruleset_id: [...configuration.rulesets.keys()][0] });
    expect(documentOf(configuration).decays).toEqual([{ ...quiet, ruleset: 'Intent' }]);
    const changed = applied({ decays: [{ ...quiet, points: -8, active: false }] }, configuration);
    expect([...(changed.configuration.decays?.rules.values() ?? [])]).toMatchObject([
      { id: rule?.id, points: -8, version: 2, active: false },
    ]);
    expect(changed.result).toMatchObject({
      changes: [
        {
          section: 'decays',
          kind: 'decay',
          action: 'change',
          name: 'Quiet',
          fields: [
            { field: 'points', before: '-5', after: '-8' },
            { field: 'ruleset', before: 'Intent', after: null },
            { field: 'active', before: null, after: 'false' },
          ],
        },
      ],
    });
    expect(applied({ decays: [] }, configuration).configuration.decays?.rules.size).toBe(0);
  });

  test('are refused at their place, and a ruleset that one needs is not removed', () => {
    expect(refused({ decays: [{ ...quiet, ruleset: 'Nowhere' }] })).toMatchObject({
      code: 'ruleset_not_found',
      errors: [{ path: 'body.decays[0].ruleset' }],
    });
    expect(refused({ decays: [quiet, { ...quiet, name: 'quiet' }] })).toMatchObject({
      code: 'duplicate_name',
      errors: [{ path: 'body.decays[1].name' }],
    });
    const many = Array.from({ length: 21 }, (_, index) => ({ ...quiet, name: String(index) }));
    expect(refused({ decays: many })).toMatchObject({ code: 'limit_reached' });
    const { configuration } = applied({ ...withIntent, decays: [{ ...quiet, ruleset: 'Intent' }] });
    expect(refused({ engagement_rulesets: [] }, configuration)).toMatchObject({
      code: 'ruleset_not_empty',
      message: expect.stringContaining('The decay rule "Quiet" takes points from the ruleset "Intent"'),
    });
    expect(applied({ engagement_rulesets: [], decays: [] }, configuration).configuration.rulesets.size).toBe(
      0,
    );
  });
});

describe('filters', () => {
  const isHot = { all: [{ field: 'level', operator: 'equals' as const, value: 'Hot' }] };
  const byIntent = {
    all: [{ field: 'ruleset_score', ruleset: 'Intent', operator: 'gte' as const, value: 5 }],
  };
  const withIntent = { engagement_rulesets: [{ name: 'Intent', active: true, rules: [] }] };

  test('name levels and rulesets that the same document makes', () => {
    const file = {
      ...withIntent,
      engagement_levels: [hot],
      filters: [
        { name: 'Hot', conditions: isHot },
        { name: 'Intent', conditions: byIntent },
      ],
    };
    const { configuration } = applied(file);
    const [ruleset] = [...configuration.rulesets.keys()];
    expect([...configuration.filters.values()]).toMatchObject([
      { name: 'Hot', conditions: isHot },
      { name: 'Intent', conditions: { all: [{ field: 'ruleset_score', ruleset_id: ruleset }] } },
    ]);
    expect(documentOf(configuration)).toMatchObject(file);
  });

  test('keep their ids by their names; changed conditions are shown in words', () => {
    const { configuration } = applied({
      filters: [{ name: 'Good', conditions: { all: [{ field: 'score', operator: 'gte', value: 5 }] } }],
    });
    const [id] = [...configuration.filters.keys()];
    const changed = applied(
      { filters: [{ name: 'GOOD', conditions: { all: [{ field: 'score', operator: 'gte', value: 6 }] } }] },
      configuration,
    );
    expect([...changed.configuration.filters.values()]).toMatchObject([{ id, name: 'GOOD', version: 2 }]);
    expect(changed.result).toMatchObject({
      changes: [
        {
          kind: 'filter',
          action: 'change',
          name: 'GOOD',
          fields: [
            { field: 'name', before: 'Good', after: 'GOOD' },
            { field: 'conditions', before: 'score is at least 5', after: 'score is at least 6' },
          ],
        },
      ],
    });
    expect(applied({ filters: [] }, configuration).configuration.filters.size).toBe(0);
  });

  test('that name what there is not are refused, and the refusal says where', () => {
    expect(refused({ filters: [{ name: 'Hot', conditions: isHot }] })).toMatchObject({
      code: 'level_not_found',
      message: expect.stringMatching(/^In filters, "Hot": No engagement level/),
      errors: [{ path: 'body.filters[0].conditions.all[0].value' }],
    });
    expect(refused({ filters: [{ name: 'By intent', conditions: byIntent }] })).toMatchObject({
      code: 'ruleset_not_found',
      message: expect.stringContaining('No ruleset is named "Intent"'),
      errors: [{ path: 'body.filters[0].conditions.all[0].ruleset' }],
    });
  });

  test('that name a level which the same document removes are refused', () => {
    const { configuration } = applied({
      engagement_levels: [hot],
      filters: [{ name: 'Hot', conditions: isHot }],
    });
    const filters = [{ name: 'Hot', conditions: isHot }];
    expect(refused({ engagement_levels: [], filters }, configuration)).toMatchObject({
      code: 'level_not_found',
    });
  });

  test('that name what was gone before stay as they are in the document of the configuration', () => {
    const gone = after([
      createRuleset('Intent'),
      setLevels([['Hot', 50, null]]),
      createFilter('Both', {
        conditions: {
          any: [
            { field: 'level', operator: 'equals', value: 'hot' },
            { field: 'ruleset_score', ruleset_id: idOf('Intent'), operator: 'gte', value: 5 },
          ],
        },
      }),
      setLevels([]),
      { type: 'DeleteRuleset', payload: { ou_id: ouId, ruleset_id: idOf('Intent'), requested_at: at } },
    ]).configuration;
    const document = documentOf(gone);
    expect(applied(document, gone).events).toEqual([]);
    expect(refused(document)).toMatchObject({ code: 'level_not_found' });
    const again = applied({ ...document, ...withIntent }, gone);
    expect(again.configuration.filters).toEqual(gone.filters);
  });

  test('twice with one name, or more than an OU may have, are refused', () => {
    const conditions = { all: [{ field: 'score', operator: 'gte' as const, value: 5 }] };
    const twice = ['Good', 'good'].map((name) => ({ name, conditions }));
    expect(refused({ filters: twice })).toMatchObject({
      code: 'duplicate_name',
      errors: [{ path: 'body.filters[1].name' }],
    });
    const many = Array.from({ length: 201 }, (_, index) => ({ name: String(index), conditions }));
    expect(refused({ filters: many })).toMatchObject({ code: 'limit_reached' });
  });
});

test('a document with more rules than there may be is refused before they are looked at', () => {
  const rules = Array.from({ length: 2_501 }, () => ({ event_type: 'Page View', weight: 1, active: false }));
  const rulesets = ['One', 'Other'].map((name) => ({ name, active: true, rules }));
  expect(refused({ engagement_rulesets: rulesets })).toMatchObject({
    code: 'limit_reached',
    message: expect.stringContaining('at most 5000 rules'),
  });
});

test('a repeat of a change, after another change has renamed what it made, makes it anew under new ids', () => {
  const command = apply({ engagement_rulesets: [{ name: 'Intent', active: true, rules: [] }] });
  const first = after([command]).configuration;
  const [id] = [...first.rulesets.keys()];
  const renamed = after(
    [
      {
        type: 'UpdateRuleset',
        payload: { ou_id: ouId, ruleset_id: id ?? '', name: 'Purpose', requested_at: at },
      },
    ],
    first,
  ).configuration;
  const { configuration } = after([command], renamed);
  expect([...configuration.rulesets.values()]).toMatchObject([{ name: 'Intent', version: 1 }]);
  expect(configuration.rulesets.has(id ?? '')).toBe(false);
});

test('profile rules that single requests made are found again', () => {
  const before = after([
    createRuleset('Fit', { score_type: 'profile' }),
    createProfileRule('vp', vp.conditions),
  ]).configuration;
  expect(applied(documentOf(before), before).events).toEqual([]);
});
