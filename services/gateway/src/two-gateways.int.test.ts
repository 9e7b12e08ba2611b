// Two gateways over one log and database: changes through one take effect in the other, and limits are shared.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/testing/service-rig';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig({ gateways: 2 });
}, 90_000);

afterAll(() => rig.stop(), 60_000);

const newToken = async (body: object) => {
  const made = await rig.call<{ id: string; token: string }>('POST', '/settings/tokens', {
    body: { name: 'Test', ...body },
  });
  expect(made.status).toBe(201);
  return made.body;
};

/** The buckets in RateLimit-Policy and RateLimit, by name. */
function rateLimitOf(headers: Headers): Partial<Record<string, Record<string, number>>> {
  const found: Record<string, Record<string, number>> = {};
  for (const name of ['ratelimit-policy', 'ratelimit'])
    for (const item of (headers.get(name) ?? '').split(', ')) {
      const policy = /^"(\w+)"/.exec(item)?.[1] ?? '';
      const bucket = (found[policy] ??= {});
      for (const [, key = '', value] of item.matchAll(/;(\w+)=(\d+)/g)) bucket[key] = Number(value);
    }
  return found;
}

describe('the rate limit', () => {
  test('is one bucket for both: exactly the burst is granted, the rest gets 429 with Retry-After', async () => {
    // The refill is so slow that it adds nothing while the test runs.
    const { token } = await newToken({ rate_limit: { per_minute: 1, burst: 40 } });
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, n) => rig.call('GET', '/leads', { token, gateway: n % 2 })),
    );
    const granted = replies.filter(({ status }) => status === 200);
    expect(granted).toHaveLength(40);
    const remaining = granted.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n));
    for (const { status, headers, body } of replies) {
      expect(headers.get('x-ratelimit-limit')).toBe('40');
      const parts = rateLimitOf(headers);
      expect(parts.credential).toMatchObject({ q: 40, w: 2_400 });
      expect(parts.credential?.r).toBe(Number(headers.get('x-ratelimit-remaining')));
      expect(parts.credential?.t).toBeLessThanOrEqual(2_400);
      const reset = Number(headers.get('x-ratelimit-reset')) - Date.now() / 1_000;
      expect(reset).toBeGreaterThan(0);
      expect(reset).toBeLessThan(40 * 60 + 5);
      if (status === 200) continue;
      expect(body).toMatchObject({ status: 429, code: 'rate_limited' });
      expect(headers.get('x-ratelimit-remaining')).toBe('0');
      const retryAfter = Number(headers.get('retry-after'));
      expect(retryAfter).toBeGreaterThan(30);
      expect(retryAfter).toBeLessThanOrEqual(61);
    }
  });

  test('a request after Retry-After is granted', async () => {
    const { token } = await newToken({ rate_limit: { per_minute: 60, burst: 1 } });
    expect((await rig.call('GET', '/leads', { token })).status).toBe(200);
    const refused = await rig.call('GET', '/leads', { token, gateway: 1 });
    expect(refused.status).toBe(429);
    const waitUntil = Date.now() + Number(refused.headers.get('retry-after')) * 1_000;
    await eventually('the time is over', () => Date.now() >= waitUntil);
    expect((await rig.call('GET', '/leads', { token })).status).toBe(200);
  });

  test('a bulk update counts as one request', async () => {
    rig.scoringReplies(() => ({ outcome: 'done', result: { updated_count: 0, updated_rules: [] } }));
    const { token } = await newToken({ rate_limit: { per_minute: 1, burst: 10 } });
    const units = await rig.call<{ data: { id: string }[] }>('GET', '/org-units', { token });
    const reply = await rig.call('PATCH', `/api/v1/ou/${units.body.data[0]?.id ?? ''}/scoring-rules/bulk`, {
      token,
      body: { rule_ids: Array.from({ length: 100 }, (_, n) => `rule ${String(n)}`), updates: {} },
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('x-ratelimit-remaining')).toBe('8');
  });
});

