// Milestones of account scores on real servers: from scoring's decisions on accounts to the receiver of a webhook, to lists and
// simulations, and to the account that is gone.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  accountIdOf,
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
  ouId,
  triggerId,
  webhookTo,
} from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
let receiver: WebhookReceiver<NotificationPayload>;

const ofAccount = { score_type: 'account' as const, channel_ids: [channelId(1)] };
const acme = { account_kind: 'domain', account_key: 'acme.com' } as const;
const globex = { account_kind: 'named', account_key: 'Crm-17' } as const;
const idOf = (account: typeof acme | typeof globex, ou = ouId) => accountIdOf(ou, account);
const lead_id = nameBasedId(ouId, 'ada');

const define = (nth: number, definition: records.TriggerDefinition, ou = ouId) =>
  outgoing(records.createTrigger, {
    key: ou,
    payload: { ...createTrigger(nth, definition).payload, ou_id: ou },
  });

/** Grows by a millisecond with each decision. */
let decidedAt = Date.now();

/** Scoring's decision on an account; `leads: 0` empties it. */
function scored(
  account: typeof acme | typeof globex,
  [previous_score, score]: readonly [number, number],
  { ou = ouId, ...more }: { ou?: string } & Partial<records.AccountScored> = {},
): OutgoingRecord {
  const account_id = idOf(account, ou);
  const { leads = 2 } = more;
  return outgoing(records.accountScored, {
    key: account_id,
    payload: {
      ou_id: ou,
      account_id,
      ...account,
      previous_score,
      score,
      leads,
      configuration_version: 1,
      contributions: [{ lead_id, previous_score, score: leads === 0 ? null : score }],
      roll_up: { method: 'sum' },
      adjustments: [{ reason: 'leads', points: score - previous_score }],
      decided_at: new Date((decidedAt += 1)).toISOString(),
      fire_triggers: true,
      ...more,
    },
  });
}

const listed = async (query: string, ou = ouId) => {
  const { status, body } = await rig.get(`/milestone-events?${query}`, { ou });
  expect(status).toBe(200);
  return routes.listMilestoneEvents.responses[200].schema.parse(body).data;
};
const deliveriesOf = async (query: string, ou = ouId) => {
  const { status, body } = await rig.get(`/deliveries?${query}`, { ou });
  expect(status).toBe(200);
  return routes.listDeliveries.responses[200].schema.parse(body).data;
};

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  rig = await startRig({ targets: [receiver.target], appUrl: 'https://app.example.com' });
  receiver.trust(rig.sealing.signingSecret(channelId(1)));
  await rig.request(
    outgoing(records.createChannel, {
      key: ouId,
      payload: createChannel(1, { destination: webhookTo(receiver.url) }).payload,
    }),
  );
}, 120_000);

afterAll(async () => {
  await rig.stop();
  await receiver.stop();
}, 60_000);

test('a trigger by account score is created and shown', async () => {
  const reply = await rig.request(define(1, milestone(ofAccount)));
  expect(reply).toMatchObject({
    outcome: 'done',
    result: { score_type: 'account', score_threshold: 50, direction: 'up' },
  });
  const { body } = await rig.get(`/triggers/${triggerId(1)}`);
  expect(routes.getTrigger.responses[200].schema.parse(body)).toEqual(
    reply.outcome === 'done' && reply.result,
  );
}, 60_000);

test('it fires once for an account, and the receiver gets the account and no lead', async () => {
  await rig.happen(
    scored(acme, [0, 40], { new_account: true, account_name: 'Acme Corporation' }),
    scored(acme, [40, 70], { account_name: 'Acme Corporation', leads: 3 }),
    scored(acme, [70, 90], { account_name: 'Acme Corporation' }),
    scored(globex, [0, 55]),
    scored(globex, [0, 55], { ou: anotherOu }),
  );
  await eventually('the receiver is told of both', () => receiver.accepted.size === 2);
  const told = new Map(
    receiver.received.map(({ payload }) => [
      payload.type === 'account.milestone.fired' ? payload.data.account.id : payload.type,
      payload.data,
    ]),
  );
  const data = told.get(idOf(acme));
  expect(data).toMatchObject({
    trigger: { id: triggerId(1), kind: 'milestone' },
    account: { id: idOf(acme), name: 'Acme Corporation', ...acme, leads: 3 },
    ...{ score_type: 'account', previous_score: 40, score: 70, threshold: 50, direction: 'up' },
    cause: { event_id: null, event_type: null, reason: 'leads', rule_ids: [] },
    unit_id: ouId,
    position: expect.stringMatching(/^scoring\.events:\d+:\d+$/),
  });
  for (const field of ['lead', 'share_url', 'top_drivers']) expect(data).not.toHaveProperty(field);
  expect(told.get(idOf(globex))).toMatchObject({ account: { name: 'Crm-17' }, score: 55 });
  expect(receiver.forged).toEqual([]);
}, 60_000);

