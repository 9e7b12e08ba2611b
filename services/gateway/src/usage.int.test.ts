// API calls are counted exactly, by credential and route group, over two gateways, and before they are answered.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { routeDeclarations, routes, type RouteDeclaration } from '@lead-scoring/contracts';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig({ gateways: 2 });
}, 90_000);

afterAll(() => rig.stop(), 60_000);

type Usage = routeDeclarations.Usage;
const { countDeliveredNotifications } = routeDeclarations;

/** Whether the services that count events and notifications answer. */
let isAway = false;

beforeEach(() => {
  isAway = false;
  rig.ownerAnswers(({ url, body }, res) => {
    res.setHeader('Content-Type', 'application/json');
    if (url !== countDeliveredNotifications.path) {
      res.end('{"data":[]}');
      return;
    }
    if (isAway) res.statusCode = 503;
    expect(JSON.parse(body)).toMatchObject({ ou_ids: [expect.any(String)] });
    res.end(JSON.stringify({ rows: [] }));
  });
});

const newToken = async (body: object = {}) =>
  (
    await rig.call<{ id: string; token: string }>('POST', '/settings/tokens', {
      body: { name: 'Counted', ...body },
    })
  ).body;

/** The counted calls of a token by route group. */
async function callsOf(id: string, gateway = 0): Promise<Record<string, number>> {
  const { status, body } = await rig.call<Usage>('GET', '/usage?granularity=hour', { gateway });
  expect({ status, body }).toMatchObject({ status: 200 });
  const groups: Record<string, number> = {};
  for (const row of body.calls)
    if (row.credential.id === id) groups[row.group] = (groups[row.group] ?? 0) + row.calls;
  return groups;
}

const credentialRoutes: readonly RouteDeclaration[] = Object.values(routes).filter(
  ({ access }: RouteDeclaration) => access.credential,
);

describe('the calls of a credential', () => {
  test('are counted for every route that needs one, in its group, when it is answered', async () => {
    const { id, token } = await newToken({ role: 'viewer' });
    const expected: Record<string, number> = {};
    for (const route of credentialRoutes) {
      expected[route.tag] = (expected[route.tag] ?? 0) + 1;
      const path = route.path.replace(/\{\w+\}/g, () => randomUUID());
      const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
      const { status } = await rig.call(route.method, path, { token, ...(hasBody && { body: {} }) });
      expect([route.name, status === 401 || status === 429]).toEqual([route.name, false]);
    }
    expect(await callsOf(id, 1)).toEqual(expected);
  }, 120_000);

  test('are exact with two gateways and many at the same time', async () => {
    const { id, token } = await newToken({ role: 'viewer' });
    const statuses = await Promise.all(
      Array.from({ length: 600 }, async (_, n) => {
        const path = n % 3 === 0 ? '/org-units' : '/leads';
        return (await rig.call('GET', path, { token, gateway: n % 2 })).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await callsOf(id)).toEqual({ Session: 200, Leads: 400 });
  }, 60_000);

  test('that are refused for the rate limit are not counted', async () => {
    const { id, token } = await newToken({ role: 'viewer', rate_limit: { per_minute: 1, burst: 5 } });
    const statuses = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, n) => (await rig.call('GET', '/leads', { token, gateway: n % 2 })).status,
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(await callsOf(id)).toEqual({ Leads: 5 });
  });
});

test('a credential that is limited to some units sees the calls of credentials that may use no others', async () => {
  const units = await rig.call<{ data: { id: string }[] }>('GET', '/org-units');
  const ou_ids = [units.body.data[0]?.id ?? ''];
  const limited = await newToken({ role: 'admin', ou_ids });
  expect((await rig.call('GET', '/leads', { token: limited.token })).status).toBe(200);
  const everywhere = await rig.call<Usage>('GET', '/usage');
  const inUnit = await rig.call<Usage>('GET', '/usage', { token: limited.token });
  const idsIn = ({ calls }: Usage) => new Set(calls.map(({ credential }) => credential.id));
  expect(idsIn(inUnit.body)).toContain(limited.id);
  const names = (usage: Usage) => new Set(usage.calls.map(({ credential }) => credential.name));
  expect(names(everywhere.body)).toContain('Bootstrap');
  expect(names(inUnit.body)).not.toContain('Bootstrap');
});

test('usage is 503 and has no gaps while a service that counts is away', async () => {
  isAway = true;
  const { status, headers } = await rig.call('GET', '/usage');
  expect(status).toBe(503);
  expect(headers.get('retry-after')).not.toBeNull();
});

test('a time that is too long is refused with what is possible', async () => {
  for (const query of ['granularity=hour&from=2020-01-01', 'from=2020-01-01'])
    expect(await rig.call('GET', `/usage?${query}`)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('366 days') },
    });
});
