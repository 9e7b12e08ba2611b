// People who come with a JSON Web Token: of a real issuer (oidc-provider, in this process), and of one that the test is, which makes
// whatever a hostile sender could.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '@lead-scoring/testing/service-rig';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import Provider from 'oidc-provider';
import { startRig, type Reply, type Rig } from '../testing/rig.js';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

const audience = 'lead-scoring';
const gateways = [0, 1];
let rig: Rig;
let ouId: string;
let server: Server;
let provider: Server;
let base: string;
let providerUrl: string;
/** The key sets by path. Tests change that of `/own`. */
const keySets = new Map<string, { pair: Pair; kid: string }[]>();
let fetches = 0;
const slow: ServerResponse[] = [];

beforeAll(async () => {
  server = createServer((req, res) => {
    fetches += 1;
    const path = req.url ?? '';
    if (path === '/slow') {
      slow.push(res);
      return;
    }
    if (path === '/large') {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(`{"keys":[],"more":"${'x'.repeat(10_000_000)}"}`);
      return;
    }
    const keys = keySets.get(path);
    if (!keys) {
      res.writeHead(503).end();
      return;
    }
    void Promise.all(
      keys.map(async ({ pair, kid }) => ({
        ...(await exportJWK(pair.publicKey)),
        kid,
        alg: 'RS256',
        use: 'sig',
      })),
    ).then((all) => res.end(JSON.stringify({ keys: all })));
  });
  base = await listening(server);
  keySets.set('/own', [{ pair: await newPair(), kid: 'first' }]);
  keySets.set('/creating', [{ pair: await newPair(), kid: 'first' }]);
  for (const path of ['/slow', '/large', '/away']) signing.set(path, { pair: await newPair(), kid: 'first' });
  await startProvider();
  const one = (path: string, more: object = {}) => ({
    issuer: `${base}${path}`,
    audience,
    jwks_uri: `${base}${path}`,
    ...more,
  });
  rig = await startRig({
    gateways: gateways.length,
    environment: {
      OIDC_ISSUERS: JSON.stringify([
        one('/own'),
        one('/creating', { create: { role: 'viewer' }, claim: 'upn' }),
        one('/slow'),
        one('/large'),
        one('/away'),
        { issuer: providerUrl, audience, jwks_uri: `${providerUrl}/jwks`, algorithms: ['ES256'] },
      ]),
    },
  });
  const units = await rig.call<{ data: { id: string }[] }>('GET', '/org-units');
  ouId = units.body.data[0]?.id ?? '';
}, 120_000);

afterAll(async () => {
  await rig.stop();
  for (const res of slow) res.destroy();
  for (const one of [server, provider]) {
    one.closeAllConnections();
    await new Promise((resolve) => one.close(resolve));
  }
}, 60_000);

async function listening(one: Server): Promise<string> {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((one.address() as AddressInfo).port)}`;
}

const newPair = () => generateKeyPair('RS256', { extractable: true });
/** Keys of issuers that do not publish them. */
const signing = new Map<string, { pair: Pair; kid: string }>();

/** A real issuer, whose client gets tokens for `audience` that say they are of the address in the client's id. */
async function startProvider(): Promise<void> {
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  provider = createServer((req, res) => void handler(req, res));
  providerUrl = await listening(provider);
  // It says on the console that it is no issuer for production.
  for (const kind of ['warn', 'info'] as const) jest.spyOn(console, kind).mockImplementation(() => undefined);
  const oidc = new Provider(providerUrl, {
    jwks: { keys: [{ ...key, kid: 'of the provider', alg: 'ES256', use: 'sig' }] as never },
    clients: [
      {
        client_id: 'grace@example.com',
        client_secret: 'a secret of this test',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:lead-scoring',
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    extraTokenClaims: (_ctx, token) => ({ email: String(token.clientId), email_verified: true }),
  });
  const handler = oidc.callback();
}

async function tokenOfProvider(): Promise<string> {
  const response = await fetch(`${providerUrl}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('grace%40example.com:a+secret+of+this+test').toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { access_token: string }).access_token;
}

