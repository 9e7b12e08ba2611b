// The entries of the audit trail, from random histories of things: what an entry says was before is what the one before says came of it.
import { describe, expect, test } from '@jest/globals';
import { nameBasedId, type AuditedService, type JsonObject } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { auditedChange } from './audited-change.js';
import { entryIdOf, foldSubject, unitsOf, type KnownSubject } from './entry-model.js';

const unit = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
const idOf = (name: string) => nameBasedId(unit, name);
const at = '2026-01-31T09:30:00.000Z';
const actor = { kind: 'token', id: idOf('token'), name: 'Ada', address: '203.0.113.7' };

interface Event {
  type: string;
  payload: object;
}

/** All entries of a history, oldest first. */
function entriesOf(service: AuditedService, events: readonly Event[], common: object = { ou_id: unit }) {
  const things = new Map<string, KnownSubject>();
  return events.flatMap(({ type, payload }, offset) => {
    const change = auditedChange(service, { type, payload: { at, actor, ...common, ...payload } });
    return (change?.subjects ?? []).flatMap((subject, index) => {
      if (!change) return [];
      const place = { service, partition: 0, offset, index };
      const { entry, known } = foldSubject(change, subject, things.get(subject.id) ?? null, place);
      if (known) things.set(subject.id, known);
      return entry ? [entry] : [];
    });
  });
}

const rule = (name: string, weight: number, more: object = {}) => ({
  rule_id: idOf(name),
  ruleset_id: idOf('ruleset'),
  event_type: 'Page View',
  weight,
  attribute_filters: [],
  active: true,
  version: 1,
  ...more,
});

describe('the entries of a rule', () => {
  const entries = entriesOf('scoring', [
    { type: 'RuleCreated', payload: rule('a', 10, { label: 'Pricing' }) },
    { type: 'RuleCreated', payload: rule('b', 1) },
    { type: 'RuleUpdated', payload: rule('a', 12, { version: 2 }) },
    {
      type: 'RulesActivationChanged',
      payload: { active: false, rules: [{ rule_id: idOf('a') }, { rule_id: idOf('b') }] },
    },
    { type: 'RuleDeleted', payload: { rule_id: idOf('a'), version: 4 } },
  ]);

  test('say who, from where, what, before and after', () => {
    expect(entries[0]).toMatchObject({
      at,
      service: 'scoring',
      ou_id: unit,
      kind: 'rule',
      action: 'created',
      subject: { id: idOf('a'), name: 'Pricing' },
      actor: { kind: 'token', id: idOf('token'), name: 'Ada' },
      address: '203.0.113.7',
      before: null,
      after: { weight: 10, label: 'Pricing', active: true, score_type: 'engagement' },
    });
    expect(entries[0]?.actor).not.toHaveProperty('address');
    expect(
      entries.slice(2).map(({ action, subject, before, after }) => [action, subject.id, before, after]),
    ).toEqual([
      ['changed', idOf('a'), { weight: 10, label: 'Pricing' }, { weight: 12 }],
      ['changed', idOf('a'), { active: true }, { active: false }],
      ['changed', idOf('b'), { active: true }, { active: false }],
      ['deleted', idOf('a'), expect.objectContaining({ weight: 12, active: false }), null],
    ]);
  });

  test('are named by the event type where the rule has no label', () => {
    expect(entries.at(-1)?.subject.name).toBe('Page View');
  });
});

test('a setting that was never set was what every unit begins with', () => {
  const levels = [{ id: idOf('hot'), name: 'Hot' }];
  expect(
    entriesOf('scoring', [
      { type: 'EngagementLevelsSet', payload: { levels } },
      { type: 'ProfileLevelsSet', payload: { levels } },
      { type: 'EngagementLevelsSet', payload: { levels: [] } },
    ]).map(({ before, after }) => [before, after]),
  ).toEqual([
    [{ levels: [] }, { levels }],
    [{ levels: [] }, { levels }],
    [{ levels }, { levels: [] }],
  ]);
});

test('a deleted channel has an entry, and so has each trigger that lost it', () => {
  const channel_ids = [idOf('channel'), idOf('other')];
  const definition = { kind: 'milestone', name: 'Hot', channel_ids };
  const entries = entriesOf('notification', [
    { type: 'TriggerCreated', payload: { trigger_id: idOf('trigger'), definition } },
    {
      type: 'ChannelDeleted',
      payload: { channel_id: idOf('channel'), detached_triggers: [{ trigger_id: idOf('trigger') }] },
    },
  ]);
  expect(entries.slice(1)).toMatchObject([
    { kind: 'channel', action: 'deleted' },
    {
      kind: 'trigger',
      action: 'changed',
      before: { channel_ids },
      after: { channel_ids: [idOf('other')] },
    },
  ]);
});

