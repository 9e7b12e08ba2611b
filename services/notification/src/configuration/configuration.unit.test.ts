// Channels and triggers of an OU: decisions on commands, the fold of their events, and the answers.
import { describe, expect, test } from '@jest/globals';
import { routeDeclarations, type records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import {
  channelId,
  createChannel,
  createTrigger,
  milestone,
  milestoneAt,
  ouId,
  requestedAt,
  sealed,
  sequence,
  surge,
  triggerId,
  webhookTo,
} from '../testing/builders.js';
import { levelsFrom } from '../testing/firing-builders.js';
import { configurationLimits } from './decision-model.js';
import { decideConfiguration } from './decide.js';
import type { DestinationCheck } from './destination-model.js';
import {
  emptyConfiguration,
  type SavedFilter,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import type { KnownScoring } from './scoring-names-model.js';
import { resultOf } from './result-model.js';
import type { ConfigurationCommand, ConfigurationDecision, ConfigurationEvent } from './messages.js';
import { evolveConfiguration } from './evolve.js';
import { emptyNotificationConfiguration, type NotificationConfiguration } from './state.js';
import { toConfiguration, toDocument } from './documents.js';

const anyDestination: DestinationCheck = { refusalOf: () => null, warningsOf: () => [] };
const levels = levelsFrom([
  ['Cold', null],
  ['Warm', 10],
  ['Hot', 50],
]);
const saved: SavedFilter = {
  id: triggerId(99),
  name: 'At Acme',
  conditions: { all: [{ field: 'company', operator: 'contains', value: 'acme' }] },
  version: 1,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
};
const scoring: ScoringConfiguration = {
  ...emptyConfiguration(ouId),
  levels,
  filters: new Map([[saved.id, saved]]),
  profile_levels: levelsFrom([
    ['Poor fit', null],
    ['Good fit', 20],
  ]),
};

/** The configuration after commands of which none is rejected. */
function given(...commands: ConfigurationCommand[]): NotificationConfiguration {
  return commands.reduce((configuration, command) => {
    const decision = decideConfiguration(command, configuration, anyDestination, scoring);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    return decision.events.reduce(evolveConfiguration, configuration);
  }, emptyNotificationConfiguration(ouId));
}

function when(
  command: ConfigurationCommand,
  configuration = emptyNotificationConfiguration(ouId),
  { check = anyDestination, known = scoring }: { check?: DestinationCheck; known?: KnownScoring } = {},
): ConfigurationDecision {
  return decideConfiguration(command, configuration, check, known);
}

const answerOf = (command: ConfigurationCommand, configuration: NotificationConfiguration, known = scoring) =>
  resultOf(command, configuration, known, anyDestination);

const onChannel = (nth: number) => ({
  ou_id: ouId,
  channel_id: channelId(nth),
  requested_at: '2026-02-01T00:00:00.000Z',
});
const replaceChannel = (nth: number, fields: Partial<records.ReplaceChannel> = {}): ConfigurationCommand => ({
  type: 'ReplaceChannel',
  payload: {
    ...onChannel(nth),
    name: 'Other',
    destination: webhookTo('https://example.com/other'),
    ...fields,
  },
});
const deleteChannel = (nth: number): ConfigurationCommand => ({
  type: 'DeleteChannel',
  payload: onChannel(nth),
});
const rotate = (nth: number, key: string): ConfigurationCommand => ({
  type: 'RotateChannelSecret',
  payload: { ...onChannel(nth), signing_key_id: key },
});
const replaceTrigger = (nth: number, definition: records.TriggerDefinition): ConfigurationCommand => ({
  type: 'ReplaceTrigger',
  payload: { ou_id: ouId, trigger_id: triggerId(nth), definition, requested_at: '2026-02-01T00:00:00.000Z' },
});
const deleteTrigger = (nth: number, kind: 'milestone' | 'sequence' | 'surge'): ConfigurationCommand => ({
  type: 'DeleteTrigger',
  payload: { ou_id: ouId, trigger_id: triggerId(nth), kind, requested_at: '2026-02-01T00:00:00.000Z' },
});
const kept = (last_four: string) => ({ kept: true as const, last_four });
const codeOf = (decision: ConfigurationDecision) =>
  decision.outcome === 'rejected' ? decision.code : decision.outcome;

describe('a channel', () => {
  test('is created as sent, and its answer shows only the last four characters of secrets', () => {
    const command = createChannel(1, {
      destination: webhookTo('https://example.com/hook', 'Bearer abcdef'),
    });
    const answer = answerOf(command, given(command));
    expect(answer).toEqual({
      id: channelId(1),
      unit_id: ouId,
      name: 'Channel 1',
      type: 'webhook',
      config: { url: 'https://example.com/…', auth_header: '…cdef' },
      status: 'active',
      created_at: requestedAt,
      updated_at: requestedAt,
    });
    expect(routeDeclarations.notificationChannel.safeParse(answer).error).toBeUndefined();
  });

  test.each<records.WrittenDestination>([
    { type: 'slack', config: { channel_id: 'C0123456789', channel_name: '#sales' } },
    {
      type: 'teams',
      config: { webhook_url: sealed('https://example.com/x?sig=abcdef'), channel_name: 'Sales' },
    },
    { type: 'email', config: { recipients: 'ada@example.com', subject_prefix: 'Leads:' } },
    { type: 'email', config: { recipients: 'ada@example.com' } },
    webhookTo('https://example.com'),
  ])('of each type answers as its route declares: %j', (destination) => {
    const command = createChannel(1, { destination });
    expect(routeDeclarations.notificationChannel.safeParse(answerOf(command, given(command))).error).toBe(
      undefined,
    );
  });

  describe('of a webhook whose address is sealed', () => {
    const url = { sealed: 'c2VhbGVk', origin: 'https://hooks.example.com', last_four: 'cret' };
    const kept = { kept: true as const, origin: url.origin, last_four: url.last_four };
    const to = (address: records.WrittenUrl | string): records.WrittenDestination => ({
      type: 'webhook',
      config: { url: address },
    });
    const storedUrl = (configuration: NotificationConfiguration) => {
      const destination = configuration.channels.get(channelId(1))?.destination;
      return destination?.type === 'webhook' ? destination.config.url : undefined;
    };

    test('is shown as scheme, host and last four characters, and a replacement that sends this form back keeps it', () => {
      const command = createChannel(1, { destination: to(url) });
      expect(answerOf(command, given(command))).toMatchObject({
        config: { url: 'https://hooks.example.com/…cret' },
      });
      const renamed = replaceChannel(1, { name: 'Renamed', destination: to(kept) });
      expect(storedUrl(given(command, renamed))).toEqual(url);
      for (const other of [
        { ...kept, last_four: 'else' },
        { ...kept, origin: 'https://other.example.com' },
      ])
        expect(codeOf(when(replaceChannel(1, { destination: to(other) }), given(command)))).toBe(
          'invalid_request',
        );
    });

    test('stored in plain text by an earlier version is shown and kept in the same way', () => {
      const plain = 'https://hooks.example.com/services/secret';
      const command = createChannel(1, { destination: to(plain) });
      expect(answerOf(command, given(command))).toMatchObject({
        config: { url: 'https://hooks.example.com/…cret' },
      });
      const renamed = replaceChannel(1, { name: 'Renamed', destination: to(kept) });
      expect(storedUrl(given(command, renamed))).toBe(plain);
    });
  });

  test('is created once when its command is repeated', () => {
    const command = createChannel(1);
    expect(when(command, given(command))).toEqual({ outcome: 'done', events: [] });
  });

  test('with a forbidden address is refused, both when it is created and when it is replaced', () => {
    const check: DestinationCheck = {
      refusalOf: (destination, id) =>
        destination.type === 'webhook' &&
        JSON.stringify(destination.config.url).includes('internal') &&
        id === channelId(1)
          ? { code: 'address_not_public', message: 'no' }
          : null,
      warningsOf: () => [],
    };
    const destination = webhookTo('https://internal.example.com');
    expect(codeOf(when(createChannel(1, { destination }), undefined, { check }))).toBe('address_not_public');
    expect(codeOf(when(replaceChannel(1, { destination }), given(createChannel(1)), { check }))).toBe(
      'address_not_public',
    );
  });

  test('is replaced in every field, and keeps its signing secret', () => {
    const before = given(
      createChannel(1, { destination: webhookTo('https://example.com', 'Bearer abcdef') }),
    );
    const after = given(
      createChannel(1, { destination: webhookTo('https://example.com', 'Bearer abcdef') }),
      replaceChannel(1),
    );
    expect(after.channels.get(channelId(1))).toEqual({
      ...before.channels.get(channelId(1)),
      name: 'Other',
      destination: webhookTo('https://example.com/other'),
      version: 2,
      updated_at: '2026-02-01T00:00:00.000Z',
    });
  });

  test('that is replaced by an equal channel does not change', () => {
    const before = given(createChannel(1), replaceChannel(1));
    expect(when(replaceChannel(1), before)).toEqual({ outcome: 'done', events: [] });
  });

  test('of another OU, or one that does not exist, is not found', () => {
    for (const command of [replaceChannel(2), deleteChannel(2), rotate(2, channelId(9))])
      expect(codeOf(when(command, given(createChannel(1))))).toBe('notification_channel_not_found');
  });

  test('beyond the limit is refused', () => {
    const full = given(
      ...Array.from({ length: configurationLimits.channels }, (_, nth) => createChannel(nth)),
    );
    expect(codeOf(when(createChannel(999), full))).toBe('limit_reached');
    expect(codeOf(when(createChannel(0), full))).toBe('done');
  });
});

describe('a secret that is sent by its last four characters', () => {
  const auth = (url: string, last_four: string): records.WrittenDestination => ({
    type: 'webhook',
    config: { url, auth_header: kept(last_four) },
  });
  const withSecret = createChannel(1, { destination: webhookTo('https://example.com/a', 'Bearer abcdef') });

  test('is kept', () => {
    const after = given(
      withSecret,
      replaceChannel(1, { destination: auth('https://example.com/b', 'cdef') }),
    );
    expect(after.channels.get(channelId(1))?.destination).toEqual(
      webhookTo('https://example.com/b', 'Bearer abcdef'),
    );
  });

  test('is refused for a new channel, for another type, and where the channel has another secret', () => {
    const before = given(withSecret);
    const teams: records.WrittenDestination = {
      type: 'teams',
      config: { webhook_url: kept('cdef'), channel_name: 'Sales' },
    };
    for (const destination of [auth('https://example.com/b', 'wxyz'), teams]) {
      expect(codeOf(when(replaceChannel(1, { destination }), before))).toBe('invalid_request');
      expect(codeOf(when(createChannel(2, { destination }), before))).toBe('invalid_request');
    }
  });

  test.each([
    'https://example.org/a',
    'http://example.com/a',
    'https://example.com:444/a',
    'https://example.com.evil.example/a',
    'https:///evil.example/a',
    'https://evil.example\\@example.com/a',
  ])('is not sent to another receiver: %s', (url) => {
    expect(codeOf(when(replaceChannel(1, { destination: auth(url, 'cdef') }), given(withSecret)))).toBe(
      'invalid_request',
    );
  });
});

describe('the rotation of a signing secret', () => {
  test('keeps the previous secret for 24 hours, and happens once when its command is repeated', () => {
    const before = given(createChannel(1), rotate(1, channelId(50)));
    expect(before.channels.get(channelId(1))?.signing).toEqual({
      key_id: channelId(50),
      previous: { key_id: channelId(1), valid_until: '2026-02-02T00:00:00.000Z' },
    });
    expect(when(rotate(1, channelId(50)), before)).toEqual({ outcome: 'done', events: [] });
    expect(answerOf(rotate(1, channelId(50)), before)).toEqual({
      previous_valid_until: '2026-02-02T00:00:00.000Z',
    });
  });

  test('is not undone when the command of an earlier rotation is repeated late', () => {
    const before = given(createChannel(1), rotate(1, channelId(50)), rotate(1, channelId(51)));
    expect(when(rotate(1, channelId(50)), before)).toEqual({ outcome: 'done', events: [] });
  });

  test('is refused for channels other than webhooks', () => {
    const slack = createChannel(1, {
      destination: { type: 'slack', config: { channel_id: 'C1', channel_name: '#sales' } },
    });
    expect(codeOf(when(rotate(1, channelId(50)), given(slack)))).toBe('channel_signs_nothing');
  });
});

describe('a trigger', () => {
  test.each([
    milestone({
      channel_ids: [channelId(1)],
      event_type: 'Page View',
      rearm: { below: 40, cooldown_seconds: 60 },
    }),
    milestoneAt('Hot', { direction: 'down' }),
    sequence({
      steps: [
        {
          event_type: 'Page View',
          attribute_filters: [{ field: 'path', operator: 'contains', value: '/pricing' }],
        },
        { event_type: 'Form Submit', attribute_filters: [] },
      ],
    }),
    surge(),
  ])('of each kind answers as its route declares: %j', (definition) => {
    const command = createTrigger(1, definition);
    const answer = answerOf(command, given(createChannel(1), command));
    const schemas = {
      milestone: routeDeclarations.milestoneTrigger,
      sequence: routeDeclarations.sequenceTrigger,
      surge: routeDeclarations.surgeTrigger,
    };
    expect(schemas[definition.kind].safeParse(answer).error).toBe(undefined);
    expect(answer).toMatchObject({ has_destination: definition.channel_ids.length > 0, version: 1 });
  });

  test('is refused with a list of the channels that are not of the OU', () => {
    const command = createTrigger(1, milestone({ channel_ids: [channelId(1), channelId(2), channelId(3)] }));
    expect(when(command, given(createChannel(2)))).toMatchObject({
      outcome: 'rejected',
      code: 'notification_channel_not_found',
      errors: [{ path: 'body.channel_ids[0]' }, { path: 'body.channel_ids[2]' }],
    });
  });

  test('loses a deleted channel, and shows has_destination false after the last one', () => {
    const after = given(
      createChannel(1),
      createChannel(2),
      createTrigger(1, milestone({ channel_ids: [channelId(1)] })),
      createTrigger(2, surge({ channel_ids: [channelId(1), channelId(2)] })),
      createTrigger(3, sequence({ channel_ids: [channelId(2)] })),
      deleteChannel(1),
    );
    const has = (nth: number) => {
      const trigger = after.triggers.get(triggerId(nth));
      return [trigger?.channel_ids, trigger?.version];
    };
    expect([has(1), has(2), has(3)]).toEqual([
      [[], 2],
      [[channelId(2)], 2],
      [[channelId(2)], 1],
    ]);
    expect(answerOf(createTrigger(1), after)).toMatchObject({ channel_ids: [], has_destination: false });
  });

  test('is found only by its own kind', () => {
    const before = given(createTrigger(1, milestone()));
    for (const command of [
      replaceTrigger(1, surge()),
      deleteTrigger(1, 'sequence'),
      deleteTrigger(2, 'milestone'),
    ])
      expect(codeOf(when(command, before))).toBe('trigger_not_found');
    expect(codeOf(when(deleteTrigger(1, 'milestone'), before))).toBe('done');
  });

  test('starts without progress when it fires for other events, and keeps its progress when name, channels or activity change', () => {
    const before = [createChannel(1), createTrigger(1, milestone())];
    const sinceAfter = (definition: records.TriggerDefinition) =>
      given(...before, replaceTrigger(1, definition)).triggers.get(triggerId(1))?.since;
    expect(given(...before).triggers.get(triggerId(1))?.since).toBe(2);
    expect(sinceAfter(milestone({ name: 'x', channel_ids: [channelId(1)], active: false }))).toBe(2);
    for (const other of [
      milestone({ score_threshold: 51 }),
      milestone({ direction: 'down' }),
      milestone({ event_type: 'Page View' }),
      milestone({ rearm: { below: 10, cooldown_seconds: 0 } }),
      milestone({ rearm: { cooldown_seconds: 1 } }),
      milestoneAt('Hot'),
    ])
      expect(sinceAfter(other)).toBe(3);
  });

  test('beyond the limit is refused', () => {
    const full = given(
      ...Array.from({ length: configurationLimits.triggers }, (_, nth) => createTrigger(nth)),
    );
    expect(codeOf(when(createTrigger(5_000), full))).toBe('limit_reached');
  });

  test('is refused when the configuration would no longer fit into one document', () => {
    const value = 'x'.repeat(1_000);
    const large = sequence({
      steps: Array.from({ length: 10 }, () => ({
        event_type: 'Page View',
        attribute_filters: Array.from({ length: 20 }, () => ({
          field: 'path',
          operator: 'in' as const,
          value: Array.from({ length: 38 }, () => value),
        })),
      })),
    });
    const before = given(createTrigger(1, large));
    expect(codeOf(when(createTrigger(2, large), before))).toBe('limit_reached');
  });
});

describe('a trigger by level', () => {
  const without = (name: string): ScoringConfiguration => ({
    ...scoring,
    levels: levels.filter((level) => level.name !== name),
  });

  test('is answered with its level in place of a threshold, and with level_missing', () => {
    const command = createTrigger(1, milestoneAt('hot'));
    const after = given(command);
    const answer = answerOf(command, after);
    expect(answer).toMatchObject({ level: 'hot', level_missing: false });
    expect(answer).not.toHaveProperty('score_threshold');
    expect(answerOf(command, after, without('Hot'))).toMatchObject({ level_missing: true });
    expect(answerOf(createTrigger(2), given(createTrigger(2)))).not.toHaveProperty('level_missing');
  });

  test('of a level that does not exist is refused with the names of the existing levels', () => {
    const boiling = createTrigger(1, milestoneAt('Boiling'));
    expect(when(boiling)).toMatchObject({
      outcome: 'rejected',
      code: 'level_not_found',
      message: expect.stringContaining('Its engagement levels are "Cold", "Warm", "Hot".'),
      errors: [{ path: 'body.level' }],
    });
    expect(when(boiling, given(), { known: emptyConfiguration(ouId) })).toMatchObject({
      code: 'level_not_found',
      message: expect.stringContaining('It has none'),
    });
    const [{ id } = { id: '' }] = levels;
    expect(codeOf(when(createTrigger(1, milestoneAt(id))))).toBe('level_not_found');
  });

  test('of the profile score names a profile level, and no engagement level', () => {
    const profile = (level: string) => createTrigger(1, milestoneAt(level, { score_type: 'profile' }));
    const good = profile('good fit');
    expect(answerOf(good, given(good))).toMatchObject({
      score_type: 'profile',
      level: 'good fit',
      level_missing: false,
    });
    expect(when(profile('Hot'))).toMatchObject({
      code: 'level_not_found',
      message: expect.stringContaining('Its profile levels are "Poor fit", "Good fit".'),
    });
    expect(when(profile('Hot'), given(), { known: { ...emptyConfiguration(ouId), levels } })).toMatchObject({
      code: 'level_not_found',
      message: expect.stringContaining('PUT /profile-scoring/levels'),
    });
    expect(codeOf(when(profile('Poor fit')))).toBe('invalid_request');
    expect(codeOf(when(createTrigger(1, milestoneAt('Good fit'))))).toBe('level_not_found');
  });

  test('is refused with position_not_reached while the newest levels are unknown', () => {
    for (const command of [createTrigger(1, milestoneAt('Boiling')), replaceTrigger(2, milestoneAt('Hot'))])
      expect(codeOf(when(command, given(createTrigger(2)), { known: null }))).toBe('position_not_reached');
    expect(codeOf(when(createTrigger(1), given(), { known: null }))).toBe('done');
  });

  test.each<[string, records.MilestoneDefinition, string]>([
    ['of a level that is open downwards', milestoneAt('Cold'), 'body.level'],
    [
      're-armed above its level',
      milestoneAt('Hot', { rearm: { below: 51, cooldown_seconds: 0 } }),
      'body.rearm.below',
    ],
    [
      're-armed below its level, downwards',
      milestoneAt('Hot', { direction: 'down', rearm: { above: 49, cooldown_seconds: 0 } }),
      'body.rearm.above',
    ],
  ])('%s is refused', (_, definition, path) => {
    expect(when(createTrigger(1, definition))).toMatchObject({
      outcome: 'rejected',
      code: 'invalid_request',
      errors: [{ path }],
    });
  });

  test('whose level is gone can be renamed, deactivated and given another level', () => {
    const before = given(createTrigger(1, milestoneAt('Hot')));
    const after = (definition: records.MilestoneDefinition) =>
      codeOf(when(replaceTrigger(1, definition), before, { known: without('Hot') }));
    expect(after(milestoneAt('Hot', { name: 'Was hot', active: false }))).toBe('done');
    expect(after(milestoneAt('Warm'))).toBe('done');
    expect(after(milestoneAt('Hot', { direction: 'down' }))).toBe('level_not_found');
  });
});

describe('a trigger with a saved filter', () => {
  const filtered = (filter_id: string) => createTrigger(1, milestone({ filter_id }));
  const withoutFilters = { ...scoring, filters: new Map<string, SavedFilter>() };

  test('is answered with the filter, whatever the case of its id, and says whether it is still there', () => {
    const command = filtered(saved.id.toUpperCase());
    const after = given(command);
    expect(answerOf(command, after)).toMatchObject({
      filter_id: saved.id.toUpperCase(),
      filter_missing: false,
    });
    expect(answerOf(command, after, withoutFilters)).toMatchObject({ filter_missing: true });
    expect(answerOf(createTrigger(2), given(createTrigger(2)))).not.toHaveProperty('filter_missing');
  });

  test('is refused for a filter that the OU does not have, and while the newest filters are unknown', () => {
    expect(when(filtered(triggerId(98)))).toMatchObject({
      outcome: 'rejected',
      code: 'filter_not_found',
      message: expect.stringContaining('GET /filters'),
      errors: [{ path: 'body.filter_id' }],
    });
    expect(when(filtered(saved.id), given(), { known: withoutFilters })).toMatchObject({
      code: 'filter_not_found',
      message: expect.stringContaining('POST /filters'),
    });
    expect(codeOf(when(filtered(saved.id), given(), { known: null }))).toBe('position_not_reached');
  });

  test('whose filter is gone can be renamed, and starts without memory once it has another filter or none', () => {
    const before = given(filtered(saved.id));
    const known = withoutFilters;
    const renamed = milestone({ filter_id: saved.id, name: 'Other' });
    expect(codeOf(when(replaceTrigger(1, renamed), before, { known }))).toBe('done');
    expect(codeOf(when(replaceTrigger(1, milestone({ filter_id: triggerId(98) })), before))).toBe(
      'filter_not_found',
    );
    const sinceAfter = (definition: records.MilestoneDefinition) =>
      given(filtered(saved.id), replaceTrigger(1, definition)).triggers.get(triggerId(1))?.since;
    expect([sinceAfter(renamed), sinceAfter(milestone())]).toEqual([1, 2]);
  });
});

describe('for any sequence of commands', () => {
  const nth = fc.integer({ min: 1, max: 4 });
  const channelIds = fc.uniqueArray(nth.map(channelId), { maxLength: 3 });
  const destination = fc.oneof(
    nth.map((n) => webhookTo(`https://example.com/${String(n)}`, `secret-${String(n)}`)),
    nth.map((n): records.WrittenDestination => ({
      type: 'webhook',
      config: { url: 'https://example.com/1', auth_header: kept(`et-${String(n)}`) },
    })),
    nth.map((n): records.WrittenDestination => ({
      type: 'slack',
      config: { channel_id: `C${String(n)}`, channel_name: '#sales' },
    })),
  );
  const definition = fc.oneof(
    fc.record({ channel_ids: channelIds, score_threshold: nth }).map(milestone),
    fc
      .tuple(fc.constantFrom('Hot', 'hot', 'Warm', 'Boiling'), fc.record({ channel_ids: channelIds }))
      .map(([level, more]) => milestoneAt(level, more)),
    fc.record({ channel_ids: channelIds, ordered: fc.boolean() }).map(sequence),
    fc.record({ channel_ids: channelIds, active: fc.boolean() }).map(surge),
  );
  const command: fc.Arbitrary<ConfigurationCommand> = fc.oneof(
    fc.tuple(nth, destination).map(([n, to]) => createChannel(n, { destination: to })),
    fc.tuple(nth, destination).map(([n, to]) => replaceChannel(n, { destination: to })),
    nth.map(deleteChannel),
    fc.tuple(nth, fc.integer({ min: 50, max: 60 })).map(([n, key]) => rotate(n, channelId(key))),
    fc.tuple(nth, definition).map(([n, what]) => createTrigger(n, what)),
    fc.tuple(nth, definition).map(([n, what]) => replaceTrigger(n, what)),
    fc
      .tuple(nth, fc.constantFrom('milestone' as const, 'sequence' as const, 'surge' as const))
      .map(([n, kind]) => deleteTrigger(n, kind)),
  );

  function run(commands: readonly ConfigurationCommand[]) {
    let configuration = emptyNotificationConfiguration(ouId);
    const events: ConfigurationEvent[] = [];
    const taken: { command: ConfigurationCommand; after: NotificationConfiguration }[] = [];
    for (const one of commands) {
      const decision = decideConfiguration(one, configuration, anyDestination, scoring);
      if (decision.outcome === 'rejected') continue;
      configuration = decision.events.reduce(evolveConfiguration, configuration);
      events.push(...decision.events);
      taken.push({ command: one, after: configuration });
    }
    return { configuration, events, taken };
  }

  test('replay equals live, storing and reading keep the state, and the version counts the events', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const { configuration, events } = run(commands);
        expect(events.reduce(evolveConfiguration, emptyNotificationConfiguration(ouId))).toEqual(
          configuration,
        );
        expect(toConfiguration(toDocument(configuration, { partition: 0, offset: 1 }))).toEqual(
          configuration,
        );
        expect(configuration.version).toBe(events.length);
      }),
    );
  });

  test('every event has the actor of its command, and the changed resource has it as changed_by', () => {
    const actor = { kind: 'service_account', id: ouId, name: 'CRM' } as const;
    const by = (one: ConfigurationCommand) =>
      ({ ...one, payload: { ...one.payload, actor } }) as ConfigurationCommand;
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const { configuration, events } = run(commands.map(by));
        for (const { payload } of events) expect(payload.actor).toEqual(actor);
        for (const { changed_by } of [...configuration.channels.values(), ...configuration.triggers.values()])
          expect(changed_by).toEqual(actor);
      }),
    );
  });

  test('no trigger has a channel that does not exist, and every stored secret is sealed', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        for (const { after } of run(commands).taken) {
          for (const { channel_ids } of after.triggers.values())
            for (const id of channel_ids) expect(after.channels.has(id)).toBe(true);
          expect(JSON.stringify([...after.channels.values()])).not.toContain('"kept"');
        }
      }),
    );
  });

  test('a command twice in a row changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        for (const { command: one, after } of run(commands).taken) {
          if (one.type === 'DeleteChannel' || one.type === 'DeleteTrigger') continue;
          expect(decideConfiguration(one, after, anyDestination, scoring)).toEqual({
            outcome: 'done',
            events: [],
          });
        }
      }),
    );
  });

  test('the state before is never changed in place', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 20 }), command, (commands, last) => {
        const { configuration } = run(commands);
        const copy = structuredClone(configuration);
        const decision = decideConfiguration(last, configuration, anyDestination, scoring);
        if (decision.outcome === 'done') decision.events.reduce(evolveConfiguration, configuration);
        expect(configuration).toEqual(copy);
      }),
    );
  });
});
