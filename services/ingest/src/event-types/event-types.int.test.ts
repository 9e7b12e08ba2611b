// Event types on real servers: their settings, what protects them, their properties, and a flood of types.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import type { AskedService } from '@lead-scoring/service';
import type { Answer } from '@lead-scoring/testing/service-rig';
import { eventTypeUsesName } from '../event-type-uses/capability.js';
import {
  deleteLead,
  ingest,
  leadOf,
  otherOuId,
  ouId,
  receivedAt,
  type SentEvent,
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

const listedTypes = 4;
const partitions = 2;
/** Scoring's answers, by the name that is asked for. */
const scored = new Map<string, number | 'away'>();
const scoring = {
  ask: (claims: { ou_id?: string | undefined }, path: string) => {
    const name = new URL(path, 'http://scoring').searchParams.get('event_type') ?? '';
    const events = scored.get(`${claims.ou_id ?? ''} ${name}`) ?? 0;
    return Promise.resolve({
      statusCode: events === 'away' ? 500 : 200,
      body: { json: () => Promise.resolve({ events }), dump: () => Promise.resolve() },
    });
  },
} as unknown as AskedService;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ partitions, listedTypes, scoring });
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const types = async (ou = ouId) => (await rig.get('/event-types', { ou })).body;
const settings = async (ou = ouId) =>
  (await rig.get('/settings/ou/event-types', { ou })).body as unknown as { name: string }[];
const settingOf = async (name: string, ou = ouId) => (await settings(ou)).find((one) => one.name === name);
const put = (event_type: string, hidden: boolean, ou = ouId) =>
  rig.request({
    type: 'SetEventTypeHidden',
    payload: { ou_id: ou, event_type, hidden, requested_at: receivedAt },
  });
const properties = (name: string, ou = ouId): Promise<Answer> =>
  rig.get(`/event-types/${encodeURIComponent(name)}/properties`, { ou });
const dryRun = (name: string, ou = ouId) =>
  rig.get(`/settings/ou/event-types/${encodeURIComponent(name)}/dry-run-delete`, { ou });
const event = (alias: string, event_type: string, more: Partial<SentEvent> = {}): SentEvent => ({
  aliases: [alias],
  event_type,
  ...more,
});

const free = { protected: false, deletable: true, protected_by: { rules: [], triggers: [], further: 0 } };

test('a hidden type is left out of the list of types, keeps its events and properties, and is shown again; another unit keeps its own', async () => {
  await rig.take([
    ingest([
      event('ada', 'Page View', { metadata: { path: '/' } }),
      event('ada', 'page_view', { metadata: { path: '/pricing' } }),
      event('bob', 'Email Open'),
    ]),
    ingest([{ ...event('eve', 'Page View'), lead_id: leadOf('eve', otherOuId) }], { ou_id: otherOuId }),
  ]);
  expect(await types()).toEqual(['Email Open', 'Page View']);
  expect(await put('page_view', true)).toEqual(expect.objectContaining({ outcome: 'done' }));
  expect(await types()).toEqual(['Email Open']);
  expect(await settings()).toEqual([
    { name: 'Email Open', hidden: false, ou_event_count: 1, ...free },
    { name: 'Page View', hidden: true, ou_event_count: 2, ...free },
  ]);
  expect((await rig.get('/internal/event-types')).body).toEqual(
    expect.arrayContaining([
      { name: 'Page View', hidden: true },
      { name: 'Email Open', hidden: false },
    ]),
  );
  expect((await properties('Page View')).body).toMatchObject({ properties: ['path'] });
  expect((await rig.get('/events?event_type=Page%20View')).body).toMatchObject({ total: 2 });
  expect(await types(otherOuId)).toEqual(['Page View']);
  expect(await settings(otherOuId)).toMatchObject([{ name: 'Page View', hidden: false, ou_event_count: 1 }]);
  await put('Page View', false);
  expect(await types()).toEqual(['Email Open', 'Page View']);
  await put('Never Seen', true);
  expect(await settingOf('Never Seen')).toEqual({
    name: 'Never Seen',
    hidden: true,
    ou_event_count: 0,
    ...free,
  });
  await put('never_seen', false);
  expect(await settingOf('Never Seen')).toBeUndefined();
}, 60_000);

test('the properties of a type have exact counts, the types of their values, and examples that end with their events', async () => {
  await rig.take([
    ingest([
      event('carl', 'Trial Started', { metadata: { plan: 'pro', seats: 5 } }),
      event('dora', 'trial_started', { metadata: { plan: 'secret of dora' } }),
      event('dora', 'Trial Started', { metadata: { plan: null } }),
    ]),
  ]);
  const { body } = await properties('trial_started');
  expect(body).toEqual({
    event_type: 'Trial Started',
    properties: ['plan', 'seats'],
    details: [
      { name: 'plan', events: 3, types: ['string', 'null'], examples: expect.any(Array) },
      { name: 'seats', events: 1, types: ['number'], examples: ['5'] },
    ],
  });
  const examples = (answer: Answer) => (answer.body.details as { examples: string[] }[])[0]?.examples.sort();
  expect(examples(await properties('trial_started'))).toEqual(['null', 'pro', 'secret of dora']);
  await rig.request(deleteLead('dora'));
  const after = await properties('Trial Started');
  expect(after.body.details).toMatchObject([{ name: 'plan', events: 1, types: ['string'] }, { events: 1 }]);
  expect(examples(after)).toEqual(['pro']);
  expect(await properties('Never Seen')).toMatchObject({
    status: 404,
    body: { code: 'event_type_not_found' },
  });
  expect((await properties('Trial Started', otherOuId)).status).toBe(404);
}, 60_000);

