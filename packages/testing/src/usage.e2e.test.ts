// GET /usage of the running system: calls are exact although gateways are killed, and events and notifications are those of the log.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { NotificationPayload, routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { isFullSize } from './full-size.js';
import { startNotifiedSystem, type NotifiedSystem } from './notified-system.js';
import { startWebhookReceiver } from './receivers/index.js';

type Usage = routeDeclarations.Usage;

const kills = isFullSize ? 6 : 2;
const senders = 6;

let system: NotifiedSystem;

beforeAll(async () => {
  system = await startNotifiedSystem([0, 1], {
    instances: { gateway: 2, share: 0, 'site-analysis': 0 },
    longestRestartDelayMs: 500,
  });
}, 180_000);

afterAll(() => system.stop(), 60_000);

const usage = async (): Promise<Usage> => {
  const { status, body } = await system.request<Usage>('/usage?granularity=hour');
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
};

async function newToken(): Promise<{ id: string; token: string }> {
  const { body } = await system.request<{ id: string; token: string }>('/settings/tokens', {
    body: { name: 'Counted', role: 'editor' },
  });
  return body;
}

/** The counted calls of a token by route group. */
async function callsOf(id: string): Promise<Record<string, number>> {
  const groups: Record<string, number> = {};
  for (const { credential, group, calls } of (await usage()).calls)
    if (credential.id === id) groups[group] = (groups[group] ?? 0) + calls;
  return groups;
}

/** One call of each kind: a read that is forwarded, one of the gateway, an intake and a command. */
const kinds = [
  { group: 'Leads', path: '/leads' },
  { group: 'Session', path: '/org-units' },
  {
    group: 'Events',
    path: '/ingest',
    body: { alias_kind: 'email', alias: 'calls@example.com', event_type: 'Page View' },
  },
  { group: 'Filters', path: '/filters/preview', body: { conditions: [] } },
] as const;

/** Calls that were sent and those that were answered, by group. */
class Tally {
  readonly sent: Record<string, number> = {};
  readonly answered: Record<string, number> = {};

  async call(
    token: string,
    { group, path, ...request }: (typeof kinds)[number],
    gateway: number,
  ): Promise<void> {
    this.sent[group] = (this.sent[group] ?? 0) + 1;
    const { url } = system.service('gateway', gateway);
    try {
      const response = await fetch(`${url}${path}`, {
        method: 'body' in request ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...('body' in request && { body: JSON.stringify(request.body) }),
        signal: AbortSignal.timeout(30_000),
      });
      // The head of an answer shows that the call was answered, also when its body breaks off.
      this.answered[group] = (this.answered[group] ?? 0) + 1;
      await response.arrayBuffer();
    } catch {
      // The gateway was killed, or is not back yet.
    }
  }
}

describe('the calls of a credential', () => {
  test('while gateways are killed under calls: at least those that were answered, and at most those that were sent', async () => {
    const { id, token } = await newToken();
    const tally = new Tally();
    let isOver = false;
    const send = async (sender: number): Promise<void> => {
      for (let n = sender; !isOver; n += 1) {
        const kind = kinds[n % kinds.length];
        if (kind) await tally.call(token, kind, n % 2);
      }
    };
    const sending = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
    for (let kill = 0; kill < kills; kill += 1) {
      const answered = Object.values(tally.answered).reduce((sum, n) => sum + n, 0);
      await eventually(
        'calls are answered',
        () => Object.values(tally.answered).reduce((sum, n) => sum + n, 0) > answered + 100,
        60_000,
      );
      system.service('gateway', kill % 2).process.kill('SIGKILL');
    }
    isOver = true;
    await sending;
    await system.system.ready(60_000);
    const counted = await callsOf(id);
    for (const { group } of kinds) {
      const calls = counted[group] ?? 0;
      expect(calls).toBeGreaterThanOrEqual(tally.answered[group] ?? 0);
      expect(calls).toBeLessThanOrEqual(tally.sent[group] ?? 0);
      expect(tally.answered[group]).toBeGreaterThan(20);
    }
  }, 180_000);

  test('of a gateway that is killed as soon as it has answered: exactly those that were sent', async () => {
    const { id, token } = await newToken();
    const tally = new Tally();
    for (let kill = 0; kill < kills; kill += 1) {
      await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const kind = kinds[n % kinds.length];
          if (kind) await tally.call(token, kind, kill % 2);
        }),
      );
      system.service('gateway', kill % 2).process.kill('SIGKILL');
      await system.system.ready(60_000);
    }
    expect(tally.answered).toEqual(tally.sent);
    expect(await callsOf(id)).toEqual(tally.sent);
  }, 180_000);
});