interface Making {
  path?: string;
  key?: Pair['privateKey'];
  header?: object;
  claims?: JWTPayload;
}

const seconds = () => Math.floor(Date.now() / 1_000);

async function tokenFor(email: string, { path = '/own', key, header, claims }: Making = {}): Promise<string> {
  const own = keySets.get(path)?.at(-1) ?? signing.get(path);
  const payload = {
    iss: `${base}${path}`,
    aud: audience,
    sub: email,
    email,
    email_verified: true,
    upn: email,
    name: 'Somebody',
    iat: seconds(),
    exp: seconds() + 300,
    ...claims,
  };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'RS256', kid: own?.kid ?? '', ...header })
    .sign(key ?? (own?.pair.privateKey as Pair['privateKey']));
}

const unsecured = (payload: JWTPayload) => Promise.resolve(new UnsecuredJWT(payload).encode());

async function invited(role = 'editor'): Promise<{ id: string; email: string }> {
  const email = `${randomUUID()}@example.com`;
  const body = { email, name: 'Grace', role };
  const reply = await rig.call<{ id: string }>('POST', '/members', { body });
  expect(reply.status).toBe(201);
  return { id: reply.body.id, email };
}

const leads = (token: string, gateway = 0) => rig.call('GET', '/leads', { token, gateway });
const statusOf = async (token: string, gateway = 0) => (await leads(token, gateway)).status;

function expectRefused({ status, body, headers }: Reply<Record<string, unknown>>): void {
  const { request_id, ...rest } = body;
  expect(typeof request_id).toBe('string');
  expect(rest).toEqual({
    type: expect.any(String),
    title: 'The credential is not valid',
    status: 401,
    code: 'credential_invalid',
    detail: expect.stringContaining('The JSON Web Token does not let anybody in here'),
  });
  expect(status).toBe(401);
  expect(headers.get('www-authenticate')).toContain('Bearer');
}

