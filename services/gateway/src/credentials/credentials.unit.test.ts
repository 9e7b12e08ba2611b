// Credentials without a database: parsing the header, deriving secrets, caching look-ups, choosing the OU.
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { isWellFormedSecret, secretFrom, secretHashOf } from '@lead-scoring/contracts';
import { ReadModelError } from '@lead-scoring/read-model';
import { ProblemError } from '@lead-scoring/service';
import fc from 'fast-check';
import { createAuthenticator } from './authenticate.js';
import { authorizationOfWriteKey, presentedCredential } from './authorization-header.js';
import { deriveSecret } from './derived-secrets.js';
import type { CredentialDirectory, KnownServiceAccount, KnownToken } from './directory.js';
import { createFreshCache } from './fresh-cache.js';
import { chooseOrgUnit, namedOrgUnit } from './org-unit.js';

const secret = (prefix: 'lsp_' | 'lss_', n = 1) => secretFrom(prefix, new Uint8Array(32).fill(n));
const clientId = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('the header Authorization', () => {
  test('a token and a service account are read', () => {
    expect(presentedCredential(`bearer  ${secret('lsp_')}`)).toEqual({
      kind: 'token',
      secret: secret('lsp_'),
    });
    expect(presentedCredential(basic(`${clientId.toUpperCase()}:${secret('lss_')}`))).toEqual({
      kind: 'service_account',
      clientId,
      secret: secret('lss_'),
    });
  });

  test('a write key is a service account: client id and secret with a dot between them, as the user without a password', () => {
    const key = `${clientId}.${secret('lss_')}`;
    const account = { kind: 'service_account', clientId, secret: secret('lss_') };
    expect(presentedCredential(basic(`${key}:`))).toEqual(account);
    expect(presentedCredential(basic(key.toUpperCase()))).toMatchObject({ kind: 'none' });
    expect(presentedCredential(authorizationOfWriteKey(key))).toEqual(account);
    for (const wrong of [
      `${key}:x`,
      `${key}x:`,
      `.${key}:`,
      `${clientId}.:`,
      `${clientId}.${secret('lsp_')}:`,
    ])
      expect([wrong, presentedCredential(basic(wrong)).kind]).toEqual([wrong, 'none']);
  });

  test('a JSON Web Token is told by its form, of bounded length', () => {
    const token = `${'e'.repeat(40)}.${'y'.repeat(400)}.${'s'.repeat(80)}`;
    expect(presentedCredential(`Bearer ${token}`)).toEqual({ kind: 'json_web_token', token });
    for (const wrong of ['a.b', 'a..c', '.b.c', 'a.b.c.d', 'a.b.c=', `a.${'b'.repeat(12_001)}.c`])
      expect([wrong.length, presentedCredential(`Bearer ${wrong}`).kind]).toEqual([wrong.length, 'none']);
  });

  test('any text is handled, and only a right checksum is accepted', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `Bearer lsp_${text}`),
          fc.string().map(basic),
        ),
        (header) => {
          expect(presentedCredential(header)).toMatchObject({ kind: 'none' });
        },
      ),
    );
    const token = secret('lsp_');
    for (let at = 0; at < token.length; at += 1) {
      const changed = `${token.slice(0, at)}${token[at] === 'a' ? 'b' : 'a'}${token.slice(at + 1)}`;
      expect(presentedCredential(`Bearer ${changed}`)).toMatchObject({ kind: 'none' });
    }
  });

  test.each([
    ['a token without Bearer', secret('lsp_'), 'Write "Bearer " before the token'],
    ['a secret without Basic', secret('lss_'), 'HTTP Basic: the client id as the user'],
    ['a secret as Bearer', `Bearer ${secret('lss_')}`, 'HTTP Basic: the client id as the user'],
    ['a token that is cut off', `Bearer ${secret('lsp_').slice(0, -1)}`, 'mistyped or cut off'],
    ['something else as Bearer', 'Bearer eyJhbGciOi', 'begins with lsp_'],
    ['a token as the password', basic(`${clientId}:${secret('lsp_')}`), 'Bearer lsp_'],
    ['a token as the user', basic(`${secret('lsp_')}:`), 'Bearer lsp_'],
    ['a user that is no client id', basic(`ada:${secret('lss_')}`), 'client id (a UUID)'],
    ['a write key that is something else', basic('abc123:'), 'A write key is <client id>.<secret>'],
    ['a write key that is cut off', basic(`${clientId}.lss_1:`), 'mistyped or cut off'],
    ['a secret that is cut off', basic(`${clientId}:lss_1`), 'mistyped or cut off'],
    ['another scheme', 'Digest abc', 'no other'],
    ['nonsense', 'nonsense', 'must be "Bearer "'],
  ])('%s: the advice says what to change', (_title, header, expected) => {
    expect(presentedCredential(header)).toEqual({ kind: 'none', advice: expect.stringContaining(expected) });
  });
});