const rule = (rule_id: string, event_type: string, active: boolean): records.RuleCreated => ({
  ou_id: ouId,
  rule_id,
  ruleset_id: idOf(9),
  event_type,
  weight: 5,
  label: `Label ${event_type}`,
  attribute_filters: [],
  active,
  version: 1,
  at: receivedAt,
});
function idOf(number: number): string {
  return `00000000-0000-4000-8000-00000000000${String(number)}`;
}
const surge = (event_type: string | null): records.TriggerDefinition => ({
  kind: 'surge',
  name: 'Rush',
  channel_ids: [],
  active: false,
  event_type,
  score_type: 'engagement',
  threshold: 5,
  window_seconds: 60,
  cooldown_seconds: 60,
});
const trigger = (trigger_id: string, definition: records.TriggerDefinition) => ({
  ou_id: ouId,
  trigger_id,
  definition,
  version: 1,
  at: receivedAt,
});
const follow = (sent: OutgoingRecord[]) => rig.deliver(eventTypeUsesName, sent);
const ofOu = { key: ouId };

test('rules and triggers that name a type protect it in either spelling, inactive ones too, until they are changed or deleted', async () => {
  const created = rule(idOf(1), 'page_view', false);
  await follow([outgoing(records.ruleCreated, { ...ofOu, payload: created })]);
  await follow([
    outgoing(records.triggerCreated, { ...ofOu, payload: trigger(idOf(2), surge('Page View')) }),
    outgoing(records.triggerCreated, { ...ofOu, payload: trigger(idOf(3), surge(null)) }),
  ]);
  expect(await settingOf('Page View')).toMatchObject({
    protected: true,
    deletable: false,
    protected_by: {
      rules: [{ id: idOf(1), ruleset_id: idOf(9), label: 'Label page_view' }],
      triggers: [{ id: idOf(2), kind: 'surge', name: 'Rush' }],
      further: 0,
    },
  });
  expect(await settingOf('Email Open')).toMatchObject(free);
  expect(await settingOf('Page View', otherOuId)).toMatchObject(free);
  await follow([
    outgoing(records.ruleUpdated, { ...ofOu, payload: { ...created, event_type: 'Email Open', version: 2 } }),
  ]);
  await follow([
    outgoing(records.triggerDeleted, {
      ...ofOu,
      payload: { ou_id: ouId, trigger_id: idOf(2), kind: 'surge', at: receivedAt },
    }),
  ]);
  expect(await settingOf('Page View')).toMatchObject(free);
  expect(await settingOf('Email Open')).toMatchObject({ protected: true });
  const before = await rig.documents();
  await rig.rebuild();
  expect(await rig.documents()).toEqual(before);
  await follow([
    outgoing(records.ruleDeleted, {
      ...ofOu,
      payload: { ou_id: ouId, rule_id: idOf(1), version: 3, at: receivedAt },
    }),
  ]);
  expect(await settingOf('Email Open')).toMatchObject(free);
}, 60_000);

test('a dry run counts events and scored events of both spellings, of its own unit only, and says when scoring does not answer', async () => {
  scored.set(`${ouId} page_view`, 1);
  expect((await dryRun('page_view')).body).toEqual({ events_count: 2, event_scores_count: 1 });
  expect((await dryRun('page_view', otherOuId)).body).toEqual({ events_count: 1, event_scores_count: 0 });
  expect((await dryRun('Never Seen')).body).toEqual({ events_count: 0, event_scores_count: 0 });
  scored.set(`${ouId} Email Open`, 'away');
  expect(await dryRun('Email Open')).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
}, 60_000);

test('of a flood of garbage types, lists show so many from each partition; all events are counted, and found by their type', async () => {
  const ou = '33333333-3333-4333-8333-333333333333';
  const flood = 200;
  const named = (index: number) => `Garbage ${String(index)}`;
  const of = (name: string, type: string) => ({ ...event(name, type), lead_id: leadOf(name, ou) });
  await rig.take([ingest([of('gina', 'Page View'), of('hugo', 'page_view')], { ou_id: ou })]);
  await rig.take([
    ingest(
      Array.from({ length: flood }, (_, index) => of(index % 2 === 0 ? 'gina' : 'hugo', named(index))),
      { ou_id: ou },
    ),
  ]);
  const listed = (await types(ou)) as unknown as string[];
  expect(listed).toContain('Page View');
  expect(listed.length).toBeGreaterThanOrEqual(listedTypes);
  expect(listed.length).toBeLessThanOrEqual(partitions * listedTypes);
  expect(await settings(ou)).toHaveLength(listed.length);
  const stats = (await rig.get('/event-stats', { ou })).body;
  expect(stats).toMatchObject({
    events: flood + 2,
    other: { event_types: null, count: flood + 2 - (listed.length - 1) - 2 },
  });
  const last = encodeURIComponent(named(flood - 1));
  expect(listed).not.toContain(named(flood - 1));
  expect((await rig.get(`/events?event_type=${last}`, { ou })).body).toMatchObject({ total: 1 });
  expect((await rig.get('/events', { ou })).body).toMatchObject({ total: flood + 2 });
  expect((await properties(named(flood - 1), ou)).body).toMatchObject({ event_type: named(flood - 1) });
  expect((await dryRun(named(flood - 1), ou)).body).toMatchObject({ events_count: 1 });
}, 120_000);
