// The notification service on real servers: channels and triggers from command to answer, notifications at a receiver, and a rebuild.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  leadIdOf,
  nameBasedId,
  records,
  shareFieldsOf,
  type NotificationPayload,
} from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import {
  startMailServer,
  startSlack,
  startWebhookReceiver,
  type MailServer,
  type Slack,
  type WebhookReceiver,
} from '@lead-scoring/testing/receivers';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  anotherOu,
  channelId,
  createChannel,
  createTrigger,
  milestone,
  milestoneAt,
  ouId,
  sealed,
  sequence,
  surge,
  triggerId,
  webhookTo,
} from './testing/builders.js';
import { levelsFrom } from './testing/firing-builders.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
let receiver: WebhookReceiver<NotificationPayload>;
let slack: Slack;
let mail: MailServer;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  [slack, mail] = [await startSlack(), await startMailServer()];
  rig = await startRig({
    targets: [receiver.target],
    appUrl: 'https://app.example.com',
    slack: { token: slack.token, apiUrl: slack.apiUrl },
    mail: { url: mail.url, from: 'scores@example.com' },
  });
}, 120_000);

afterAll(async () => {
  await rig.stop();
  for (const one of [receiver, slack, mail]) await one.stop();
}, 60_000);

const at = '2026-02-01T00:00:00.000Z';
const toOu = <Declaration extends Parameters<typeof outgoing>[0]>(declaration: Declaration, payload: never) =>
  outgoing(declaration, { key: (payload as { ou_id: string }).ou_id, payload });

function create(nth: number, fields: Partial<records.CreateChannel> = {}): OutgoingRecord {
  return toOu(records.createChannel, createChannel(nth, fields).payload as never);
}
function define(nth: number, definition: records.TriggerDefinition, ou = ouId): OutgoingRecord {
  return toOu(records.createTrigger, { ...createTrigger(nth, definition).payload, ou_id: ou } as never);
}
function remove(nth: number, ou = ouId): OutgoingRecord {
  const payload = { ou_id: ou, channel_id: channelId(nth), requested_at: at };
  return outgoing(records.deleteChannel, { key: ou, payload });
}

/** The channels of an OU, by id. */
async function channels(ou = ouId): Promise<Map<string, Record<string, unknown>>> {
  const { status, text } = await rig.get('/notification-channels', { ou });
  expect(status).toBe(200);
  const list = JSON.parse(text) as { id: string }[];
  return new Map(list.map((channel) => [channel.id, channel]));
}

describe('channels', () => {
  test('a channel is listed as its command was answered, in its OU only', async () => {
    const reply = await rig.request(
      create(1, { destination: webhookTo('https://example.com', 'Bearer 1234') }),
    );
    expect(reply).toMatchObject({ outcome: 'done', result: { id: channelId(1), status: 'active' } });
    expect((await channels()).get(channelId(1))).toEqual(reply.outcome === 'done' && reply.result);
    expect((await channels(anotherOu)).size).toBe(0);
    expect((await channels()).get(channelId(1))).toMatchObject({ config: { auth_header: '…1234' } });
  });

  test('a channel is not found with the id of another OU', async () => {
    for (const command of [
      remove(1, anotherOu),
      outgoing(records.testChannel, {
        key: channelId(1),
        payload: {
          ou_id: anotherOu,
          channel_id: channelId(1),
          notification_id: nameBasedId(ouId, 'test'),
          requested_at: at,
        },
      }),
      define(90, milestone({ channel_ids: [channelId(1)] }), anotherOu),
    ])
      expect(await rig.request(command)).toMatchObject({
        outcome: 'rejected',
        code: 'notification_channel_not_found',
      });
  });

  test('an address that is not public is refused at once, sealed or not', async () => {
    const teams: records.WrittenDestination = {
      type: 'teams',
      config: {
        webhook_url: { ...sealed(''), sealed: rig.sealing.seal('http://10.0.0.1/x', channelId(2)) },
        channel_name: 'Sales',
      },
    };
    for (const destination of [webhookTo('http://169.254.169.254/latest'), teams])
      expect(await rig.request(create(2, { destination }))).toMatchObject({
        outcome: 'rejected',
        code: 'address_not_public',
      });
    expect((await channels()).has(channelId(2))).toBe(false);
  });

  test('a deleted channel is gone, and triggers that had only this channel show has_destination false', async () => {
    await rig.request(create(3));
    await rig.request(define(3, milestone({ channel_ids: [channelId(3)], score_threshold: 1_000 })));
    expect((await rig.get(`/triggers/${triggerId(3)}`)).body).toMatchObject({ has_destination: true });
    expect(await rig.request(remove(3))).toEqual({ outcome: 'done' });
    expect((await rig.get(`/triggers/${triggerId(3)}`)).body).toMatchObject({
      has_destination: false,
      channel_ids: [],
      version: 2,
    });
    expect((await channels()).has(channelId(3))).toBe(false);
    expect(await rig.request(remove(3))).toMatchObject({ code: 'notification_channel_not_found' });
  });
});

