// Reads that need no credential: forwarded without a caller, limited by address, private whatever the answer is, and with errors as
// HTML pages where a page was requested.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startRig, type Reply, type Rig } from './testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ environment: { RATE_LIMIT_PER_MINUTE: '1', RATE_LIMIT_BURST: '12' } });
}, 60_000);
afterAll(() => rig.stop(), 60_000);

const anybody = { token: null };
const browser = { token: null, headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

function expectKeptPrivate({ headers }: Reply): void {
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
}

describe('in this order, until the address has no request left', () => {
  test('the owner learns that the gateway lets the request in, and no caller', async () => {
    const reply = await rig.call('GET', '/public/score-explain/lsh_abc', {
      token: null,
      headers: { authorization: 'Bearer not even a token' },
    });
    expect(reply.status).toBe(200);
    expectKeptPrivate(reply);
    expect(rig.forwarded.at(-1)).toMatchObject({
      url: '/public/score-explain/lsh_abc',
      claims: { actor: 'public', role: 'viewer' },
    });
    expect(rig.forwarded.at(-1)?.claims).not.toHaveProperty('ou_id');
    expect(rig.forwarded.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  test('the owner’s page has the content security policy of the owner', async () => {
    rig.ownerAnswers((_req, res) => {
      res.writeHead(410, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': "default-src 'none'; style-src 'sha256-x'",
        'Cache-Control': 'public',
      });
      res.end('<h1>Over</h1>');
    });
    const reply = await rig.call('GET', '/share/lsh_abc', browser);
    expect(reply).toMatchObject({ status: 410, body: '<h1>Over</h1>' });
    expect(reply.headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'sha256-x'");
    expectKeptPrivate(reply);
  });

  test('while the owner is away, a browser gets 503 as a page', async () => {
    rig.ownerAnswers((_req, res) => {
      res.destroy();
    });
    const json = await rig.call('GET', '/public/score-explain/lsh_abc', anybody);
    expect(json).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expectKeptPrivate(json);
    const page = await rig.call<string>('GET', '/share/lsh_abc', browser);
    expect(page.status).toBe(503);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('retry-after')).toBeTruthy();
    expect(page.body).toMatch(/<h1>.*<\/h1>/);
    expectKeptPrivate(page);
    const program = await rig.call('GET', '/share/lsh_abc', {
      token: null,
      headers: { accept: 'application/json' },
    });
    expect(program).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
  });

  test('requests above the limit of an address get 429 as a page, and do not reach the owner', async () => {
    let reply = await rig.call('GET', '/public/score-explain/lsh_abc', anybody);
    for (let n = 0; n < 12 && reply.status !== 429; n += 1)
      reply = await rig.call('GET', '/public/score-explain/lsh_abc', anybody);
    expect(reply).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expectKeptPrivate(reply);
    const reached = rig.forwarded.length;
    const page = await rig.call<string>('GET', '/share/lsh_abc', browser);
    expect(page.status).toBe(429);
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'; style-src 'sha256-/);
    expect(page.body).not.toMatch(/<script/);
    expectKeptPrivate(page);
    expect(rig.forwarded).toHaveLength(reached);
  });
});
