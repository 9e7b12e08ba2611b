// While MongoDB is away, known callers can still send events; requests that need the database get 503.
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/testing/service-rig';
import { startProxy, type SwitchableProxy } from '@lead-scoring/testing/switchable-proxy';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
let proxy: SwitchableProxy;

beforeAll(async () => {
  const { hostname, port } = new URL(process.env.MONGODB_URI ?? '');
  proxy = await startProxy(hostname, Number(port));
  rig = await startRig({
    environment: {
      MONGODB_URI: `mongodb://127.0.0.1:${String(proxy.port)}/?directConnection=true`,
      RATE_LIMIT_PER_MINUTE: '1',
      RATE_LIMIT_BURST: '20',
      // The first token has its organisation's limit.
      ORGANISATION_RATE_LIMIT_PER_MINUTE: '1',
      ORGANISATION_RATE_LIMIT_BURST: '20',
    },
  });
}, 60_000);

afterAll(async () => {
  await rig.stop();
  await proxy.stop();
}, 60_000);

async function restore(): Promise<void> {
  proxy.restore();
  await eventually(
    'the gateway is ready',
    async () => (await rig.call('GET', '/readyz', { token: null })).status === 200,
    90_000,
  );
}

const event = { alias_kind: 'email', alias: 'ada@example.com', event_type: 'Page View' };

test('known credentials ingest, within a limit; others and commands with a key get 503; all work again afterwards', async () => {
  expect((await rig.call('POST', '/ingest', { body: event })).status).toBe(202);
  proxy.cut();
  const statuses: number[] = [];
  for (let n = 0; n < 25; n += 1)
    statuses.push(
      (
        await rig.call('POST', '/ingest', {
          body: event,
          headers: { 'idempotency-key': `away-${String(n)}` },
        })
      ).status,
    );
  expect(statuses.slice(0, 15)).toEqual(Array(15).fill(202));
  expect(statuses.at(-1)).toBe(429);
  expect((await rig.call('GET', '/readyz', { token: null })).status).toBe(503);
  expect((await rig.call('GET', '/healthz', { token: null })).status).toBe(200);
  await restore();
}, 120_000);

test('an unknown credential gets 503 while the database is away, not 401', async () => {
  const { secretFrom } = await import('@lead-scoring/contracts');
  const unknown = secretFrom('lsp_', new Uint8Array(32).fill(7));
  proxy.cut();
  const reply = await rig.call('GET', '/leads', { token: unknown });
  expect(reply).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
  expect(reply.headers.get('retry-after')).toBeTruthy();
  await restore();
  await eventually(
    'the credential is refused with 401',
    async () => {
      // More frequent requests would use up the limit before the gateway tries the database again.
      await setTimeout(500);
      return (await rig.call('GET', '/leads', { token: unknown })).status === 401;
    },
    90_000,
  );
}, 120_000);