describe('triggers', () => {
  const kinds = [
    ['/triggers', 10, milestone({ score_threshold: 1_000 })],
    ['/sequences', 11, sequence()],
    ['/surge-triggers', 12, surge({ threshold: 1_000 })],
  ] as const;

  test.each(kinds)(
    '%s: answered, listed and read as one, by its own kind and OU',
    async (path, nth, definition) => {
      await rig.request(create(1));
      const reply = await rig.request(define(nth, { ...definition, channel_ids: [channelId(1)] }));
      const one = await rig.get(`${path}/${triggerId(nth)}`);
      expect(one.status).toBe(200);
      expect(one.body).toEqual(reply.outcome === 'done' && reply.result);
      const list = await rig.get(`${path}?channel_id=${channelId(1).toUpperCase()}`);
      expect(list.body).toMatchObject({ data: [one.body], total: 1, page: 1 });
      for (const [other, options] of [
        ['/triggers', {}],
        ['/sequences', {}],
        ['/surge-triggers', {}],
        [path, { ou: anotherOu }],
      ] as const) {
        if (other === path && !('ou' in options)) continue;
        expect(await rig.get(`${other}/${triggerId(nth)}`, options)).toMatchObject({
          status: 404,
          body: { code: 'trigger_not_found' },
        });
      }
    },
  );

  test('are paged in the order of their creation', async () => {
    for (const nth of [21, 22, 23]) await rig.request(define(nth, milestone(), anotherOu));
    const page = async (number: number) =>
      (await rig.get(`/triggers?limit=2&page=${String(number)}`, { ou: anotherOu })).body;
    expect(await page(1)).toMatchObject({ total: 3, data: [{ id: triggerId(21) }, { id: triggerId(22) }] });
    expect(await page(2)).toMatchObject({ total: 3, data: [{ id: triggerId(23) }] });
    expect(await page(3)).toMatchObject({ total: 3, data: [] });
  });
});

/** A decision that takes a lead of the OU from one score to another. */
function scored(
  alias: string,
  nth: number,
  [previous, score]: readonly [number, number],
  { ou = ouId, version = 1 }: { ou?: string; version?: number } = {},
): OutgoingRecord {
  const lead = leadIdOf(ou, 'email', alias);
  return outgoing(records.leadScored, {
    key: lead,
    payload: {
      ou_id: ou,
      lead_id: lead,
      previous_score: previous,
      score,
      configuration_version: version,
      event_count: 1,
      fire_triggers: true,
      aliases: [{ alias_kind: 'email', alias }],
      fields: [{ field: 'name', value: 'Ada Lovelace', at }],
      first_activity_at: at,
      last_activity_at: at,
      decided_at: new Date(Date.now() + nth).toISOString(),
      scored_events: [
        {
          event_id: nameBasedId(lead, `event ${String(nth)}`),
          event_type: 'Demo Requested',
          timestamp: at,
          matches: [
            {
              rule_id: rule,
              rule_version: 1,
              ruleset_id: nameBasedId(ouId, 'ruleset'),
              points: score - previous,
            },
          ],
        },
      ],
    },
  });
}
const rule = nameBasedId(ouId, 'rule');