test('a derived secret is the same for the same command, and differs for any other command, kind or key', () => {
  const one = deriveSecret('lsp_', clientId, 'k'.repeat(32));
  expect(isWellFormedSecret('lsp_', one.secret)).toBe(true);
  expect(one.hash).toBe(secretHashOf(one.secret));
  expect(one.secret.endsWith(one.lastFour)).toBe(true);
  expect(deriveSecret('lsp_', clientId, 'k'.repeat(32))).toEqual(one);
  const others = [
    deriveSecret('lss_', clientId, 'k'.repeat(32)),
    deriveSecret('lsp_', clientId.replace('0', '1'), 'k'.repeat(32)),
    deriveSecret('lsp_', clientId, 'l'.repeat(32)),
  ];
  expect(new Set([one, ...others].map(({ secret: text }) => text.slice(4))).size).toBe(4);
});

describe('the cache of look-ups', () => {
  const away = new ReadModelError('database_unavailable', 'away', true);

  function cached(load: (key: string) => Promise<{ n: number } | null>) {
    const clock = { now: 0 };
    const cache = createFreshCache<{ n: number }>({
      load,
      maximumAgeMs: 3_000,
      staleMs: 300_000,
      maximumEntries: 10,
      now: () => clock.now,
    });
    return { cache, clock };
  }

  test('reads once in three seconds, and once for all requests at the same time', async () => {
    const load = jest.fn(() => Promise.resolve({ n: 1 }));
    const { cache, clock } = cached(load);
    await Promise.all([cache.get('a'), cache.get('a'), cache.get('a')]);
    clock.now = 3_000;
    await cache.get('a');
    expect(load).toHaveBeenCalledTimes(1);
    clock.now = 3_001;
    await cache.get('a');
    expect(load).toHaveBeenCalledTimes(2);
  });

  test('remembers for the same time that there is no value', async () => {
    const load = jest.fn(() => Promise.resolve(null));
    const { cache } = cached(load);
    expect(await cache.get('a')).toBeNull();
    expect(await cache.get('a')).toBeNull();
    expect(load).toHaveBeenCalledTimes(1);
  });

  test('answers a fresh request from a read that begins after the request', async () => {
    let n = 0;
    const finish: (() => void)[] = [];
    const { cache } = cached(() => {
      const value = { n: (n += 1) };
      return new Promise((resolve) => finish.push(() => resolve(value)));
    });
    const early = cache.get('a');
    const fresh = [cache.get('a', true), cache.get('a', true)];
    finish.shift()?.();
    expect(await early).toEqual({ n: 1 });
    await Promise.resolve();
    finish.shift()?.();
    expect(await Promise.all(fresh)).toEqual([{ n: 2 }, { n: 2 }]);
  });

  test('does not keep the result of a read that began before it was cleared', async () => {
    let n = 0;
    const finish: (() => void)[] = [];
    const { cache, clock } = cached(() => {
      const value = { n: (n += 1) };
      return new Promise((resolve) => finish.push(() => resolve(value)));
    });
    const early = cache.get('a');
    clock.now = 1;
    cache.clear();
    const late = cache.get('a');
    finish.shift()?.();
    await early;
    await Promise.resolve();
    finish.shift()?.();
    expect(await late).toEqual({ n: 2 });
    expect(await cache.get('a')).toEqual({ n: 2 });
  });

  test('reads anew after it was cleared, and uses the earlier value when the database is away', async () => {
    let answer: () => Promise<{ n: number }> = () => Promise.resolve({ n: 1 });
    const { cache, clock } = cached(() => answer());
    await cache.get('a');
    clock.now = 1;
    cache.clear();
    answer = () => Promise.reject(away);
    expect(await cache.get('a')).toEqual({ n: 1 });
    await expect(cache.get('b')).rejects.toBe(away);
    answer = () => Promise.resolve({ n: 2 });
    expect(await cache.get('a')).toEqual({ n: 2 });
    expect([cache.has('a'), cache.has('b')]).toEqual([true, false]);
  });

  test('uses a known value for five minutes while the database is away; without one it fails', async () => {
    let answer: () => Promise<{ n: number }> = () => Promise.resolve({ n: 1 });
    const { cache, clock } = cached(() => answer());
    await cache.get('a');
    answer = () => Promise.reject(away);
    clock.now = 10_000;
    expect(await cache.get('a')).toEqual({ n: 1 });
    await expect(cache.get('b')).rejects.toBe(away);
    clock.now = 299_000;
    expect(await cache.get('a')).toEqual({ n: 1 });
    clock.now = 300_001;
    await expect(cache.get('a')).rejects.toBe(away);
    answer = () => Promise.resolve({ n: 2 });
    clock.now = 302_000;
    expect(await cache.get('a')).toEqual({ n: 2 });
  });
});

