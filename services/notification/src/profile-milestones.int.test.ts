// Milestones of profile and deal scores on real servers: from scoring's decisions to the receiver of a webhook, to lists and simulations.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  leadIdOf,
  nameBasedId,
  records,
  routes,
  type NotificationPayload,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { startWebhookReceiver, type WebhookReceiver } from '@lead-scoring/testing/receivers';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  anotherOu,
  channelId,
  createChannel,
  createTrigger,
  milestone,
  milestoneAt,
  ouId,
  triggerId,
  webhookTo,
} from './testing/builders.js';
import { levelsFrom } from './testing/firing-builders.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
let receiver: WebhookReceiver<NotificationPayload>;

const at = '2026-02-01T00:00:00.000Z';
const ofProfile = { score_type: 'profile' as const, channel_ids: [channelId(1)] };
const alias = 'ada@example.com';
const lead = leadIdOf(ouId, 'email', alias);
const [ruleset_id, rule_id] = [nameBasedId(ouId, 'fit'), nameBasedId(ouId, 'decision maker')];
const dealRuleId = nameBasedId(ouId, 'won deal');

const toOu = <Declaration extends Parameters<typeof outgoing>[0]>(
  declaration: Declaration,
  payload: unknown,
  ou = ouId,
) => outgoing(declaration, { key: ou, payload: payload as never });
const define = (nth: number, definition: records.TriggerDefinition, ou = ouId) =>
  toOu(records.createTrigger, { ...createTrigger(nth, definition).payload, ou_id: ou }, ou);
const firedBy = async (nth: number, ou = ouId) => {
  const { status, body } = await rig.get(`/milestone-events?trigger_id=${triggerId(nth)}`, { ou });
  expect(status).toBe(200);
  return routes.listMilestoneEvents.responses[200].schema.parse(body).data;
};

/** The decision that made the lead known: its events gave no points. */
const known = (ou = ouId): OutgoingRecord => {
  const lead_id = leadIdOf(ou, 'email', alias);
  return outgoing(records.leadScored, {
    key: lead_id,
    payload: {
      ou_id: ou,
      lead_id,
      new_lead: true,
      previous_score: 0,
      score: 0,
      configuration_version: 3,
      event_count: 1,
      fire_triggers: true,
      aliases: [{ alias_kind: 'email', alias }],
      fields: [{ field: 'name', value: 'Ada Lovelace', at }],
      first_activity_at: at,
      last_activity_at: at,
      decided_at: new Date().toISOString(),
      scored_events: [],
    },
  });
};

const profiled = (previous: number, score: number, ou = ouId): OutgoingRecord => {
  const lead_id = leadIdOf(ou, 'email', alias);
  return outgoing(records.scoreAdjusted, {
    key: lead_id,
    payload: {
      ou_id: ou,
      lead_id,
      score_type: 'profile',
      previous_score: previous,
      score,
      configuration_version: 3,
      adjustments: [
        { reason: 'profile_rule', rule_id, ruleset_id, rule_version: 1, points: score - previous },
      ],
      decided_at: new Date().toISOString(),
      fire_triggers: true,
    },
  });
};

const dealt = (previous: number, score: number): OutgoingRecord =>
  outgoing(records.scoreAdjusted, {
    key: lead,
    payload: {
      ou_id: ouId,
      lead_id: lead,
      score_type: 'deal',
      previous_score: previous,
      score,
      configuration_version: 4,
      adjustments: [
        {
          ...{ reason: 'deal_rule', deal_id: 'D-1', points: score - previous },
          ...{ rule_id: dealRuleId, ruleset_id, rule_version: 1 },
        },
      ],
      decided_at: new Date().toISOString(),
      fire_triggers: true,
    },
  });

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  rig = await startRig({ targets: [receiver.target] });
  receiver.trust(rig.sealing.signingSecret(channelId(1)));
  await rig.write([
    toOu(records.rulesetCreated, {
      ...{ ou_id: ouId, ruleset_id, name: 'Fit', score_type: 'profile', active: true },
      ...{ is_default: false, version: 1, at },
    }),
    toOu(records.profileRuleCreated, {
      ...{ ou_id: ouId, rule_id, ruleset_id, weight: 30, label: 'Decision maker', active: true },
      conditions: [{ field: 'title', operator: 'contains', value: 'vp' }],
      ...{ version: 1, at },
    }),
    toOu(records.profileLevelsSet, {
      ou_id: ouId,
      levels: levelsFrom([
        ['Poor fit', null],
        ['Good fit', 20],
      ]),
      at,
    }),
  ]);
  await rig.request(
    toOu(records.createChannel, createChannel(1, { destination: webhookTo(receiver.url) }).payload),
  );
}, 120_000);

afterAll(async () => {
  await rig.stop();
  await receiver.stop();
}, 60_000);

test('a milestone by profile level is accepted, and refused for an engagement level', async () => {
  const reply = await rig.request(define(1, milestoneAt('good fit', ofProfile)));
  expect(reply).toMatchObject({
    outcome: 'done',
    result: { score_type: 'profile', level: 'good fit', level_missing: false },
  });
  const { body } = await rig.get(`/triggers/${triggerId(1)}`);
  expect(routes.getTrigger.responses[200].schema.parse(body)).toEqual(
    reply.outcome === 'done' && reply.result,
  );
  expect(await rig.request(define(9, milestoneAt('Hot', ofProfile)))).toMatchObject({
    outcome: 'rejected',
    code: 'level_not_found',
    message: expect.stringContaining('Its profile levels are "Poor fit", "Good fit"'),
  });
  expect(
    await rig.request(define(9, milestoneAt('Good fit', { score_type: 'profile' }), anotherOu)),
  ).toMatchObject({ outcome: 'rejected', code: 'level_not_found' });
}, 60_000);