test('events are counted once for their sender, repeats apart, while ingest is killed', async () => {
  const { id, token } = await newToken();
  const batches = Array.from({ length: 12 }, (_, batch) =>
    Array.from({ length: 50 }, (__, n) => ({
      alias_kind: 'email',
      alias: `counted-${String((batch * 50 + n) % 37)}@example.com`,
      event_type: 'Page View',
      event_id: `counted ${String(batch)} ${String(n)}`,
    })),
  );
  let accepted = 0;
  for (const [turn, batch] of batches.entries()) {
    if (turn === 4 || turn === 8) system.service('ingest').process.kill('SIGKILL');
    // Each batch is sent twice.
    for (const gateway of [0, 1]) {
      const response = await fetch(`${system.service('gateway', gateway).url}/ingest`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(batch),
      });
      expect(response.status).toBe(202);
      accepted += batch.length;
    }
  }
  await eventually(
    'all are counted',
    async () => {
      const counted = (await usage()).events.filter(({ credential }) => credential.id === id);
      return counted.reduce((sum, { events, repeats }) => sum + events + repeats, 0) >= accepted;
    },
    90_000,
  );
  const counted = (await usage()).events.filter(({ credential }) => credential.id === id);
  expect(counted.reduce((sum, { events }) => sum + events, 0)).toBe(600);
  expect(counted.reduce((sum, { repeats }) => sum + repeats, 0)).toBe(600);
  expect(
    counted.every(({ ou_id, credential }) => ou_id === system.ouId && credential.name === 'Counted'),
  ).toBe(true);
}, 180_000);

test('notifications are counted by channel when the receiver has taken them, and not when it has not', async () => {
  const receiver = await startWebhookReceiver<{ data: unknown }>();
  try {
    const taking = await system.webhook('Taking', receiver.url);
    receiver.trust(taking.signing_secret);
    const refusing = await system.webhook('Refusing', 'http://127.0.0.1:1025/');
    for (const { id } of [taking, taking, refusing])
      await system.request(`/notification-channels/${id}/test`, { method: 'POST' });
    await eventually(
      'both are counted',
      async () => {
        const found = (await usage()).notifications.filter(({ channel_id }) => channel_id === taking.id);
        return found.reduce((sum, { delivered }) => sum + delivered, 0) === 2;
      },
      60_000,
    );
    const all = (await usage()).notifications;
    expect(all.some(({ channel_id }) => channel_id === refusing.id)).toBe(false);
  } finally {
    await receiver.stop();
  }
}, 120_000);

test('a channel is told of a quota that is nearly used, once, although gateways are killed', async () => {
  const receiver = await startWebhookReceiver<NotificationPayload>();
  try {
    const channel = await system.webhook('Quotas', receiver.url);
    receiver.trust(channel.signing_secret);
    const warning_channel = { ou_id: system.ouId, channel_id: channel.id };
    const elsewhere = '00000000-0000-4000-8000-000000000000';
    const change = (path: string, body: object) =>
      system.request<Record<string, unknown>>(path, { method: 'PATCH', body });
    expect(
      await change('/settings/limits', { warning_channel: { ...warning_channel, channel_id: elsewhere } }),
    ).toMatchObject({ status: 404, body: { code: 'notification_channel_not_found' } });
    expect(
      await change('/settings/limits', { warning_channel: { ...warning_channel, ou_id: elsewhere } }),
    ).toMatchObject({ status: 404, body: { code: 'org_unit_not_found' } });
    expect(await change('/settings/limits', { warning_channel })).toMatchObject({
      status: 200,
      body: { warning_channel },
    });
    const { id, token } = await newToken();
    expect(await change(`/settings/tokens/${id}`, { quotas: { calls_per_day: 40 } })).toMatchObject({
      status: 200,
      body: { quotas: { calls_per_day: 40 }, warning_channel: null },
    });
    const tally = new Tally();
    const [read] = kinds;
    for (let n = 0; n < 34; n += 1) await tally.call(token, read, n % 2);
    for (const gateway of [0, 1]) system.service('gateway', gateway).process.kill('SIGKILL');
    // Deliveries under kills have a test of their own.
    if (isFullSize) system.service('notification').process.kill('SIGKILL');
    await system.system.ready(60_000);
    for (let n = 0; n < 6; n += 1) await tally.call(token, read, n % 2);
    await eventually('the receiver has a warning', () => receiver.accepted.size > 0, 60_000);
    if (isFullSize) system.service('notification').process.kill('SIGKILL');
    await system.system.ready(60_000);
    const delivered = await eventually(
      'the delivery is recorded',
      async () => {
        const { body } = await system.request<{ total: number; data: routeDeclarations.Delivery[] }>(
          `/deliveries?channel_id=${channel.id}`,
        );
        return body.data.every(({ status }) => status === 'delivered') && body;
      },
      60_000,
    );
    expect(delivered).toMatchObject({
      total: 1,
      data: [{ type: 'quota.nearly_used', unit_id: system.ouId }],
    });
    expect([...receiver.accepted.values()].map(({ payload }) => payload)).toMatchObject([
      {
        type: 'quota.nearly_used',
        data: { credential: { id, name: 'Counted' }, quota: 'calls_per_day', limit: 40 },
      },
    ]);
  } finally {
    await receiver.stop();
  }
}, 180_000);