describe('a member of a configured issuer', () => {
  test('comes in with a token of a real issuer, and has joined by that', async () => {
    const token = await tokenOfProvider();
    expectRefused(await leads(token, 1));
    const body = { email: 'grace@example.com', name: 'Grace', role: 'viewer' };
    expect((await rig.call('POST', '/members', { body })).status).toBe(201);
    expect(await statusOf(token)).toBe(200);
    const members = await rig.call<{ data: { email: string; status: string }[] }>(
      'GET',
      '/members?limit=100',
    );
    const grace = members.body.data.find(({ email }) => email === 'grace@example.com');
    expect(grace?.status).toBe('active');
    expect((await rig.call('POST', '/ingest', { token, body: {} })).status).toBe(403);
  });

  test('is who the log names, may choose an OU, and makes tokens of their own', async () => {
    const { id, email } = await invited('admin');
    const token = await tokenFor(email.toUpperCase());
    expect((await rig.call('POST', '/org-units', { token, body: { name: `Unit ${id}` } })).status).toBe(201);
    expect(await statusOf(token)).toBe(200);
    const set = await rig.call('POST', '/org-units/active', { token, body: { ouId } });
    expect(set).toMatchObject({ status: 200, body: { ouId } });
    for (const gateway of gateways)
      await eventually(
        'the OU is the active one',
        async () => (await statusOf(token, gateway)) === 200,
        10_000,
      );
    const made = await rig.call<{ member_id: string; token: string }>('POST', '/settings/tokens', {
      token,
      body: { name: 'Own' },
    });
    expect(made).toMatchObject({ status: 201, body: { member_id: id, role: 'editor' } });
    rig.scoringReplies(() => ({ outcome: 'rejected', code: 'duplicate_name', message: 'Taken.' }));
    await rig.call('POST', '/rulesets', { token, body: { name: 'Intent', score_type: 'engagement' } });
    expect(rig.commands.at(-1)).toMatchObject({
      headers: { actor: `member:${id}` },
      payload: { actor: { kind: 'member', id, name: 'Grace' } },
    });
  });

  test('has one limit and one role with all of their tokens; a demotion and a removal count within ten seconds', async () => {
    const { id, email } = await invited('editor');
    const [one, other] = [await tokenFor(email), await tokenFor(email, { claims: { jti: 'other' } })];
    const left = async (token: string) => Number((await leads(token)).headers.get('x-ratelimit-remaining'));
    const before = await left(one);
    expect(await left(other)).toBeLessThan(before);
    const ingest = async (gateway: number) =>
      (await rig.call('POST', '/ingest', { token: one, gateway, headers: { 'x-ou-id': ouId }, body: [] }))
        .status;
    for (const gateway of gateways) expect(await ingest(gateway)).toBe(400);
    expect((await rig.call('PATCH', `/members/${id}`, { body: { role: 'viewer' } })).status).toBe(200);
    for (const gateway of gateways)
      await eventually('the demotion counts', async () => (await ingest(gateway)) === 403, 10_000);
    expect((await rig.call('DELETE', `/members/${id}`)).status).toBe(204);
    for (const gateway of gateways)
      await eventually('the removal counts', async () => (await statusOf(one, gateway)) === 401, 10_000);
  }, 60_000);

  test('who was not invited is let in by an issuer that may make members, with its role; who was removed is not', async () => {
    const email = `${randomUUID()}@example.com`;
    expectRefused(await leads(await tokenFor(email)));
    const token = await tokenFor(email, { path: '/creating', claims: { email: 'else@example.com' } });
    const both = await Promise.all(gateways.map((gateway) => statusOf(token, gateway)));
    for (const status of both) expect([200, 400]).toContain(status);
    const members = await rig.call<{ data: { id: string; email: string; role: string }[] }>(
      'GET',
      '/members?limit=100',
    );
    const made = members.body.data.filter((one) => one.email === email);
    expect(made).toMatchObject([{ role: 'viewer', name: 'Somebody', status: 'active' }]);
    expect((await rig.call('DELETE', `/members/${made[0]?.id ?? ''}`)).status).toBe(204);
    await eventually('the removal counts', async () => (await statusOf(token)) === 401, 10_000);
    expectRefused(await leads(await tokenFor(email, { path: '/creating', claims: { jti: 'again' } })));
  }, 60_000);
});