test('a profile that changes makes milestones fire up and down, and the receiver learns why', async () => {
  await rig.request(define(2, milestone({ ...ofProfile, score_threshold: 25, direction: 'down' })));
  await rig.happen(known(), profiled(0, 30), profiled(30, 10));
  await eventually('the receiver is told of both', () => receiver.accepted.size === 2);
  const told = new Map(receiver.received.map(({ payload }) => [payload.type, payload.data]));
  expect(told.get('lead.level_changed')).toMatchObject({
    trigger: { id: triggerId(1), kind: 'milestone' },
    lead: { id: lead, name: 'Ada Lovelace', aliases: [{ alias_kind: 'email', alias }] },
    score_type: 'profile',
    ...{ previous_score: 0, score: 30, previous_level: 'Poor fit', level: 'Good fit' },
    ...{ threshold: 20, threshold_level: 'Good fit', direction: 'up' },
    top_drivers: [
      { rule_id, event_type: 'Profile', label: 'Decision maker', count: 1, weight: 30, total: 30 },
    ],
    cause: { event_id: null, event_type: null, reason: 'profile', rule_ids: [rule_id] },
  });
  expect(told.get('trigger.milestone.fired')).toMatchObject({
    trigger: { id: triggerId(2) },
    score_type: 'profile',
    ...{ previous_score: 30, score: 10, level: 'Poor fit', threshold: 25, direction: 'down' },
    top_drivers: [{ rule_id, total: 10 }],
    cause: { event_id: null, reason: 'profile' },
  });
  expect(receiver.forged).toEqual([]);
}, 60_000);

test('firings are listed with their cause, in their OU only, and no engagement milestone fires', async () => {
  await rig.request(define(3, milestone({ score_threshold: 5 })));
  await rig.request(define(4, milestone({ ...ofProfile, score_threshold: 5, channel_ids: [] }), anotherOu));
  await rig.happen(profiled(10, 40), known(anotherOu), profiled(0, 30, anotherOu));
  expect(await firedBy(1)).toMatchObject([
    {
      score_type: 'profile',
      score: 40,
      cause: { event_id: null, event_type: null, reason: 'profile', rule_ids: [rule_id] },
    },
    { score: 30 },
  ]);
  expect(await firedBy(3)).toEqual([]);
  expect(await firedBy(4)).toEqual([]);
  expect(await firedBy(4, anotherOu)).toMatchObject([{ score: 30, level: null, top_drivers: [{ rule_id }] }]);
}, 60_000);

test('a deal score that crosses a milestone makes it fire once, with the deal rules as drivers', async () => {
  const ofDeal = { score_type: 'deal' as const, channel_ids: [channelId(1)], score_threshold: 60 };
  await rig.write([
    toOu(records.dealRuleCreated, {
      ...{ ou_id: ouId, rule_id: dealRuleId, ruleset_id, weight: 70, label: 'Won deal', active: true },
      conditions: [{ field: 'stage', operator: 'equals', value: 'won' }],
      ...{ version: 1, at },
    }),
  ]);
  expect(await rig.request(define(5, milestone(ofDeal)))).toMatchObject({
    outcome: 'done',
    result: { score_type: 'deal', score_threshold: 60 },
  });
  await rig.request(define(6, milestone({ ...ofDeal, channel_ids: [] }), anotherOu));
  const before = receiver.accepted.size;
  await rig.happen(dealt(0, 50), dealt(50, 70), dealt(70, 80));
  await eventually('the receiver is told', () => receiver.accepted.size === before + 1);
  expect(await firedBy(5)).toMatchObject([
    {
      ...{ score_type: 'deal', previous_score: 50, score: 70, level: null },
      top_drivers: [{ rule_id: dealRuleId, event_type: 'Deal', label: 'Won deal', total: 70 }],
      cause: { event_id: null, event_type: null, reason: 'deal', rule_ids: [dealRuleId] },
    },
  ]);
  expect(await firedBy(6, anotherOu)).toEqual([]);
  const { body } = await rig.post(`/triggers/${triggerId(5)}/simulate`, {});
  expect(routes.simulateTrigger.responses[200].schema.parse(body)).toMatchObject({
    data: [{ previous_score: 50, score: 70, cause: { reason: 'deal' } }],
  });
}, 60_000);

test('a simulation over the history has the crossings of the profile, and none of another OU', async () => {
  const { status, body } = await rig.post(`/triggers/${triggerId(1)}/simulate`, {});
  expect(status).toBe(200);
  const simulated: routeDeclarations.SimulatedMilestones =
    routes.simulateTrigger.responses[200].schema.parse(body);
  expect(simulated).toMatchObject({ total: 2, leads: 1, truncated: false });
  expect(simulated.data).toMatchObject([
    { lead: { id: lead, name: 'Ada Lovelace' }, previous_score: 10, score: 40 },
    { previous_score: 0, score: 30, cause: { event_id: null, event_type: null, reason: 'profile' } },
  ]);
  expect(await rig.post(`/triggers/${triggerId(1)}/simulate`, {}, { ou: anotherOu })).toMatchObject({
    status: 404,
    body: { code: 'trigger_not_found' },
  });
}, 60_000);

test('a rebuild gives the same documents and sends nothing', async () => {
  const before = await rig.documents();
  const told = receiver.received.length;
  await rig.rebuild();
  expect(await rig.documents()).toEqual(before);
  expect(receiver.received).toHaveLength(told);
}, 120_000);
