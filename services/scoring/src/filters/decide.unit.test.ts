// Given a configuration, when a command on a filter comes, then the filter changes, or the command is refused with a reason.
import { describe, expect, test } from '@jest/globals';
import { problemTypeOf, records, routes, type LeadFilterGroup } from '@lead-scoring/contracts';
import { evolveConfiguration, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { filterArbitrary } from '@lead-scoring/scoring-domain/testing/filters';
import { lawRuns } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import { decideConfiguration, resultOf } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { createRuleset, idOf, ouId, setLevels } from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { createFilter, deleteFilter, updateFilter } from '../testing/filter-builders.js';

function when(command: ConfigurationCommand, configuration: ScoringConfiguration) {
  const decision = decideConfiguration(command, configuration);
  if (decision.outcome === 'rejected')
    return { ...decision, status: problemTypeOf(decision.code).status, events: [] };
  const after = decision.events.reduce(evolveConfiguration, configuration);
  return { ...decision, after, result: resultOf(command, after) };
}

const hot: LeadFilterGroup = { all: [{ field: 'level', operator: 'equals', value: 'Hot' }] };

describe('creating a filter', () => {
  test('answers with the filter and its sentence, in the form of the route', () => {
    const actor = { kind: 'token', id: 'ada' } as const;
    const { result } = when(createFilter('Big', { actor }), configured()) as { result: unknown };
    expect(routes.createFilter.responses[201].schema.parse(result)).toMatchObject({
      id: idOf('Big'),
      name: 'Big',
      filter_label: 'score is at least 50',
      version: 1,
      changed_by: actor,
    });
  });

  test('the same command again changes nothing', () => {
    expect(when(createFilter('Big'), configured(createFilter('Big')))).toMatchObject({
      outcome: 'done',
      events: [],
    });
  });

  test('is refused for a name that is taken, whatever its case', () => {
    expect(when(createFilter('BIG'), configured(createFilter('Big')))).toMatchObject({
      status: 409,
      code: 'duplicate_name',
      errors: [{ path: 'body.name' }],
    });
  });

  test('is refused for a level or ruleset that is not there', () => {
    expect(
      when(createFilter('Hot', { conditions: hot }), configured(setLevels([['Warm', 1, null]]))),
    ).toMatchObject({
      status: 404,
      code: 'level_not_found',
      message: 'No engagement level of this organizational unit is named "Hot". There are "Warm".',
      errors: [{ path: 'body.conditions.all[0].value' }],
    });
    const conditions: LeadFilterGroup = {
      any: [{ field: 'ruleset_score', ruleset_id: idOf('Intent'), operator: 'gte', value: 1 }],
    };
    expect(when(createFilter('Intent', { conditions }), configured())).toMatchObject({
      status: 404,
      code: 'ruleset_not_found',
    });
    expect(when(createFilter('f', { conditions }), configured(createRuleset('Intent'))).outcome).toBe('done');
  });

  test('is refused for a profile level or a cell that is not there', () => {
    const fit: LeadFilterGroup = { all: [{ field: 'profile_level', operator: 'in', value: ['Good fit'] }] };
    // A level of engagement scores is no profile level.
    expect(
      when(createFilter('Fit', { conditions: fit }), configured(setLevels([['Good fit', 1, null]]))),
    ).toMatchObject({
      status: 404,
      code: 'level_not_found',
      message: expect.stringContaining('PUT /profile-scoring/levels'),
      errors: [
        {
          path: 'body.conditions.all[0].value[0]',
          message: 'is not a profile level of this organizational unit',
        },
      ],
    });
    const profileLevels: ConfigurationCommand = {
      type: 'SetProfileLevels',
      payload: setLevels([['good FIT', 1, null]]).payload,
    };
    expect(when(createFilter('Fit', { conditions: fit }), configured(profileLevels)).outcome).toBe('done');
    const cell: LeadFilterGroup = { all: [{ field: 'grid', operator: 'equals', value: 'A1' }] };
    expect(when(createFilter('A1', { conditions: cell }), configured())).toMatchObject({
      status: 404,
      code: 'grid_not_found',
      errors: [{ path: 'body.conditions.all[0].value' }],
    });
    const grid = { profile: { A: 3, B: 2, C: 1 }, engagement: { 1: 3, 2: 2, 3: 1 } };
    const setGrid: ConfigurationCommand = {
      type: 'SetScoringGrid',
      payload: { ou_id: ouId, grid, requested_at: '2026-01-01T00:00:00.000Z' },
    };
    const { result } = when(createFilter('A1', { conditions: cell }), configured(setGrid)) as {
      result: unknown;
    };
    expect(result).toMatchObject({ filter_label: 'grid cell is "A1"' });
  });

  test('is refused for one too many, and where all would be too long', () => {
    const many = Array.from({ length: records.maximumFilters }, (_, index) =>
      createFilter(`f${String(index)}`),
    );
    expect(when(createFilter('more'), configured(...many))).toMatchObject({
      status: 409,
      code: 'limit_reached',
    });
    const conditions: LeadFilterGroup = {
      all: [{ field: 'title', operator: 'in', value: Array.from({ length: 95 }, () => 'x'.repeat(190)) }],
    };
    const long = Array.from({ length: 54 }, (_, index) => createFilter(`f${String(index)}`, { conditions }));
    expect(when(createFilter('more', { conditions }), configured(...long))).toMatchObject({
      status: 409,
      code: 'limit_reached',
      message: 'The filters of an organizational unit may take 1 MB in all. Use shorter lists of values.',
    });
  });
});

describe('changing a filter', () => {
  test('makes a new version; what it has already makes none', () => {
    const before = configured(createFilter('Big'));
    expect(when(updateFilter('Big', { name: 'Bigger' }), before)).toMatchObject({
      events: [{ type: 'FilterUpdated', payload: { name: 'Bigger', version: 2 } }],
    });
    expect(when(updateFilter('Big', { name: 'Big' }), before)).toMatchObject({ outcome: 'done', events: [] });
  });

  test('may rename one whose level is gone, and not give it conditions on a level that is not there', () => {
    const before = configured(
      setLevels([['Hot', 50, null]]),
      createFilter('f', { conditions: hot }),
      setLevels([]),
    );
    expect(when(updateFilter('f', { name: 'g' }), before).outcome).toBe('done');
    const other: LeadFilterGroup = { any: hot.all };
    expect(when(updateFilter('f', { conditions: other }), before)).toMatchObject({ code: 'level_not_found' });
  });

  test('is refused for the name of another, and for a filter that is not there', () => {
    const before = configured(createFilter('Big'), createFilter('Small'));
    expect(when(updateFilter('Big', { name: 'small' }), before)).toMatchObject({ code: 'duplicate_name' });
    expect(when(updateFilter('Big', { name: 'big' }), before).outcome).toBe('done');
    expect(when(updateFilter('none', { name: 'x' }), before)).toMatchObject({
      status: 404,
      code: 'filter_not_found',
    });
  });
});

test('deleting a filter frees its name; a filter that is not there is 404', () => {
  const before = configured(createFilter('Big'), deleteFilter('Big'));
  expect(before.filters.size).toBe(0);
  expect(when(deleteFilter('Big'), before)).toMatchObject({ status: 404, code: 'filter_not_found' });
  expect(when(createFilter('Big', { filter_id: idOf('other') }), before).outcome).toBe('done');
});

const command = fc
  .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('create', 'update', 'delete'), filterArbitrary)
  .map(([name, change, conditions]): ConfigurationCommand =>
    change === 'create'
      ? createFilter(name, { conditions })
      : change === 'update'
        ? updateFilter(name, { conditions })
        : deleteFilter(name),
  );

test('each command that is taken is taken again without an event, and names stay unique', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 20 }), (commands) => {
      let configuration = configured(
        createRuleset('Intent'),
        createRuleset('Fit'),
        setLevels([['Hot', 60, null]]),
      );
      for (const one of commands) {
        const decision = decideConfiguration(one, configuration);
        if (decision.outcome === 'rejected') continue;
        configuration = decision.events.reduce(evolveConfiguration, configuration);
        const again = decideConfiguration(one, configuration);
        expect(again.outcome === 'done' ? again.events : one.type).toEqual(
          one.type === 'DeleteFilter' ? 'DeleteFilter' : [],
        );
        const names = [...configuration.filters.values()].map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
      }
    }),
    { numRuns: lawRuns },
  );
});