test('an organisation’s limit is exact over both gateways and all of its credentials', async () => {
  const organisation = await startRig({
    gateways: 2,
    environment: { ORGANISATION_RATE_LIMIT_PER_MINUTE: '1', ORGANISATION_RATE_LIMIT_BURST: '60' },
  });
  try {
    const tokens: (string | undefined)[] = [];
    for (const name of ['One', 'Two', 'Three'])
      tokens.push(
        (
          await organisation.call<{ token: string }>('POST', '/settings/tokens', {
            body: { name, role: 'viewer', rate_limit: { per_minute: 1, burst: 30 } },
          })
        ).body.token,
      );
    const replies = await Promise.all(
      Array.from({ length: 120 }, (_, n) =>
        organisation.call('GET', '/leads', { token: tokens[n % 3] ?? '', gateway: n % 2 }),
      ),
    );
    const granted = replies.filter(({ status }) => status === 200);
    // Three calls made the tokens; each token may send 30, so that only the organisation's bucket ends at 57.
    expect(granted).toHaveLength(57);
    for (const { status, headers, body } of replies) {
      if (status === 200) {
        expect(rateLimitOf(headers).organisation).toMatchObject({ q: 60, w: 3_600 });
        continue;
      }
      expect(body).toMatchObject({ status: 429, code: 'rate_limited' });
      expect(headers.get('x-ratelimit-remaining')).toBe('0');
    }
    const shared = replies.find(({ headers }) => rateLimitOf(headers).organisation?.r === 0);
    expect(shared?.headers.get('x-ratelimit-limit')).toBe('60');
  } finally {
    await organisation.stop();
  }
}, 90_000);

describe('limits that are changed', () => {
  const burstOf = async (token: string, gateway: number) =>
    (await rig.call('GET', '/leads', { token, gateway })).headers.get('x-ratelimit-limit');

  test('of a token and a service account count in the other gateway within ten seconds, and null is the standard limit', async () => {
    const { id, token } = await newToken({ role: 'viewer' });
    const standard = await burstOf(token, 1);
    const rate_limit = { per_minute: 7, burst: 9 };
    const changed = await rig.call('PATCH', `/settings/tokens/${id}`, { body: { rate_limit } });
    expect(changed).toMatchObject({ status: 200, body: { id, rate_limit } });
    await eventually('the limit counts', async () => (await burstOf(token, 1)) === '9', 10_000);
    const listed = await rig.call<{ data: { id: string }[] }>('GET', '/settings/tokens?limit=100', {
      gateway: 1,
    });
    expect(listed.body.data.find((one) => one.id === id)).toMatchObject({ rate_limit });
    const reset = await rig.call('PATCH', `/settings/tokens/${id}`, {
      body: { rate_limit: null },
      gateway: 1,
    });
    expect(reset).toMatchObject({ status: 200, body: { rate_limit: null } });
    await eventually('the standard limit counts', async () => (await burstOf(token, 0)) === standard, 10_000);
    const account = await rig.call<{ client_id: string }>('POST', '/secrets', { body: { name: 'Limited' } });
    const path = `/secrets/${account.body.client_id}`;
    expect(await rig.call('PATCH', path, { body: { rate_limit } })).toMatchObject({
      status: 200,
      body: { client_id: account.body.client_id, rate_limit },
    });
    const accounts = await rig.call<{ data: object[] }>('GET', '/secrets');
    expect(accounts.body.data).toContainEqual(expect.objectContaining({ name: 'Limited', rate_limit }));
    const less = await newToken({ role: 'admin', rate_limit: { per_minute: 6, burst: 50 } });
    const tooMuch = await rig.call('PATCH', path, { body: { rate_limit }, token: less.token });
    expect(tooMuch).toMatchObject({ status: 403, body: { code: 'rate_limit_not_allowed' } });
  });

  test('of the organisation count in the other gateway within ten seconds', async () => {
    const { token } = await newToken({ role: 'viewer' });
    const shared = async (gateway: number) =>
      rateLimitOf((await rig.call('GET', '/leads', { token, gateway })).headers).organisation?.q;
    const configured = { per_minute: 10_000_000, burst: 10_000_000 };
    const limits = await rig.call('GET', '/settings/limits');
    expect(limits.body).toEqual({
      rate_limit: null,
      effective_rate_limit: configured,
      quotas: null,
      warning_channel: null,
    });
    const rate_limit = { per_minute: 900, burst: 1_900 };
    const changed = await rig.call('PATCH', '/settings/limits', { body: { rate_limit } });
    expect(changed).toMatchObject({ status: 200, body: { rate_limit, effective_rate_limit: rate_limit } });
    await eventually('the limit counts', async () => (await shared(1)) === 1_900, 10_000);
    expect((await rig.call('PATCH', '/settings/limits', { body: { rate_limit: null } })).status).toBe(200);
    await eventually(
      'the configured limit counts',
      async () => (await shared(1)) === configured.burst,
      10_000,
    );
  });
});