test('firings and deliveries are listed by account, in their OU only, and triggers of leads do not fire', async () => {
  await rig.request(define(2, milestone({ ...ofAccount, channel_ids: [] }), anotherOu));
  await rig.request(define(3, milestone({ score_threshold: 5 })));
  await rig.happen(scored(acme, [90, 30]), scored(acme, [30, 80]), scored(acme, [0, 60], { ou: anotherOu }));
  expect(await listed(`account_id=${idOf(acme)}`)).toMatchObject([
    { account: { id: idOf(acme), name: 'acme.com' }, score: 80, previous_score: 30, deliveries: [{}] },
    { account: { name: 'Acme Corporation', leads: 3 }, score: 70, score_type: 'account', threshold: 50 },
  ]);
  expect(await listed(`trigger_id=${triggerId(1)}`)).toHaveLength(3);
  expect(await listed(`trigger_id=${triggerId(3)}`)).toEqual([]);
  expect(await listed(`account_id=${idOf(acme)}`, anotherOu)).toEqual([]);
  expect(await listed('limit=100', anotherOu)).toMatchObject([
    { account: { id: idOf(acme, anotherOu) }, score: 60, deliveries: [] },
  ]);
  const delivered = await eventually('both are delivered', async () => {
    const found = await deliveriesOf(`account_id=${idOf(acme)}`);
    return found.length === 2 && found.every(({ status }) => status === 'delivered') && found;
  });
  expect(delivered).toMatchObject([
    { type: 'account.milestone.fired', account: { id: idOf(acme), name: 'acme.com' } },
    { account: { id: idOf(acme), name: 'Acme Corporation' } },
  ]);
  expect(delivered.every((one) => !('lead' in one))).toBe(true);
  expect(await deliveriesOf(`account_id=${idOf(acme)}`, anotherOu)).toEqual([]);
}, 60_000);

test('a simulation over the history has the crossings of the OU’s accounts', async () => {
  const { status, body } = await rig.post(`/triggers/${triggerId(1)}/simulate`, {});
  expect(status).toBe(200);
  const simulated: routeDeclarations.SimulatedMilestones =
    routes.simulateTrigger.responses[200].schema.parse(body);
  expect(simulated).toMatchObject({
    ...{ total: 3, leads: 0, leads_examined: 0, accounts: 2, accounts_examined: 2 },
    ...{ events_examined: 6, truncated: false },
  });
  expect(simulated.data).toMatchObject([
    { account: { id: idOf(acme), name: 'acme.com' }, previous_score: 30, score: 80 },
    { account: { name: 'Crm-17' }, previous_score: 0, score: 55 },
    { account: { name: 'Acme Corporation' }, score: 70, cause: { reason: 'leads' } },
  ]);
  expect(await rig.post(`/triggers/${triggerId(1)}/simulate`, {}, { ou: anotherOu })).toMatchObject({
    status: 404,
    body: { code: 'trigger_not_found' },
  });
}, 60_000);

test('an account without leads is erased, with its firings and notifications, and a new one fires again', async () => {
  await rig.happen(scored(acme, [80, 0], { leads: 0 }));
  await eventually('its deliveries are gone', async () => {
    return (await deliveriesOf(`account_id=${idOf(acme)}`)).length === 0;
  });
  expect(await listed(`account_id=${idOf(acme)}`)).toEqual([]);
  expect(await listed(`account_id=${idOf(globex)}`)).toHaveLength(1);
  expect(await listed(`account_id=${idOf(acme, anotherOu)}`, anotherOu)).toHaveLength(1);
  // What is left is the firing for the other account, with its notification, and the one of the other OU.
  const { fired_events, deliveries, delivery_attempts, pending_deliveries } = await rig.documents();
  expect([fired_events, deliveries, delivery_attempts, pending_deliveries].map((all) => all?.length)).toEqual(
    [2, 1, 1, 0],
  );
  const simulated = await rig.post(`/triggers/${triggerId(1)}/simulate`, {});
  expect(simulated.body).toMatchObject({ total: 1, accounts: 1 });
  await rig.happen(scored(acme, [0, 65], { new_account: true }));
  expect(await listed(`account_id=${idOf(acme)}`)).toMatchObject([{ score: 65, previous_score: 0 }]);
}, 60_000);

test('a rebuild gives the same documents and sends nothing', async () => {
  await eventually('all are delivered', async () =>
    (await deliveriesOf('limit=100')).every(({ status }) => status === 'delivered'),
  );
  const before = await rig.documents();
  const told = receiver.received.length;
  await rig.rebuild();
  expect(await rig.documents()).toEqual(before);
  expect(receiver.received).toHaveLength(told);
}, 120_000);