describe('a crossing', () => {
  const alias = 'ada@example.com';
  const lead = leadIdOf(ouId, 'email', alias);

  test('is sent to the receiver once, signed, with its drivers, and listed with its delivery', async () => {
    receiver.trust(rig.sealing.signingSecret(channelId(30)));
    await rig.request(create(30, { destination: webhookTo(receiver.url) }));
    await rig.request(define(30, milestone({ score_threshold: 25, channel_ids: [channelId(30)] })));
    await rig.happen(scored(alias, 1, [0, 20]), scored(alias, 2, [20, 60]), scored(alias, 3, [60, 70]));
    await eventually('the receiver is told', () => receiver.accepted.size > 0);
    const [told] = receiver.received;
    expect(told?.payload).toMatchObject({
      type: 'trigger.milestone.fired',
      data: {
        trigger: { id: triggerId(30), kind: 'milestone' },
        lead: { id: lead, name: 'Ada Lovelace' },
        previous_score: 20,
        score: 60,
        threshold: 25,
        // The rule gave 40 at one time and 20 at another: one driver for each weight.
        top_drivers: [
          { rule_id: rule, weight: 40, count: 1, total: 40 },
          { rule_id: rule, weight: 20, count: 1, total: 20 },
        ],
        unit_id: ouId,
      },
    });
    const events = await eventually('the delivery is recorded', async () => {
      const { body } = await rig.get(`/milestone-events?trigger_id=${triggerId(30)}`);
      return JSON.stringify(body).includes('delivered') ? body : null;
    });
    expect(events).toMatchObject({
      total: 1,
      data: [{ trigger: { id: triggerId(30) }, deliveries: [{ id: told?.id, status: 'delivered' }] }],
    });
    expect(receiver.received).toHaveLength(1);
    expect(receiver.forged).toEqual([]);
  }, 60_000);

  test('has one share link that every channel gets and no record contains', async () => {
    await rig.request(
      create(41, {
        destination: { type: 'slack', config: { channel_id: 'C0000000001', channel_name: '#s' } },
      }),
    );
    await rig.request(
      create(42, { destination: { type: 'email', config: { recipients: 'sam@example.org' } } }),
    );
    const channel_ids = [30, 41, 42].map(channelId);
    await rig.request(define(40, milestone({ score_threshold: 90, channel_ids })));
    await rig.happen(scored(alias, 4, [70, 95]));
    const told = () =>
      receiver.received.filter(({ payload }) => JSON.stringify(payload).includes(triggerId(40)));
    await eventually('everybody is told', () =>
      [told(), slack.messages, mail.received].every(({ length }) => length),
    );
    const { id, payload } = told()[0] ?? { id: '', payload: null };
    if (payload?.type !== 'trigger.milestone.fired') throw new Error('it tells of something else');
    const { share_url = '', firing_id } = payload.data;
    const token = share_url.slice(share_url.lastIndexOf('/') + 1);
    expect(share_url).toBe(`https://app.example.com/share/${token}`);
    expect(token).toBe(rig.sealing.shareToken(firing_id));
    expect(slack.messages[0]?.links).toEqual([`${share_url}|Why this score`]);
    expect(mail.received[0]?.message.text).toContain(share_url);
    expect(mail.received[0]?.message.html).toContain(`href="${share_url}"`);

    const fields = shareFieldsOf(token);
    const asked = (await rig.recordsOn('share.commands')).map((record) => record.payload);
    expect(asked.filter((share) => (share as records.CreateShare).created_by === triggerId(40))).toEqual([
      {
        ...fields,
        ou_id: ouId,
        lead_id: lead,
        lead_seen_in: { topic: 'scoring.events', offset: expect.any(Number) },
        created_by: triggerId(40),
        requested_at: payload.timestamp,
        actor: { kind: 'trigger', id: triggerId(40), name: expect.any(String) },
      },
    ]);

    const delivery = await rig.get(`/deliveries/${id}`);
    expect(delivery).toMatchObject({ status: 200, body: { payload: { data: { firing_id } } } });
    await rig.write([
      outgoing(records.redeliverNotification, {
        key: ouId,
        payload: {
          ou_id: ouId,
          notification_id: id,
          redelivery_id: nameBasedId(ouId, 'once more'),
          requested_at: new Date().toISOString(),
        },
      }),
    ]);
    await eventually('it is told once more', () => told().length > 1);
    expect(told().map(({ payload: again }) => again)).toEqual([payload, payload]);
    const places = [
      delivery.body,
      await rig.documents(),
      ...(await Promise.all(
        (['share.commands', 'notification.commands', 'notification.events', 'replies'] as const).map(
          async (topic) => (await rig.recordsOn(topic)).map(({ payload, headers }) => [payload, headers]),
        ),
      )),
    ];
    for (const place of places) expect(JSON.stringify(place)).not.toContain(token);
  }, 60_000);

  test('after a rotation is signed with both secrets, and a test is answered with its outcome', async () => {
    const key = channelId(31);
    const rotated = await rig.request(
      outgoing(records.rotateChannelSecret, {
        key: ouId,
        payload: {
          ou_id: ouId,
          channel_id: channelId(30),
          signing_key_id: key,
          requested_at: new Date().toISOString(),
        },
      }),
    );
    expect(rotated).toMatchObject({ outcome: 'done', result: { previous_valid_until: expect.any(String) } });
    receiver.trust(rig.sealing.signingSecret(key));
    const reply = await rig.request(
      outgoing(records.testChannel, {
        key: channelId(30),
        payload: {
          ou_id: ouId,
          channel_id: channelId(30),
          notification_id: nameBasedId(ouId, 'a test'),
          requested_at: new Date().toISOString(),
        },
      }),
    );
    expect(reply).toMatchObject({ outcome: 'done', result: { ok: true, status: 200 } });
    expect(receiver.received.at(-1)).toMatchObject({
      payload: { type: 'channel.test' },
      verifiedBy: { length: 2 },
    });
  }, 60_000);
});