test('a token that one gateway has ended is refused by the other within five seconds', async () => {
  const { id, token } = await newToken({});
  expect((await rig.call('GET', '/leads', { token, gateway: 1 })).status).toBe(200);
  expect((await rig.call('DELETE', `/settings/tokens/${id}`)).status).toBe(204);
  await eventually(
    'the token is refused',
    async () => (await rig.call('GET', '/leads', { token, gateway: 1 })).status === 401,
    5_000,
  );
});

test('the same Idempotency-Key takes effect once, whichever gateway it reaches', async () => {
  const before = rig.commands.length;
  rig.scoringReplies(() => ({ outcome: 'rejected', code: 'limit_reached', message: 'Too many.' }));
  const request = { headers: { 'idempotency-key': 'both' }, body: { name: 'A', score_type: 'engagement' } };
  const call = (gateway: number) => rig.call('POST', '/rulesets', { ...request, gateway });
  // A refusal is not stored: the same request may be sent again.
  expect((await call(0)).status).toBe(409);
  expect((await call(1)).status).toBe(409);
  const [first, second] = rig.commands.slice(before);
  expect(first?.headers.id).toBe(second?.headers.id);
  const tokens = await Promise.all(
    [0, 1, 0, 1].map(async (gateway) => {
      const key = { headers: { 'idempotency-key': 'token' }, body: { name: 'One' }, gateway };
      for (;;) {
        const reply = await rig.call<{ token: string }>('POST', '/settings/tokens', key);
        if (reply.status !== 409) return reply.body.token;
      }
    }),
  );
  expect(new Set(tokens).size).toBe(1);
  const listed = await rig.call<{ data: { name: string }[] }>('GET', '/settings/tokens?limit=100');
  expect(listed.body.data.filter(({ name }) => name === 'One')).toHaveLength(1);
});

// Last: from here on the caller has two OUs.
test('calls after the active OU is set use it, through either gateway', async () => {
  const made = await rig.call<{ id: string }>('POST', '/org-units', { body: { name: 'Second' } });
  const units = await rig.call<{ data: { id: string }[] }>('GET', '/org-units', { gateway: 1 });
  expect(units.body.data).toHaveLength(2);
  for (const [turn, unit] of units.body.data.concat(units.body.data).entries()) {
    const set = await rig.call('POST', '/org-units/active', { body: { ouId: unit.id }, gateway: turn % 2 });
    expect(set.status).toBe(200);
    const read = await rig.call('GET', '/leads', {
      gateway: (turn + 1) % 2,
      // The other gateway may know only one OU for three more seconds; naming the new one works at once.
      headers: turn === 0 ? { 'x-ou-id': made.body.id } : {},
    });
    expect(read.status).toBe(200);
    if (turn > 0)
      await eventually(
        'reads are of the active OU',
        async () => {
          await rig.call('GET', '/leads', { gateway: (turn + 1) % 2 });
          return rig.forwarded.at(-1)?.claims.ou_id === unit.id;
        },
        5_000,
      );
    else expect(rig.forwarded.at(-1)?.claims.ou_id).toBe(made.body.id);
  }
});

test('an OU that ended is refused by the other gateway within seconds, also while it is in use', async () => {
  const made = await rig.call<{ id: string }>('POST', '/org-units', { body: { name: 'Brief' } });
  const { id } = made.body;
  const headers = { 'x-ou-id': id };
  rig.ownerAnswers((_req, res) => {
    res.setHeader('Content-Type', 'application/json');
    res.end('{"data":[]}');
  });
  await eventually('both gateways know it', async () => {
    const answers = await Promise.all(
      [0, 1].map((gateway) => rig.call('GET', '/leads', { headers, gateway })),
    );
    return answers.every(({ status }) => status === 200);
  });
  expect((await rig.call('DELETE', `/org-units/${id}`, { gateway: 0 })).status).toBe(204);
  await eventually(
    'the other gateway refuses it',
    async () => (await rig.call('GET', '/leads', { headers, gateway: 1 })).status === 403,
    10_000,
  );
});