test('secrets that are sealed anew make no entry, and the next change shows none of it', () => {
  const destination = (sealed: string) => ({
    type: 'teams',
    config: { webhook_url: { sealed, last_four: 'abcd' }, channel_name: 'Sales' },
  });
  const channel = { channel_id: idOf('c'), signing_key_id: idOf('key') };
  const entries = entriesOf('notification', [
    {
      type: 'ChannelCreated',
      payload: { ...channel, name: 'One', destination: destination('x') },
    },
    { type: 'ChannelResealed', payload: { channel_id: idOf('c'), destination: destination('y') } },
    {
      type: 'ChannelReplaced',
      payload: { ...channel, name: 'Two', destination: destination('y') },
    },
  ]);
  expect(entries.slice(1)).toMatchObject([{ before: { name: 'One' }, after: { name: 'Two' } }]);
  expect(Object.keys(entries[1]?.after ?? {})).toEqual(['name']);
});

test('a cancelled job has an entry only where its start has one', () => {
  const start = (kind: string) => ({ type: 'JobStarted', payload: { job_id: idOf(kind), work: { kind } } });
  const cancel = (kind: string) => ({ type: 'JobCancelled', payload: { job_id: idOf(kind) } });
  expect(
    entriesOf('scoring', [start('rescoring'), start('what-if'), cancel('rescoring'), cancel('what-if')]).map(
      ({ action }) => action,
    ),
  ).toEqual(['started', 'cancelled']);
});

test('an entry of the organisation concerns the units of the credential or member, before or after', () => {
  const [one, two] = [idOf('one'), idOf('two')];
  const [created] = entriesOf(
    'gateway',
    [{ type: 'OrgUnitCreated', payload: { ou_id: one, name: 'North' } }],
    { organisation_id: unit },
  );
  expect(created).toMatchObject({ ou_id: null, kind: 'org_unit', subject: { id: one, name: 'North' } });
  if (!created) throw new Error('no entry');
  expect(unitsOf(created, [])).toEqual([one]);
  const member = { ...created, kind: 'member' as const };
  expect(unitsOf(member, [{ ou_ids: [one] }, { ou_ids: [two] }])).toEqual([one, two]);
  expect(unitsOf(member, [{ ou_ids: [one] }, { ou_ids: null }])).toBeNull();
  expect(unitsOf(member, [null, null])).toBeNull();
});

test('a member who joins is shown with address, role and units, also where the sign-in has made the member', () => {
  const member = {
    member_id: idOf('ada'),
    email: 'ada@example.com',
    name: 'Ada',
    role: 'viewer',
    ou_ids: null,
  };
  const shown = { email: 'ada@example.com', name: 'Ada', role: 'viewer', ou_ids: null, joined: true };
  const joinedAfter = (invitation_hash: string | null, invitation_expires_at: string | null) =>
    entriesOf(
      'gateway',
      [
        { type: 'MemberAdded', payload: { ...member, invitation_hash, invitation_expires_at } },
        { type: 'MemberJoined', payload: { member_id: idOf('ada') } },
      ],
      { organisation_id: unit },
    )[1];
  expect(joinedAfter(null, null)).toMatchObject({ action: 'joined', before: {}, after: shown });
  expect(joinedAfter('ab'.repeat(32), at)).toMatchObject({
    action: 'joined',
    subject: { id: idOf('ada'), name: 'Ada' },
    before: { joined: false, invitation_expires_at: at },
    after: { ...shown, invitation_expires_at: null },
  });
});

const event = fc.oneof(
  fc
    .record({
      name: fc.constantFrom('a', 'b'),
      weight: fc.integer({ min: 1, max: 3 }),
      type: fc.constantFrom('RuleCreated', 'RuleUpdated'),
    })
    .map(({ name, weight, type }) => ({ type, payload: rule(name, weight) })),
  fc.record({ active: fc.boolean(), names: fc.subarray(['a', 'b']) }).map(({ active, names }) => ({
    type: 'RulesActivationChanged',
    payload: { active, rules: names.map((name) => ({ rule_id: idOf(name) })) },
  })),
  fc.constantFrom('a', 'b').map((name) => ({ type: 'RuleDeleted', payload: { rule_id: idOf(name) } })),
);

test('the changes of a thing add up: each begins where the one before has ended', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const states = new Map<string, JsonObject | null>();
      for (const { subject, before, after } of entriesOf('scoring', events)) {
        const state = states.get(subject.id) ?? null;
        if (before === null) expect(state).toBeNull();
        else expect(state).toMatchObject(before);
        const kept = Object.entries(state ?? {}).filter(([field]) => !(field in (before ?? {})));
        states.set(subject.id, after && { ...Object.fromEntries(kept), ...after });
      }
    }),
    { numRuns: 300 },
  );
});

test('ids of entries sort as the log of a partition does', () => {
  const place = fc.record({
    service: fc.constant('scoring' as const),
    partition: fc.constant(3),
    offset: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    index: fc.integer({ min: 0, max: 65_535 }),
  });
  fc.assert(
    fc.property(place, place, (one, other) => {
      const inLog = one.offset - other.offset || one.index - other.index;
      const [first, second] = [entryIdOf(one), entryIdOf(other)];
      expect(Math.sign(inLog)).toBe(first < second ? -1 : first > second ? 1 : 0);
    }),
  );
});
