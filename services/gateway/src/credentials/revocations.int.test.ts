// A credential that has ended is refused by every gateway, and a member who was demoted what they may no longer do, also while the
// database is away.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { createRecordWriter, outgoing } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/testing/service-rig';
import { startProxy, type SwitchableProxy } from '@lead-scoring/testing/switchable-proxy';
import { idOf } from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
let proxy: SwitchableProxy;
const gateways = [0, 1];
const event = { alias_kind: 'email', alias: 'ada@example.com', event_type: 'Page View' };

beforeAll(async () => {
  const { hostname, port } = new URL(process.env.MONGODB_URI ?? '');
  proxy = await startProxy(hostname, Number(port));
  rig = await startRig({
    gateways: gateways.length,
    environment: { MONGODB_URI: `mongodb://127.0.0.1:${String(proxy.port)}/?directConnection=true` },
  });
}, 90_000);

afterAll(async () => {
  proxy.restore();
  await rig.stop();
  await proxy.stop();
}, 90_000);

async function newCredentials() {
  const token = await rig.call<{ id: string; token: string }>('POST', '/settings/tokens', {
    body: { name: `Token ${String(Math.random())}` },
  });
  const account = await rig.call<{ client_id: string; client_secret: string }>('POST', '/secrets', {
    body: { name: `Account ${String(Math.random())}`, scopes: ['ingest'] },
  });
  const { client_id, client_secret } = account.body;
  const basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
  return {
    token: { id: token.body.id, authorization: `Bearer ${token.body.token}` },
    account: { id: client_id, authorization: basic },
  };
}

async function newMember() {
  const form = { email: 'ada@example.com', name: 'Ada', role: 'editor', ou_ids: null } as const;
  const invited = await rig.call<{ id: string; invitation_url: string }>('POST', '/members', { body: form });
  const link = new URL(invited.body.invitation_url).pathname;
  const joined = await rig.call<{ token: string }>('POST', link, { token: null });
  const { email, name, ou_ids } = form;
  return {
    member: { member_id: invited.body.id, email, name, ou_ids },
    authorization: `Bearer ${joined.body.token}`,
  };
}

const ingest = async (authorization: string, gateway: number) =>
  (await rig.call('POST', '/ingest', { token: null, headers: { authorization }, body: event, gateway }))
    .status;

test('while the database is away, credentials that end and demotions count in every gateway within ten seconds, and others work', async () => {
  const [ending, staying] = [await newCredentials(), await newCredentials()];
  const demoted = await newMember();
  for (const { token, account } of [ending, staying])
    for (const gateway of gateways) {
      expect(await ingest(token.authorization, gateway)).toBe(202);
      expect(await ingest(account.authorization, gateway)).toBe(202);
    }
  for (const gateway of gateways) expect(await ingest(demoted.authorization, gateway)).toBe(202);
  proxy.cut();
  for (const gateway of gateways)
    await eventually(
      'the database is known to be away',
      async () => (await rig.call('GET', '/readyz', { token: null, gateway })).status === 503,
    );
  // The event that the decider would record, written while no gateway can fold it.
  const writer = await createRecordWriter(rig.log).start();
  const common = { organisation_id: idOf('organisation'), at: new Date().toISOString() };
  await writer.value.write([
    outgoing(records.tokenRevoked, {
      key: common.organisation_id,
      payload: { ...common, token_id: ending.token.id },
    }),
    outgoing(records.serviceAccountRevoked, {
      key: common.organisation_id,
      payload: { ...common, client_id: ending.account.id },
    }),
    outgoing(records.memberChanged, {
      key: common.organisation_id,
      payload: { ...common, ...demoted.member, role: 'viewer', version: 2 },
    }),
  ]);
  await writer.stop();
  for (const { authorization } of Object.values(ending))
    for (const gateway of gateways)
      await eventually('it is refused', async () => (await ingest(authorization, gateway)) === 401, 10_000);
  for (const gateway of gateways)
    await eventually(
      'the demotion counts',
      async () => (await ingest(demoted.authorization, gateway)) === 403,
      10_000,
    );
  for (const { authorization } of Object.values(staying))
    for (const gateway of gateways) expect(await ingest(authorization, gateway)).toBe(202);
}, 90_000);
