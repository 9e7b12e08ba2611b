import { describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import {
  assertSignedBody,
  signInternal,
  verifyInternal,
  type InternalClaims,
} from './internal-authentication.js';
import { formatPositions, parsePositions } from './positions.js';

const secret = 's'.repeat(32);
const claims: InternalClaims = {
  ou_id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
  organisation_id: '1b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
  credential_id: '2b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
  actor: 'token:2b6f8a52',
  role: 'viewer',
  request_id: 'request-1',
};
const call = { method: 'GET', target: '/leads?limit=3' };
const refused = { status: 401, code: 'internal_authorization_invalid' };
const token = (change: (jwt: SignJWT) => SignJWT, key = secret) =>
  change(
    new SignJWT({ ...claims, ...call, body_hash: '' })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('lead-scoring-internal'),
  ).sign(new TextEncoder().encode(key));

describe('internal authentication', () => {
  test('who asks comes through unchanged', async () => {
    const verified = await verifyInternal(await signInternal(claims, call, secret), call, secret);
    expect(verified.claims).toEqual(claims);
    const withoutUnit: InternalClaims = { ...claims };
    delete withoutUnit.ou_id;
    const signed = await signInternal(withoutUnit, call, secret);
    expect((await verifyInternal(signed, call, secret)).claims).toEqual(withoutUnit);
  });

  test('anything else is refused: none, another secret, changed, expired, without an end, unsigned, other claims', async () => {
    const good = await signInternal(claims, call, secret);
    const [header = '', payload = '', signature = ''] = good.split('.');
    const now = Math.floor(Date.now() / 1_000);
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    for (const value of [
      undefined,
      '',
      'x',
      unsigned,
      `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      await signInternal(claims, call, 't'.repeat(32)),
      await token((jwt) => jwt.setIssuedAt(now - 120).setExpirationTime(now - 60)),
      await token((jwt) => jwt.setIssuedAt(now - 600).setExpirationTime(now + 600)),
      await token((jwt) => jwt.setIssuedAt()),
      await token((jwt) => jwt.setExpirationTime('60s')),
      await signInternal({ ...claims, role: 'owner' as 'admin' }, call, secret),
      await signInternal({ ...claims, ou_id: 'x' }, call, secret),
    ])
      await expect(verifyInternal(value, call, secret)).rejects.toMatchObject(refused);
  });
});

test('a token is for one method, one path with its query, and one body', async () => {
  const body = Buffer.from('{"from":"2026"}');
  const signed = await signInternal(claims, { ...call, method: 'POST', body }, secret);
  const verified = await verifyInternal(signed, { ...call, method: 'POST' }, secret);
  assertSignedBody(verified, body);
  expect(() => {
    assertSignedBody(verified, Buffer.from('{"from":"2025"}'));
  }).toThrow(expect.objectContaining(refused));
  for (const other of [
    call,
    { method: 'POST', target: '/leads?limit=4' },
    { method: 'POST', target: '/leads' },
  ])
    await expect(verifyInternal(signed, other, secret)).rejects.toMatchObject(refused);
});

describe('minimum positions', () => {
  test('come back as they went', () => {
    const positions = [
      { partition: 0, offset: 42n },
      { partition: 11, offset: 9_007_199_254_740_993n },
    ];
    expect(parsePositions(formatPositions(positions))).toEqual(positions);
    expect(parsePositions(formatPositions([]))).toEqual([]);
  });

  test('anything else is refused', () => {
    for (const text of ['x', '0', '0:', ':1', '0:1,', '-1:2', '0:1;1:2', '0:99999999999999999999', '99999:1'])
      expect(() => parsePositions(text)).toThrow(expect.objectContaining({ status: 400 }));
  });
});
