// People of a realm of Keycloak, as docs/sign-in.md sets it up. It takes minutes, and belongs to `npm run test:chaos`.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isFullSize } from '@lead-scoring/testing/full-size';
import { startKeycloak, type Keycloak } from '@lead-scoring/testing/keycloak';
import { eventually } from '@lead-scoring/testing/service-rig';
import { startRig, type Rig } from '../testing/rig.js';

const audience = 'lead-scoring';
const password = 'a password of this test';
const audienceMapper = {
  name: 'audience lead-scoring',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config: { 'included.custom.audience': audience, 'access.token.claim': 'true' },
};
const client = (clientId: string, more: object = {}) => ({
  clientId,
  publicClient: true,
  directAccessGrantsEnabled: true,
  protocolMappers: [audienceMapper],
  ...more,
});
const person = (username: string, emailVerified: boolean) => ({
  username,
  email: `${username}@example.com`,
  emailVerified,
  enabled: true,
  firstName: 'Grace',
  lastName: 'Hopper',
  credentials: [{ type: 'password', value: password, temporary: false }],
});
const realm = {
  realm: 'sales',
  enabled: true,
  sslRequired: 'none',
  clients: [
    client('people'),
    client('another-system', { protocolMappers: [] }),
    client('with-es256', { attributes: { 'access.token.signed.response.alg': 'ES256' } }),
    client('with-ps256', { attributes: { 'access.token.signed.response.alg': 'PS256' } }),
    client('soon-over', { attributes: { 'access.token.lifespan': '2' } }),
  ],
  users: [person('grace', true), person('unverified', false), person('uninvited', true)],
};

let keycloak: Keycloak;
let rig: Rig;

(isFullSize ? describe : describe.skip)('a person of a realm of Keycloak', () => {
  beforeAll(async () => {
    keycloak = await startKeycloak(realm);
    rig = await startRig({
      environment: {
        OIDC_ISSUERS: JSON.stringify([{ issuer: keycloak.issuer, audience, jwks_uri: keycloak.jwksUri }]),
      },
    });
    for (const name of ['grace', 'unverified']) {
      const body = { email: `${name}@example.com`, name: 'Grace', role: 'editor' };
      expect((await rig.call('POST', '/members', { body })).status).toBe(201);
    }
  }, 900_000);

  afterAll(async () => {
    await rig.stop();
    await keycloak.stop();
  }, 120_000);

  const tokenOf = (username: string, of = 'people') => keycloak.accessToken(of, { username, password });
  const statusOf = async (token: string) => (await rig.call('GET', '/leads', { token })).status;

  test('who was invited comes in with an access token, and has joined by that', async () => {
    expect(await statusOf(await tokenOf('grace'))).toBe(200);
    const { body } = await rig.call<{ data: { email: string; status: string }[] }>('GET', '/members');
    expect(body.data.find(({ email }) => email === 'grace@example.com')?.status).toBe('active');
  }, 60_000);

  test('comes in with a signature by ES256, and not by an algorithm that is not configured', async () => {
    // Keycloak makes these keys when they are first needed, and the gateway has fetched the others a moment ago.
    const token = await tokenOf('grace', 'with-es256');
    await eventually('the new key counts', async () => (await statusOf(token)) === 200, 60_000);
    expect(await statusOf(await tokenOf('grace', 'with-ps256'))).toBe(401);
  }, 120_000);

  test('is refused for another audience, with an unverified address, and without an invitation', async () => {
    expect(await statusOf(await tokenOf('grace', 'another-system'))).toBe(401);
    expect(await statusOf(await tokenOf('unverified'))).toBe(401);
    expect(await statusOf(await tokenOf('uninvited'))).toBe(401);
  }, 60_000);

  test('is refused once the token is over by half a minute', async () => {
    const token = await tokenOf('grace', 'soon-over');
    expect(await statusOf(token)).toBe(200);
    await eventually('the token is over', async () => (await statusOf(token)) === 401, 60_000);
  }, 90_000);

  test('comes in by a new key of the realm, and with a token of the earlier one', async () => {
    const earlier = await tokenOf('grace');
    for (const _ of ['first', 'second']) {
      await keycloak.rotateKey();
      const token = await tokenOf('grace');
      expect(headerOf(token).kid).not.toBe(headerOf(earlier).kid);
      await eventually('the new key counts', async () => (await statusOf(token)) === 200, 60_000);
    }
    expect(await statusOf(earlier)).toBe(200);
  }, 180_000);
});

function headerOf(token: string): { kid: string } {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string };
}