describe('a milestone by level', () => {
  const ou = nameBasedId(ouId, 'of levels');
  const set = (...levels: [name: string, min_score: number | null][]) =>
    toOu(records.engagementLevelsSet, { ou_id: ou, levels: levelsFrom(levels), at } as never);
  const firedBy = async (nth: number) => {
    const { body } = await rig.get(`/milestone-events?trigger_id=${triggerId(nth)}`, { ou });
    return (body.data as Record<string, unknown>[]).reverse();
  };
  const shown = async (nth: number) => (await rig.get(`/triggers/${triggerId(nth)}`, { ou })).body;

  test('is accepted for a level that was set a moment ago, and shows it in place of a threshold', async () => {
    await rig.write([set(['Cold', null], ['Warm', 10], ['Hot', 50])]);
    const reply = await rig.request(define(40, milestoneAt('Warm'), ou));
    expect(reply).toMatchObject({ outcome: 'done', result: { level: 'Warm', level_missing: false } });
    expect(await shown(40)).toEqual(reply.outcome === 'done' && reply.result);
    expect(await shown(40)).not.toHaveProperty('score_threshold');
    expect(await rig.request(define(41, milestoneAt('hot'), ou))).toMatchObject({ outcome: 'done' });
  }, 60_000);

  test('is refused for a level that the OU does not have, with the names of its levels', async () => {
    expect(await rig.request(define(49, milestoneAt('Boiling'), ou))).toMatchObject({
      outcome: 'rejected',
      code: 'level_not_found',
      message: expect.stringContaining('"Cold", "Warm", "Hot"'),
    });
    expect(await rig.request(define(49, milestoneAt('Hot'), anotherOu))).toMatchObject({
      outcome: 'rejected',
      code: 'level_not_found',
    });
    expect(await rig.request(define(49, milestoneAt('Cold'), ou))).toMatchObject({
      outcome: 'rejected',
      code: 'invalid_request',
    });
  }, 60_000);

  test('fires at the bound that the level had at scoring’s decision, and shows that bound', async () => {
    const grace = 'grace@example.com';
    await rig.happen(scored(grace, 1, [0, 60], { ou, version: 1 }));
    expect(await firedBy(40)).toMatchObject([
      {
        ...{ previous_score: 0, score: 60, previous_level: 'Cold', level: 'Hot' },
        ...{ threshold: 10, threshold_level: 'Warm' },
      },
    ]);
    expect(await firedBy(41)).toMatchObject([{ level: 'Hot', threshold: 50, threshold_level: 'Hot' }]);
    await rig.happen(
      set(['Cold', null], ['Warm', 10], ['Hot', 80]),
      scored(grace, 2, [60, 70], { ou, version: 2 }),
      scored(grace, 3, [70, 85], { ou, version: 2 }),
      // Scoring decided this before it knew the change.
      scored('hedy@example.com', 4, [0, 60], { ou, version: 1 }),
    );
    const later = await firedBy(41);
    expect(later).toHaveLength(3);
    expect(later).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ score: 85, threshold: 80 }),
        expect.objectContaining({ score: 60, threshold: 50 }),
      ]),
    );
    expect(await firedBy(40)).toHaveLength(2);
  }, 60_000);

  test('shows level_missing once its level is renamed, does not fire then, and fires once the level is back', async () => {
    const joan = 'joan@example.com';
    await rig.happen(
      set(['Cold', null], ['Warm', 10], ['Boiling', 80]),
      scored(joan, 1, [20, 90], { ou, version: 3 }),
      scored(joan, 2, [90, 20], { ou, version: 3 }),
    );
    await eventually('it says so', async () => (await shown(41)).level_missing === true);
    expect(await shown(40)).toMatchObject({ level_missing: false });
    expect(await firedBy(41)).toHaveLength(3);
    await rig.happen(set(['Hot', 80]), scored(joan, 3, [20, 90], { ou, version: 4 }));
    expect(await firedBy(41)).toHaveLength(4);
    await eventually('it says so', async () => (await shown(41)).level_missing === false);
  }, 60_000);
});

