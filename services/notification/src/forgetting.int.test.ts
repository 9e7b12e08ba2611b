// A deleted lead on real servers: its firings and notifications are deleted, a new lead with its id starts anew, and a rebuild gives
// the same.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { leadIdOf, nameBasedId, records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { startWebhookReceiver, type WebhookReceiver } from '@lead-scoring/testing/receivers';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  channelId,
  createChannel,
  createTrigger,
  milestone,
  ouId,
  sequence,
  webhookTo,
} from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

const at = '2026-02-01T00:00:00.000Z';
const lead = leadIdOf(ouId, 'email', 'grace@example.com');
const deletion_id = nameBasedId(lead, 'deletion');

let rig: Rig;
let receiver: WebhookReceiver;
/** A receiver that refuses every request. */
let distrustful: WebhookReceiver;

const told = {
  ou_id: ouId,
  lead_id: lead,
  fire_triggers: true,
  aliases: [{ alias_kind: 'email', alias: 'grace@example.com' }],
  fields: [{ field: 'name' as const, value: 'Grace Hopper', at }],
};

/** Scoring's decision on the first event of a lead. */
function scored(life: number): OutgoingRecord {
  return outgoing(records.leadScored, {
    key: lead,
    payload: {
      ...told,
      previous_score: 0,
      score: 20,
      configuration_version: 1,
      event_count: 1,
      first_activity_at: at,
      last_activity_at: at,
      decided_at: new Date(Date.now() + life).toISOString(),
      scored_events: [
        {
          event_id: nameBasedId(lead, `event ${String(life)}`),
          event_type: 'Demo Requested',
          timestamp: at,
          matches: [
            {
              rule_id: nameBasedId(ouId, 'rule'),
              rule_version: 1,
              ruleset_id: nameBasedId(ouId, 'ruleset'),
              points: 20,
            },
          ],
        },
      ],
    },
  });
}

function ingested(life: number): OutgoingRecord {
  return outgoing(records.eventsIngested, {
    key: lead,
    payload: {
      ...told,
      batch_id: nameBasedId(lead, `batch ${String(life)}`),
      source: 'ingest',
      received_at: new Date(Date.now() + life).toISOString(),
      events: ['Page View', 'Form Submit'].map((event_type) => ({
        id: nameBasedId(lead, `${event_type} ${String(life)}`),
        event_type,
        timestamp: at,
      })),
    },
  });
}

const removed = outgoing(records.leadRemoved, {
  key: lead,
  payload: { ou_id: ouId, lead_id: lead, previous_score: 20, deletion_id, removed_at: at },
});
const deleted = outgoing(records.leadDeleted, {
  key: lead,
  payload: { ou_id: ouId, lead_id: lead, deletion_id, deleted_by: ouId, deleted_at: at },
});

/** What is listed of the lead: milestones, sequences, surges, deliveries. */
async function listed(): Promise<string> {
  const lists = ['/milestone-events', '/sequence-events', '/surge-events', '/deliveries'];
  const totals = lists.map(async (list) => (await rig.get(`${list}?lead_id=${lead}`)).body['total']);
  return (await Promise.all(totals)).join(' ');
}

async function deliveriesOf(query: string): Promise<{ id: string; status: string; attempts: number }[]> {
  const { body } = await rig.get(`/deliveries?lead_id=${lead}&${query}`);
  return body['data'] as { id: string; status: string; attempts: number }[];
}

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  distrustful = await startWebhookReceiver();
  rig = await startRig({ targets: [receiver.target, distrustful.target] });
  receiver.trust(rig.sealing.signingSecret(channelId(1)));
  for (const [nth, { url }] of [receiver, distrustful].entries()) {
    const { payload } = createChannel(nth + 1, { destination: webhookTo(url) });
    await rig.request(outgoing(records.createChannel, { key: ouId, payload }));
  }
  const channel_ids = [channelId(1), channelId(2)];
  for (const [nth, definition] of [
    milestone({ score_threshold: 10, channel_ids }),
    sequence({ channel_ids }),
  ].entries()) {
    const { payload } = createTrigger(nth + 1, definition);
    await rig.request(outgoing(records.createTrigger, { key: ouId, payload }));
  }
  await rig.happen(scored(1));
  await rig.happen(ingested(1));
  await eventually('it is told of where it is taken', async () => {
    const taken = await deliveriesOf(`channel_id=${channelId(1)}`);
    return taken.length === 2 && taken.every(({ status }) => status === 'delivered');
  });
  await eventually('the rest waits for another attempt', async () => {
    const waiting = await deliveriesOf(`channel_id=${channelId(2)}&status=pending`);
    return waiting.length === 2 && waiting.every(({ attempts }) => attempts > 0);
  });
}, 120_000);

afterAll(async () => {
  await rig.stop();
  await receiver.stop();
  await distrustful.stop();
}, 60_000);

test('its firings, deliveries and pending notifications are deleted as scoring and ingest report its deletion', async () => {
  expect(await listed()).toBe('1 1 0 4');
  const known = await deliveriesOf('limit=100');
  await rig.happen(removed);
  // Ingest reports the deletion separately: firings on its earlier records stay until then.
  await eventually('what scoring caused is forgotten', async () => (await listed()) === '0 1 0 2');
  await rig.happen(deleted);
  await eventually('all is forgotten', async () => (await listed()) === '0 0 0 0');
  for (const { id } of known) {
    expect((await rig.get(`/deliveries/${id}`)).status).toBe(404);
    const payload = { ou_id: ouId, notification_id: id, redelivery_id: id, requested_at: at };
    expect(await rig.request(outgoing(records.redeliverNotification, { key: ouId, payload }))).toMatchObject({
      outcome: 'rejected',
      code: 'delivery_not_found',
    });
  }
  const documents = await rig.documents();
  for (const name of ['fired_events', 'deliveries', 'delivery_attempts', 'pending_deliveries'])
    expect(documents[name]).toEqual([]);
  expect(JSON.stringify(documents).toLowerCase()).not.toContain('grace');
}, 60_000);

test('a new lead with its id fires and is notified like a first lead', async () => {
  await rig.happen(scored(2));
  await rig.happen(ingested(2));
  await eventually('it is told of', () => receiver.accepted.size === 4);
  await eventually('all of it is listed', async () => (await listed()) === '1 1 0 4');
}, 60_000);

test('a rebuild gives the same documents and sends nothing', async () => {
  // Refused notifications wait for hours; deleting their channel ends them.
  const payload = { ou_id: ouId, channel_id: channelId(2), requested_at: at };
  await rig.request(outgoing(records.deleteChannel, { key: ouId, payload }));
  await eventually('nothing waits', async () => (await deliveriesOf('status=pending')).length === 0);
  const before = await rig.documents();
  await rig.rebuild();
  expect(await rig.documents()).toEqual(before);
  expect(receiver.received).toHaveLength(4);
}, 120_000);