describe('authentication', () => {
  const token = {
    kind: 'token',
    id: clientId,
    organisation_id: clientId,
    token_hash: secretHashOf(secret('lsp_')),
    role: 'editor',
    expires_at: '2026-01-01T00:00:00.000Z',
  } as KnownToken;
  const account = {
    kind: 'service_account',
    id: clientId,
    organisation_id: clientId,
    secret_hash: secretHashOf(secret('lss_', 2)),
    previous_secret: {
      secret_hash: secretHashOf(secret('lss_', 1)),
      valid_until: '2026-01-01T00:00:00.000Z',
    },
    scopes: ['ingest'],
  } as unknown as KnownServiceAccount;
  const directory: CredentialDirectory = {
    token: (hash) => Promise.resolve(hash === token.token_hash ? token : null),
    serviceAccount: (id) => Promise.resolve(id === account.id ? account : null),
    member: () => Promise.resolve(null),
    hasToken: () => false,
    ended: () => null,
    hasServiceAccount: () => false,
    orgUnitIds: () => Promise.resolve(new Set()),
    orgUnitEndedOnLog: () => false,
    orgUnitHasEnded: () => Promise.resolve(false),
    forget: () => undefined,
  };
  const uncharged = () => Promise.resolve(() => undefined);
  const codeAt = (time: string, header: string | undefined) =>
    createAuthenticator(directory, { clock: () => Date.parse(time) })
      .authenticate(header, uncharged)
      .then(
        () => 'in',
        (error: unknown) => (error instanceof ProblemError ? error.code : error),
      );

  test('a token expires at its time, not a millisecond before or after', async () => {
    const header = `Bearer ${secret('lsp_')}`;
    expect(await codeAt('2025-12-31T23:59:59.999Z', header)).toBe('in');
    expect(await codeAt('2026-01-01T00:00:00.000Z', header)).toBe('credential_expired');
  });

  test('the secret before a rotation is valid until its time, the new one for ever', async () => {
    const before = basic(`${clientId}:${secret('lss_', 1)}`);
    const now = basic(`${clientId}:${secret('lss_', 2)}`);
    expect(await codeAt('2025-12-31T23:59:59.999Z', before)).toBe('in');
    expect(await codeAt('2026-01-01T00:00:00.000Z', before)).toBe('credential_invalid');
    expect(await codeAt('2036-01-01T00:00:00.000Z', now)).toBe('in');
    expect(await codeAt('2026-01-01T00:00:00.000Z', basic(`${clientId}:${secret('lss_', 3)}`))).toBe(
      'credential_invalid',
    );
  });

  test('a wrong checksum is refused without a look-up', async () => {
    const asked = jest.fn((hash: string) => directory.token(hash));
    const authenticator = createAuthenticator({ ...directory, token: asked });
    await expect(authenticator.authenticate(`Bearer lsp_${'a'.repeat(36)}`, uncharged)).rejects.toMatchObject(
      {
        status: 401,
      },
    );
    expect(asked).not.toHaveBeenCalled();
  });

  test('an unknown credential is charged before the look-up; a valid one gets the charge back', async () => {
    const steps: string[] = [];
    const charge = () => {
      steps.push('charged');
      return Promise.resolve(() => steps.push('given back'));
    };
    const looked: CredentialDirectory = {
      ...directory,
      token: (hash) => {
        steps.push('looked up');
        return directory.token(hash);
      },
    };
    const authenticate = (n: number, known: boolean) =>
      createAuthenticator({ ...looked, hasToken: () => known }, { clock: () => 0 })
        .authenticate(`Bearer ${secret('lsp_', n)}`, charge)
        .catch(() => steps.push('refused'));
    await authenticate(1, false);
    expect(steps.splice(0)).toEqual(['charged', 'looked up', 'given back']);
    await authenticate(2, false);
    expect(steps.splice(0)).toEqual(['charged', 'looked up', 'refused']);
    await authenticate(1, true);
    expect(steps.splice(0)).toEqual(['looked up']);
    const limited = () => Promise.reject(new Error('limited'));
    await createAuthenticator(looked)
      .authenticate(`Bearer ${secret('lsp_', 3)}`, limited)
      .catch(() => steps.push('refused'));
    expect(steps).toEqual(['refused']);
  });
});

