// Given an OU's configuration, when decay rules are made, changed and deleted, then the events say it, and what makes no sense is
// refused with what to change.
import { describe, expect, test } from '@jest/globals';
import { maximumDecays, records } from '@lead-scoring/contracts';
import {
  packConfiguration,
  periodsOf,
  unpackConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { decideConfiguration, resultOf } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { at, createRuleset, deleteRuleset, idOf, ouId } from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { createDecay, deleteDecay, updateDecay } from '../testing/decay-builders.js';
import { walksOf } from './walks.js';

const later = '2026-02-01T12:00:00.000Z';
const latest = '2026-03-01T12:00:00.000Z';

const decide = (configuration: ScoringConfiguration, command: ConfigurationCommand) =>
  decideConfiguration(command, configuration);
const rejection = (configuration: ScoringConfiguration, command: ConfigurationCommand) => {
  const decision = decide(configuration, command);
  return decision.outcome === 'rejected' ? [decision.code, decision.errors?.[0]?.path] : [];
};
const actor = { kind: 'token', id: idOf('token'), name: 'Ada' } as const;

describe('a decay rule', () => {
  test('is created with its defaults and its actor, and answered as it is', () => {
    const command = createDecay('Quiet', { actor });
    const decision = decide(configured(), command);
    const payload = {
      ou_id: ouId,
      decay_id: idOf('Quiet'),
      name: 'Quiet',
      mode: 'inactivity_points',
      points: -5,
      interval_days: 7,
      floor: 0,
      active: true,
      version: 1,
      at,
      actor,
    };
    expect(decision).toEqual({ outcome: 'done', events: [{ type: 'DecayCreated', payload }] });
    expect(records.decayCreated.schema.safeParse(payload).error).toBeUndefined();
    expect(resultOf(command, configured(command))).toEqual({
      id: idOf('Quiet'),
      name: 'Quiet',
      mode: 'inactivity_points',
      points: -5,
      interval_days: 7,
      floor: 0,
      active: true,
      version: 1,
      counts_from: at,
      created_at: at,
      updated_at: at,
      changed_by: actor,
    });
  });

  test('that is made again by the same command is no event; after its deletion the command is refused', () => {
    expect(decide(configured(createDecay('Quiet')), createDecay('Quiet'))).toEqual({
      outcome: 'done',
      events: [],
    });
    const deleted = configured(
      createDecay('Quiet', { active: false }),
      deleteDecay('Quiet', { requested_at: later }),
    );
    expect(rejection(deleted, createDecay('Quiet'))[0]).toBe('already_deleted');
  });

  test('a half-life ticks daily where it names no interval; others have to name one', () => {
    const { payload } = createDecay('Half', { mode: 'half_life', half_life_days: 30 });
    delete payload.interval_days;
    expect(decide(configured(), { type: 'CreateDecay', payload })).toMatchObject({
      events: [{ payload: { interval_days: 1, half_life_days: 30 } }],
    });
    const { payload: points } = createDecay('Quiet');
    delete points.interval_days;
    expect(rejection(configured(), { type: 'CreateDecay', payload: points })).toEqual([
      'invalid_request',
      'body.interval_days',
    ]);
  });

  test('has the amount of its mode and no other', () => {
    expect(rejection(configured(), createDecay('None', { mode: 'percent_interval' }))).toEqual([
      'invalid_request',
      'body.percent',
    ]);
    expect(rejection(configured(), createDecay('Two', { percent: 10 }))).toEqual([
      'invalid_request',
      'body.percent',
    ]);
  });

  test('names a ruleset of engagement', () => {
    const fit = configured(createRuleset('Fit', { score_type: 'profile' }), createRuleset('Web'));
    expect(rejection(fit, createDecay('Quiet', { ruleset_id: idOf('Fit') }))[1]).toBe('body.ruleset_id');
    expect(rejection(fit, createDecay('Quiet', { ruleset_id: idOf('Unknown') }))[0]).toBe(
      'ruleset_not_found',
    );
    const web = configured(createRuleset('Web'), createDecay('Quiet', { ruleset_id: idOf('Web') }));
    expect(rejection(web, deleteRuleset('Web'))[0]).toBe('ruleset_not_empty');
    const whole = configured(
      createRuleset('Web'),
      createDecay('Quiet', { ruleset_id: idOf('Web') }),
      updateDecay('Quiet', { ruleset_id: null }),
    );
    expect(whole.decays?.rules.get(idOf('Quiet'))).not.toHaveProperty('ruleset_id');
    expect(decide(whole, deleteRuleset('Web')).outcome).toBe('done');
  });

  test('has a name of its own, and there are at most 20', () => {
    expect(rejection(configured(createDecay('Quiet')), createDecay('Other', { name: 'QUIET' }))).toEqual([
      'duplicate_name',
      'body.name',
    ]);
    const many = configured(
      ...Array.from({ length: maximumDecays }, (_, index) => createDecay(`Rule ${String(index)}`)),
    );
    expect(rejection(many, createDecay('One more'))[0]).toBe('limit_reached');
    expect(rejection(many, updateDecay('Rule 1', { name: 'rule 2' }))[0]).toBe('duplicate_name');
  });

  test('that does not exist is neither changed nor deleted', () => {
    expect(rejection(configured(), updateDecay('Quiet', { name: 'Other' }))[0]).toBe('decay_not_found');
    expect(rejection(configured(), deleteDecay('Quiet'))[0]).toBe('decay_not_found');
  });

  test('a change to what it is already is no event', () => {
    expect(
      decide(configured(createDecay('Quiet')), updateDecay('Quiet', { points: -5, active: true })),
    ).toEqual({
      outcome: 'done',
      events: [],
    });
  });

  test('another mode drops the amount of the mode before, and needs its own', () => {
    const known = configured(createDecay('Quiet'));
    expect(rejection(known, updateDecay('Quiet', { mode: 'percent_interval' }))[1]).toBe('body.percent');
    const [event] = (
      decide(known, updateDecay('Quiet', { mode: 'percent_interval', percent: 5 })) as {
        events: { payload: object }[];
      }
    ).events;
    expect(event?.payload).toMatchObject({ mode: 'percent_interval', percent: 5, version: 2 });
    expect(event?.payload).not.toHaveProperty('points');
  });
});

describe('periods', () => {
  const changed = [
    createDecay('Quiet'),
    updateDecay('Quiet', { points: -8, requested_at: later }),
    updateDecay('Quiet', { active: false, requested_at: latest }),
  ];

  test('a change counts for later ticks, and those of before keep their settings', () => {
    const { decays } = configured(...changed.slice(0, 2));
    expect(decays && periodsOf(decays)).toMatchObject([
      { points: -5, rule_version: 1, since: at, until: later },
      { points: -8, rule_version: 2, since: later },
    ]);
  });

  test('a pause ends them, and a resumption begins a new one', () => {
    const paused = configured(...changed);
    expect(paused.decays && periodsOf(paused.decays).at(-1)).toMatchObject({ points: -8, until: latest });
    const resumed = configured(
      ...changed,
      updateDecay('Quiet', { active: true, requested_at: '2026-04-01T00:00:00.000Z' }),
    );
    expect(resumed.decays && periodsOf(resumed.decays).at(-1)).toMatchObject({
      since: '2026-04-01T00:00:00.000Z',
    });
  });

  test('another name changes no ticks, and needs no walk over the leads', () => {
    const known = configured(createDecay('Quiet'));
    const rename = updateDecay('Quiet', { name: 'Still', requested_at: later });
    const renamed = configured(createDecay('Quiet'), rename);
    expect(renamed.decays?.rules.get(idOf('Quiet'))).toMatchObject({
      name: 'Still',
      counts_from: at,
      version: 2,
    });
    const decision = decide(known, rename);
    expect(walksOf(known, decision.outcome === 'done' ? decision.events : [], 3)).toEqual([]);
  });

  const tenMinutesAfter = (moment: string) => new Date(Date.parse(moment) + 600_000).toISOString();

  test('every other change walks over the leads of each partition', () => {
    const decision = decide(configured(createDecay('Quiet')), deleteDecay('Quiet', { requested_at: later }));
    const walks = walksOf(
      configured(createDecay('Quiet')),
      decision.outcome === 'done' ? decision.events : [],
      3,
    );
    expect(walks.map(({ partition, payload }) => [partition, payload])).toEqual(
      [0, 1, 2].map((partition) => [
        partition,
        { ou_id: ouId, partition, version: 2, after: null, until: tenMinutesAfter(later) },
      ]),
    );
  });

  test('are stored with the configuration', () => {
    const configuration = configured(...changed);
    const { ou_id, version } = configuration;
    expect(unpackConfiguration({ ou_id, version }, packConfiguration(configuration))).toEqual(configuration);
  });
});
