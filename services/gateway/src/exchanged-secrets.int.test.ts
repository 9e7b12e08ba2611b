// Two gateways while TOKEN_SECRET and SEALING_SECRET are exchanged: one still uses the old values, the other already the new ones.
// Each secret that one has created and shown, the other shows again.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records, signingContext } from '@lead-scoring/contracts';
import { isRecord, tail } from '@lead-scoring/event-log';
import { createSealing } from '@lead-scoring/service';
import { idOf } from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

const [old, current] = [
  'the secret of before, which is as long as that',
  'the secret that comes after it, as long',
];
const settings: Record<string, string>[] = [
  { TOKEN_SECRET: old, TOKEN_SECRET_NEXT: current, SEALING_SECRET: old, SEALING_SECRET_NEXT: current },
  {
    TOKEN_SECRET: current,
    TOKEN_SECRET_PREVIOUS: old,
    SEALING_SECRET: current,
    SEALING_SECRET_PREVIOUS: old,
  },
];
const orders = [
  [0, 1],
  [1, 0],
] as const;

let rig: Rig;

beforeAll(async () => {
  rig = await startRig({
    gateways: 2,
    environment: { REPLY_TIMEOUT_MS: '5000' },
    environmentOf: (index) => settings[index] ?? {},
  });
}, 90_000);

afterAll(() => rig.stop(), 60_000);

async function twice(path: string, body: unknown, [first, second]: readonly [number, number]) {
  const headers = { 'idempotency-key': `${path}-${String(first)}` };
  const made = await rig.call<Record<string, string>>('POST', path, { body, headers, gateway: first });
  const again = await rig.call<Record<string, string>>('POST', path, { body, headers, gateway: second });
  return { made, again };
}

test.each(orders)(
  'a token that gateway %d made is shown again by gateway %d, and works',
  async (...order) => {
    const { made, again } = await twice('/settings/tokens', { name: `Of ${String(order[0])}` }, order);
    expect(made.status).toBe(201);
    expect(again).toMatchObject({ status: 201, body: made.body });
    const answer = await rig.call('GET', '/org-units', { token: again.body.token ?? '', gateway: order[1] });
    expect(answer.status).toBe(200);
  },
);

test.each(orders)(
  "a service account's secret that gateway %d made is shown again by gateway %d",
  async (...order) => {
    const name = `Of ${String(order[0])}`;
    const { made, again } = await twice('/secrets', { name, scopes: ['ingest'] }, order);
    expect(made.status).toBe(201);
    expect(again).toMatchObject({ status: 201, body: made.body });
    const rotated = await twice(`/secrets/${made.body.client_id ?? ''}/rotate`, undefined, order);
    expect(rotated.made.status).toBe(200);
    expect(rotated.again).toMatchObject({ status: 200, body: rotated.made.body });
    expect(rotated.made.body.client_secret).not.toBe(made.body.client_secret);
  },
);

test.each(orders)('a signing secret that gateway %d made is shown again by gateway %d', async (...order) => {
  const kept = new Map<string, string>();
  rig.notificationReplies((record) => {
    if (!isRecord(record, records.createChannel)) throw new Error(`${record.type} is not expected`);
    const { channel_id, signing_secret = '' } = record.payload;
    if (!kept.has(channel_id)) kept.set(channel_id, signing_secret);
    const at = '2026-01-31T09:30:00.000Z';
    const result = { id: channel_id, unit_id: idOf('ou'), name: 'CRM', type: 'webhook', status: 'active' };
    const config = { url: 'https://example.com/…hook' };
    return {
      outcome: 'done',
      result: {
        ...result,
        config,
        created_at: at,
        updated_at: at,
        signing_secret: kept.get(channel_id) ?? '',
      },
    };
  });
  const body = { name: 'CRM', type: 'webhook', config: { url: 'https://example.com/services/hook' } };
  const { made, again } = await twice('/notification-channels', body, order);
  expect(made.status).toBe(201);
  expect(again).toMatchObject({ status: 201, body: made.body });
  const { id = '', signing_secret: shown } = made.body;
  expect(shown).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const maker = createSealing(order[0] === 0 ? old : current);
  expect(maker.unseal(kept.get(id) ?? '', signingContext(id))).toBe(shown);
});

test.each(orders)(
  'a share that gateway %d made has the same link from gateway %d',
  async (...order) => {
    // Nothing replies: the commands are read from the log.
    rig.shareReplies(() => null);
    const lead = idOf(`lead ${String(order[0])}`);
    const { made, again } = await twice(`/leads/${lead}/share-explain`, undefined, order);
    expect([made.status, again.status]).toEqual([504, 504]);
    const asked: string[] = [];
    for await (const record of tail(rig.log, 'share.commands', { from: 'beginning', follow: false }))
      if (isRecord(record, records.createShare) && record.payload.lead_id === lead)
        asked.push(record.payload.share_id);
    expect(asked).toHaveLength(2);
    expect(new Set(asked).size).toBe(1);
  },
  30_000,
);