describe('the organizational unit of a request', () => {
  const [a, b] = [clientId, clientId.replace('0', '1')] as const;
  const choose = (ouIds: string[] | null, header?: string, active: string | null = null, all = [a, b]) =>
    chosen(ouIds, header, active, all).catch((error: unknown) =>
      error instanceof ProblemError ? error.code : error,
    );
  const chosen = (ouIds: string[] | null, header?: string, active: string | null = null, all = [a, b]) =>
    chooseOrgUnit({
      ouIds,
      header,
      organisationUnits: () => Promise.resolve(new Set(all)),
      hasEnded: (ouId) => endedOnLog.includes(ouId),
      knownActiveOuId: active,
      activeOuId: () => Promise.resolve(active),
    });
  let endedOnLog: string[] = [];
  afterEach(() => {
    endedOnLog = [];
  });

  test.each([
    ['the only one of the credential', choose([a]), a],
    ['the only one of the organisation', choose(null, undefined, null, [b]), b],
    ['the header wins over the active one', choose([a, b], b, a), b],
    ['the header in capital letters', choose([a, b], b.toUpperCase(), a), b],
    ['the active one', choose(null, undefined, b), b],
    ['none active', choose([a, b]), 'org_unit_not_selected'],
    [
      'an active one that is not allowed any more',
      choose([a, b], undefined, `2${a.slice(1)}`),
      'org_unit_not_selected',
    ],
    ['a header that is not allowed', choose([a], b), 'org_unit_not_allowed'],
    ['a header that is not an id', choose(null, 'nonsense'), 'org_unit_not_allowed'],
    ['an empty header', choose([a], ''), 'org_unit_not_allowed'],
  ])('%s', async (_title, chosen, expected) => {
    expect(await chosen).toBe(expected);
  });

  test('an active one that has ended is not replaced by the only other one', async () => {
    for (const ouIds of [null, [b]])
      expect(await choose(ouIds, undefined, a, [b])).toBe('org_unit_not_selected');
    expect(await choose(null, b, a, [b])).toBe(b);
  });

  test('one that has ended on the log is refused wherever it was named, although the last read still has it', async () => {
    endedOnLog = [a];
    for (const ouIds of [null, [a, b]]) {
      expect(await choose(ouIds, a)).toBe('org_unit_not_allowed');
      expect(await choose(ouIds, undefined, a)).toBe('org_unit_not_selected');
      expect(await choose(ouIds, undefined, null)).toBe('org_unit_not_selected');
      expect(await choose(ouIds, undefined, b)).toBe(b);
    }
    for (const ouIds of [null, [a]])
      expect(await choose(ouIds, undefined, null, [a])).toBe('org_unit_not_selected');
  });

  test('a refusal names the source of the OU: the header, the active one, or the path', async () => {
    await expect(chosen([a], b)).rejects.toThrow(`The header X-OU-Id names the organizational unit ${b}`);
    await expect(chosen([a], 'nonsense')).rejects.toThrow('The header X-OU-Id must be the id (a UUID)');
    const gone = `2${a.slice(1)}`;
    await expect(chosen([a, b], undefined, gone)).rejects.toThrow(
      `The active organizational unit of this credential, ${gone}`,
    );
    await expect(chosen([a, b])).rejects.toThrow('none is active');
  });

  test('one in the path that is not allowed is not found; one that was just created is', async () => {
    const choice = {
      ouIds: null,
      header: undefined,
      organisationUnits: (fresh: boolean) => Promise.resolve(new Set(fresh ? [a, b] : [a])),
      hasEnded: () => false,
      knownActiveOuId: null,
      activeOuId: () => Promise.resolve(null),
    };
    expect(await namedOrgUnit(choice, b)).toBe(b);
    await expect(namedOrgUnit({ ...choice, ouIds: [a] }, b)).rejects.toMatchObject({ status: 404 });
    await expect(namedOrgUnit({ ...choice, hasEnded: () => true }, a)).rejects.toMatchObject({
      status: 404,
    });
  });
});