describe('a token that is not valid is 401, and the answer says nothing about why', () => {
  let email: string;
  beforeAll(async () => {
    ({ email } = await invited());
    expect([200, 400]).toContain(await statusOf(await tokenFor(email)));
  });

  const own = () => keySets.get('/own')?.at(-1) as { pair: Pair; kid: string };
  test.each<[string, () => Promise<string>]>([
    [
      'alg none',
      () =>
        unsecured({
          iss: `${base}/own`,
          aud: audience,
          sub: email,
          email,
          email_verified: true,
          exp: seconds() + 60,
        }),
    ],
    [
      'HS256 with the public key as the secret',
      async () => {
        const secret = Buffer.from(await exportSPKI(own().pair.publicKey));
        return new SignJWT({
          iss: `${base}/own`,
          aud: audience,
          sub: email,
          email,
          email_verified: true,
          exp: seconds() + 60,
        })
          .setProtectedHeader({ alg: 'HS256', kid: own().kid })
          .sign(secret);
      },
    ],
    ['another key under the same kid', async () => tokenFor(email, { key: (await newPair()).privateKey })],
    [
      'the key of another issuer',
      () => tokenFor(email, { key: keySets.get('/creating')?.[0]?.pair.privateKey as Pair['privateKey'] }),
    ],
    [
      'an algorithm that is not configured',
      async () => {
        const { privateKey } = await generateKeyPair('PS256', { extractable: true });
        return tokenFor(email, { key: privateKey, header: { alg: 'PS256' } });
      },
    ],
    ['another audience', () => tokenFor(email, { claims: { aud: 'another-system' } })],
    ['another issuer', () => tokenFor(email, { claims: { iss: 'https://issuer.example.com' } })],
    ['the issuer with a slash', () => tokenFor(email, { claims: { iss: `${base}/own/` } })],
    ['expired', () => tokenFor(email, { claims: { exp: seconds() - 31 } })],
    ['without an end', () => tokenFor(email, { claims: { exp: undefined } as never })],
    ['not valid yet', () => tokenFor(email, { claims: { nbf: seconds() + 120 } })],
    [
      'an address that the issuer has not verified',
      () => tokenFor(email, { claims: { email_verified: false } }),
    ],
    ['a verified address as a text', () => tokenFor(email, { claims: { email_verified: 'true' } })],
    ['no address', () => tokenFor(email, { claims: { email: undefined } })],
    ['an address that is an object', () => tokenFor(email, { claims: { email: { $ne: null } } })],
    ['a kid that is a path', () => tokenFor(email, { header: { kid: '../../../etc/passwd' } })],
    ['a kid that is a URL', () => tokenFor(email, { header: { kid: `${base}/creating` } })],
    [
      'keys from where the token says',
      async () =>
        tokenFor(email, { key: (await newPair()).privateKey, header: { kid: 'x', jku: `${base}/creating` } }),
    ],
    ['an issuer whose keys are away', () => tokenFor(email, { path: '/away' })],
    ['an issuer that is too slow', () => tokenFor(email, { path: '/slow' })],
    ['an issuer that sends 10 MB', () => tokenFor(email, { path: '/large' })],
    ['nonsense in three parts', () => Promise.resolve('a.b.c')],
    ['a token that is cut off', async () => (await tokenFor(email)).slice(0, -10)],
    [
      'another payload under the signature',
      async () => {
        const [head, , signature] = (await tokenFor(email)).split('.');
        const [, payload] = (await tokenFor('root@example.com')).split('.');
        return [head, payload, signature].join('.');
      },
    ],
  ])(
    '%s',
    async (_title, make) => {
      expectRefused(await leads(await make()));
    },
    20_000,
  );

  test('a clock that differs by half a minute is tolerated, both ways', async () => {
    for (const claims of [{ exp: seconds() - 20 }, { nbf: seconds() + 20 }])
      expect([200, 400]).toContain(await statusOf(await tokenFor(email, { claims })));
  });
});

describe('the keys of an issuer', () => {
  test('many tokens with an unknown kid make the gateway ask the issuer once, and one that fails is left alone', async () => {
    const { email } = await invited();
    for (const path of ['/own', '/away'] as const) {
      await leads(await tokenFor(email, { path, header: { kid: 'unknown' } }));
      const before = fetches;
      const tokens = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          tokenFor(email, { path, header: { kid: `unknown ${String(n)}` } }),
        ),
      );
      const answers = await Promise.all(tokens.map((token) => statusOf(token)));
      expect(new Set(answers)).toEqual(new Set([401]));
      expect(fetches - before).toBeLessThanOrEqual(1);
    }
  });

  test('a new key counts once the time between two fetches is over, in a gateway that knew the old one', async () => {
    const rotated = await startRig({
      environment: {
        OIDC_ISSUERS: JSON.stringify([
          { issuer: `${base}/rotating`, audience, jwks_uri: `${base}/rotating`, create: { role: 'viewer' } },
        ]),
      },
    });
    try {
      const come = async () =>
        (
          await rotated.call('GET', '/leads', {
            token: await tokenFor('ada@example.com', { path: '/rotating' }),
          })
        ).status;
      const first = { pair: await newPair(), kid: 'first' };
      keySets.set('/rotating', [first]);
      expect(await come()).toBe(200);
      keySets.set('/rotating', [first, { pair: await newPair(), kid: 'second' }]);
      await eventually('the new key is known', async () => (await come()) === 200, 45_000);
    } finally {
      await rotated.stop();
    }
  }, 120_000);
});