test('more firings than fit into a batch are decided in parts, each once', async () => {
  const ou = nameBasedId(ouId, 'another OU, with many leads');
  const thresholds = [1, 2, 3, 4];
  for (const threshold of thresholds)
    await rig.request(define(70 + threshold, milestone({ score_threshold: threshold }), ou));
  const aliases = Array.from({ length: 300 }, (_, nth) => `lead-${String(nth)}@example.com`);
  await rig.happen(...aliases.map((alias) => ({ ...scored(alias, 1, [0, 10], { ou }), partition: 0 })));
  for (const threshold of thresholds) {
    const { body } = await rig.get(`/milestone-events?trigger_id=${triggerId(70 + threshold)}`, { ou });
    expect(body).toMatchObject({ total: aliases.length });
  }
  const fired = (await rig.recordsOn('notification.events')).filter(
    ({ partition, payload }) => partition === 0 && (payload as { ou_id?: string }).ou_id === ou,
  );
  const offsets = fired.map(({ offset }) => Number(offset));
  // Between the parts there is only the transaction marker that ends each.
  const marks = Math.max(...offsets) - Math.min(...offsets) + 1 - offsets.length;
  expect(marks).toBeLessThan(10);
}, 60_000);

test('a rebuild gives the same documents and sends nothing', async () => {
  const before = await rig.documents();
  const told = receiver.received.length;
  await rig.rebuild();
  expect(await rig.documents()).toEqual(before);
  expect(receiver.received).toHaveLength(told);
}, 120_000);
