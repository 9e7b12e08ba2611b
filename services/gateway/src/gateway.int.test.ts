// The gateway over HTTP, on real Kafka, registry and MongoDB: the answers of each kind of route, by caller.
import type { ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodePosition, problem, routeDeclarations, routes, type records } from '@lead-scoring/contracts';
import { requestRebuild } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { startRig, type Reply, type Rig } from './testing/rig.js';

let rig: Rig;
let ouId: string;

beforeAll(async () => {
  rig = await startRig();
  const units = await rig.call<{ data: { id: string }[] }>('GET', '/org-units');
  ouId = units.body.data[0]?.id ?? '';
}, 60_000);

afterAll(() => rig.stop(), 60_000);

const event = (more: object = {}) => ({
  alias_kind: 'email',
  alias: 'ada@example.com',
  event_type: 'Page View',
  ...more,
});

function expectProblem(reply: Reply, status: number, code: string): void {
  expect({ status: reply.status, body: reply.body }).toMatchObject({ status, body: { status, code } });
  expect(problem.safeParse(reply.body).error?.issues ?? []).toEqual([]);
}

describe('authentication', () => {
  test.each([
    ['nothing', {}],
    ['a token with a wrong checksum', { authorization: `Bearer lsp_${'a'.repeat(36)}` }],
    ['an unknown scheme', { authorization: 'Digest abc' }],
    ['Basic without a colon', { authorization: `Basic ${Buffer.from('abc').toString('base64')}` }],
    ['an empty Bearer', { authorization: 'Bearer ' }],
  ])('%s gets 401, which names the schemes', async (_title, headers) => {
    const reply = await rig.call('GET', '/leads', { token: null, headers });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toMatch(/Bearer.*Basic/);
    expect(reply.headers.get('x-ratelimit-limit')).toBe('1000000');
  });

  test('a token works until it is ended', async () => {
    const made = await rig.call<{ id: string; token: string; last_four: string }>(
      'POST',
      '/settings/tokens',
      {
        body: { name: 'Short-lived', role: 'viewer' },
      },
    );
    expect(made.status).toBe(201);
    expect(routeDeclarations.createToken.responses[201].schema.safeParse(made.body).success).toBe(true);
    const { id, token } = made.body;
    expect((await rig.call('GET', '/leads', { token })).status).toBe(200);
    expectProblem(await rig.call('POST', '/ingest', { token, body: event() }), 403, 'role_not_allowed');
    expect((await rig.call('DELETE', `/settings/tokens/${id}`)).status).toBe(204);
    expectProblem(await rig.call('GET', '/leads', { token }), 401, 'credential_invalid');
    expectProblem(await rig.call('DELETE', `/settings/tokens/${id}`), 404, 'token_not_found');
  });

  test('a service account works with both secrets after a rotation, within its scopes', async () => {
    const made = await rig.call<{ client_id: string; client_secret: string }>('POST', '/secrets', {
      body: { name: 'Pipeline', scopes: ['ingest'] },
    });
    expect(made.status).toBe(201);
    const basic = (id: string, secret: string) => ({
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
    });
    const first = basic(made.body.client_id, made.body.client_secret);
    const send = (headers: Record<string, string>) =>
      rig.call('POST', '/ingest', { token: null, headers, body: event() });
    expect((await send(first)).status).toBe(202);
    expectProblem(await rig.call('GET', '/leads', { token: null, headers: first }), 403, 'scope_not_allowed');
    const rotated = await rig.call<{ client_secret: string }>(
      'POST',
      `/secrets/${made.body.client_id}/rotate`,
    );
    expect(rotated.status).toBe(200);
    expect(rotated.body.client_secret).not.toBe(made.body.client_secret);
    expect((await send(first)).status).toBe(202);
    expect((await send(basic(made.body.client_id, rotated.body.client_secret))).status).toBe(202);
    expect((await rig.call('DELETE', `/secrets/${made.body.client_id}`)).status).toBe(204);
    expectProblem(await send(first), 401, 'credential_invalid');
  });

  test('the lists show credentials without secrets, and when each was last used', async () => {
    const tokens = await rig.call('GET', '/settings/tokens?limit=100');
    expect(routes.listTokens.responses[200].schema.safeParse(tokens.body).error).toBeUndefined();
    expect(JSON.stringify(tokens.body)).not.toMatch(/lsp_[0-9A-Za-z]{36}|[0-9a-f]{64}/);
    const accounts = await rig.call('GET', '/secrets');
    expect(routes.listServiceAccounts.responses[200].schema.safeParse(accounts.body).error).toBeUndefined();
  });
});

describe('intake', () => {
  test('202 has the position of the events in the log, and each event is there once', async () => {
    const reply = await rig.call<{ accepted: number; batch_id: string; position: string }>(
      'POST',
      '/ingest',
      {
        body: { events: Array.from({ length: 50 }, (_, n) => event({ alias: `n${String(n)}@example.com` })) },
      },
    );
    expect(reply.status).toBe(202);
    expect(routes.ingest.responses[202].schema.safeParse(reply.body).error).toBeUndefined();
    expect(decodePosition(reply.body.position)?.size).toBe(3);
    const written = (await rig.ingested()).filter(({ payload }) => payload.batch_id === reply.body.batch_id);
    expect(written).toHaveLength(3);
    expect(written.flatMap(({ payload }) => payload.events)).toHaveLength(50);
    for (const { payload, partition, headers } of written) {
      expect(payload).toMatchObject({ ou_id: ouId, source: 'ingest', fire_triggers: true });
      expect(headers).toMatchObject({ ou: ouId, 'correlation-id': reply.headers.get('x-request-id') });
      for (const { lead_id } of payload.events) expect(rig.log.partitionOf(lead_id)).toBe(partition);
    }
  });

  test.each([
    ['NDJSON', 'application/x-ndjson', `${JSON.stringify(event())}\n\n${JSON.stringify(event())}\n`],
    ['gzip', 'application/json', gzipSync(JSON.stringify([event(), event()]))],
  ])('%s is accepted', async (title, type, body) => {
    const reply = await rig.call('POST', '/ingest', {
      body,
      headers: { 'content-type': type, ...(title === 'gzip' && { 'content-encoding': 'gzip' }) },
    });
    expect(reply).toMatchObject({ status: 202, body: { accepted: 2 } });
  });

  test('import accepts CSV, and answers with its job', async () => {
    const reply = await rig.call('POST', '/import', {
      headers: { 'content-type': 'text/csv' },
      body: 'alias_kind,alias,event_type,timestamp,metadata.path\nemail,ada@example.com,Page View,2020-01-01T00:00:00Z,"/a,""b"""\n',
    });
    expect(reply).toMatchObject({ status: 202, body: { accepted: 1 } });
    expect(reply.body.job_id).toBe(`ingest-${String(reply.body.batch_id)}`);
    const [written] = (await rig.ingested()).filter(
      ({ payload }) => payload.batch_id === reply.body.batch_id,
    );
    expect(written?.payload).toMatchObject({
      source: 'import',
      fire_triggers: false,
      events: [{ metadata: { path: '/a,"b"' }, timestamp: '2020-01-01T00:00:00.000Z' }],
    });
  });

  test('one invalid event: no event is accepted, and the answer has its index and the reason', async () => {
    const before = (await rig.ingested()).length;
    const reply = await rig.call<{ errors: { path: string }[] }>('POST', '/ingest', {
      body: [event(), event({ alias: 'no address' })],
    });
    expectProblem(reply, 400, 'invalid_request');
    expect(reply.body.errors[0]?.path).toBe('body.events[1].alias');
    expect(await rig.ingested()).toHaveLength(before);
  });

  test('partial=true accepts the valid events, which may be none', async () => {
    const body = [event(), event({ alias: 'no address' })];
    const reply = await rig.call('POST', '/ingest?partial=true', { body });
    expect(reply).toMatchObject({ status: 202, body: { accepted: 1, rejected: [{ index: 1 }] } });
    const none = await rig.call('POST', '/ingest?partial=true', { body: body.slice(1) });
    expect(none).toMatchObject({ status: 202, body: { accepted: 0, rejected: [{ index: 0 }] } });
    expect(none.body).not.toHaveProperty('position');
  });

  const json = { 'content-type': 'application/json' };
  test.each([
    ['no JSON', 400, '{', json],
    ['nothing', 400, '', json],
    ['a number', 400, '17', json],
    ['an empty array', 400, '[]', json],
    ['5,001 events', 400, JSON.stringify(Array(5_001).fill(event())), json],
    ['invalid UTF-8', 400, Buffer.from([0x7b, 0xff, 0x7d]), json],
    ['200,000 levels', 400, '['.repeat(200_000) + ']'.repeat(200_000), json],
    ['invalid gzip', 400, '[]', { ...json, 'content-encoding': 'gzip' }],
    ['a gzip bomb', 413, gzipSync(Buffer.alloc(50_000_000, ' ')), { ...json, 'content-encoding': 'gzip' }],
    ['11 MB', 413, ' '.repeat(11_000_000), json],
    ['another media type', 415, '[]', { 'content-type': 'text/plain' }],
    ['CSV that is for import only', 415, 'a', { 'content-type': 'text/csv' }],
  ] as const)('%s is %i', async (_title, status, body, headers) => {
    const reply = await rig.call('POST', '/ingest', { body, headers });
    expect(reply.status).toBe(status);
    expect(problem.safeParse(reply.body).error?.issues ?? []).toEqual([]);
  });

  test('a parameter that is not declared is 400', async () => {
    expectProblem(await rig.call('POST', '/ingest?surplus=1', { body: event() }), 400, 'invalid_request');
  });

  test('the same Idempotency-Key and body get the first answer again; another body is 422', async () => {
    const headers = { 'idempotency-key': 'intake-1' };
    const body = [event(), event({ alias: 'b@example.com' })];
    const first = await rig.call('POST', '/ingest', { headers, body });
    const second = await rig.call('POST', '/ingest', { headers, body });
    expect(second).toMatchObject({ status: 202, body: first.body });
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    const written = (await rig.ingested()).filter(({ payload }) => payload.batch_id === first.body.batch_id);
    expect(written.flatMap(({ payload }) => payload.events)).toHaveLength(2);
    expect(written.every(({ payload }) => payload.events.every(({ may_repeat }) => may_repeat))).toBe(true);
    expectProblem(
      await rig.call('POST', '/ingest', { headers, body: [event()] }),
      422,
      'idempotency_key_reused',
    );
  });
});

describe('commands', () => {
  const ruleset = { name: 'Intent', score_type: 'engagement' };

  test('a command reaches its owner with ids, actor and request id, and its result is the answer', async () => {
    rig.scoringReplies(({ payload }) => ({
      outcome: 'done',
      result: {
        id: (payload as { ruleset_id: string }).ruleset_id,
        name: 'Intent',
        score_type: 'engagement',
        active: true,
        is_default: false,
        version: 1,
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: '2026-01-01T00:00:00.000Z',
      },
    }));
    const headers = { 'x-request-id': 'my-request' };
    const reply = await rig.call('POST', '/rulesets', { body: ruleset, headers });
    expect(reply.status).toBe(201);
    expect(reply.headers.get('x-request-id')).toBe('my-request');
    const command = rig.commands.at(-1);
    expect(command).toMatchObject({
      type: 'CreateRuleset',
      key: ouId,
      payload: { ou_id: ouId, name: 'Intent', active: true },
      headers: { ou: ouId, actor: expect.stringMatching(/^token:/), id: reply.body.id },
    });
    expect(command?.headers['correlation-id']).toMatch(/^my-request:/);
  });

  test('the same key takes effect once, also when sent twice at once; after a refusal the request may be corrected', async () => {
    const before = rig.commands.length;
    const headers = { 'idempotency-key': 'ruleset-1' };
    const replies = await Promise.all(
      [1, 2, 3].map(() => rig.call('POST', '/rulesets', { body: ruleset, headers })),
    );
    expect(replies.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    for (const reply of replies) expect([201, 409]).toContain(reply.status);
    expect(rig.commands.length - before).toBe(1);
    const again = await rig.call('POST', '/rulesets', { body: ruleset, headers });
    expect(again.status).toBe(201);
    expect(rig.commands.length - before).toBe(1);
    expectProblem(
      await rig.call('POST', '/rulesets', { body: { ...ruleset, name: 'Other' }, headers }),
      422,
      'idempotency_key_reused',
    );
    const wrong = { 'idempotency-key': 'ruleset-2' };
    expect((await rig.call('POST', '/rulesets', { body: { name: 'x' }, headers: wrong })).status).toBe(400);
    expect((await rig.call('POST', '/rulesets', { body: ruleset, headers: wrong })).status).toBe(201);
  });

  test('a rejection has the status of its code', async () => {
    rig.scoringReplies(() => ({ outcome: 'rejected', code: 'duplicate_name', message: 'Taken.' }));
    expectProblem(await rig.call('POST', '/rulesets', { body: ruleset }), 409, 'duplicate_name');
  });

  test('a merge of accounts is looked up in scoring first, and goes to the OU with both accounts and what it moves', async () => {
    const [id, target_id] = [randomUUID(), randomUUID()];
    const plan = {
      source: { account_id: id, account_kind: 'domain', account_key: 'acme.com' },
      target: { account_id: target_id, account_kind: 'named', account_key: 'Crm-17' },
      leads_reassigned: 3,
      deals_reassigned: 1,
    };
    rig.ownerAnswers((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(plan));
    });
    const result = { leads_reassigned: 3, deals_reassigned: 1 };
    rig.scoringReplies(() => ({ outcome: 'done', result }));
    const merge = () =>
      rig.call('POST', `/accounts/${id.toUpperCase()}/merge`, {
        body: { target_id: target_id.toUpperCase() },
      });
    expect(await merge()).toMatchObject({ status: 200, body: result });
    expect(rig.forwarded.at(-1)?.url).toBe(`/internal/account-merge/${id}?target_id=${target_id}`);
    expect(rig.commands.at(-1)).toMatchObject({
      type: 'MergeAccounts',
      key: ouId,
      payload: { ou_id: ouId, ...plan },
    });
    rig.scoringReplies(() => ({ outcome: 'rejected', code: 'already_merged', message: 'Merged.' }));
    expectProblem(await merge(), 409, 'already_merged');
    const before = rig.commands.length;
    rig.ownerAnswers((req, res) => {
      const missing = { type: 'x', title: 'x', status: 404, detail: 'None.', code: 'account_not_found' };
      const body = { ...missing, request_id: req.headers['x-request-id'] };
      res.writeHead(404, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    });
    expectProblem(await merge(), 404, 'account_not_found');
    expect(rig.commands).toHaveLength(before);
  });

  test('the document of an earlier configuration is looked up in scoring, and goes to the OU as the document to apply', async () => {
    const earlier = {
      engagement_rulesets: [],
      engagement_levels: [],
      decays: [],
      profile_mappings: [],
      profile_rulesets: [],
      profile_levels: [],
      account_rulesets: [],
      account_roll_up: null,
      account_levels: [],
      deal_rulesets: [],
      grid: null,
      filters: [],
    };
    rig.ownerAnswers((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(earlier));
    });
    const result = { dry_run: false, version: 9, total: 0, sections: [], changes: [] };
    rig.scoringReplies(() => ({ outcome: 'done', result }));
    const headers = { 'if-match': '"9"' };
    const restore = () =>
      rig.call('POST', '/scoring/configuration/restore', { body: { version: 7 }, headers });
    expect(await restore()).toMatchObject({ status: 200, body: result });
    expect(rig.forwarded.at(-1)?.url).toBe('/scoring/configuration?version=7');
    expect(rig.commands.at(-1)).toMatchObject({
      type: 'ApplyConfiguration',
      key: ouId,
      payload: { ou_id: ouId, configuration: earlier, dry_run: false, expected_version: 9 },
    });
  });

  test('a command that its owner cannot decide on becomes a dead letter, and its caller gets an answer at once', async () => {
    rig.scoringReplies(() => {
      throw new Error('the inside of the service');
    });
    const answer = await rig.call<{ detail: string }>('POST', '/rulesets', { body: ruleset });
    expectProblem(answer, 500, 'command_parked');
    expect(answer.body.detail).toMatch(
      /kept in scoring\.dead-letters .*scoring\.commands, partition \d+, offset \d+/,
    );
    expect(answer.body.detail).not.toContain('the inside');
  });

  test('a secret that is shown once is shown again for the same key, and is not stored', async () => {
    const request = { body: { name: 'Repeated' }, headers: { 'idempotency-key': 'token-1' } };
    const first = await rig.call('POST', '/settings/tokens', request);
    const second = await rig.call('POST', '/settings/tokens', request);
    expect(first.status).toBe(201);
    expect(second).toMatchObject({ status: 201, body: first.body });
  });

  test.each([
    ['rule_ids is no array', 400, { rule_ids: 'a', updates: {} }, 'invalid_request'],
    ['updates is missing', 400, { rule_ids: [] }, 'invalid_request'],
    ['501 ids', 400, { rule_ids: Array(501).fill('a'), updates: {} }, 'invalid_request'],
    [
      'a field that is not allowed',
      422,
      { rule_ids: [], updates: { active: true, weight: 3 } },
      'field_not_allowed',
    ],
    ['__proto__', 422, '{"rule_ids":[],"updates":{"__proto__":{"active":true}}}', 'field_not_allowed'],
  ])('bulk: %s is %i, of every kind of rules', async (_title, status, body, code) => {
    for (const kind of ['scoring', 'profile', 'account']) {
      const reply = await rig.call('PATCH', `/api/v1/ou/${ouId}/${kind}-rules/bulk`, {
        body,
        headers: { 'content-type': 'application/json' },
      });
      expectProblem(reply, status, code);
    }
  });

  test('bulk: the ids and the change go to the owner; an OU that is not the caller’s is 404', async () => {
    rig.scoringReplies(() => ({ outcome: 'done', result: { updated_count: 0, updated_rules: [] } }));
    for (const [kind, type] of [
      ['scoring', 'SetRulesActive'],
      ['profile', 'SetProfileRulesActive'],
      ['account', 'SetAccountRulesActive'],
    ] as const) {
      const bulk = (unit: string) =>
        rig.call('PATCH', `/api/v1/ou/${unit}/${kind}-rules/bulk`, {
          body: { rule_ids: ['a', 'a'], updates: {} },
        });
      expect(await bulk(ouId)).toMatchObject({ status: 200, body: { updated_count: 0 } });
      expect(rig.commands.at(-1)).toMatchObject({ type, payload: { ou_id: ouId, rule_ids: ['a', 'a'] } });
      expectProblem(await bulk('0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e'), 404, 'org_unit_not_found');
    }
  });
});

describe('levels', () => {
  const put = (levels: unknown) => rig.call('PUT', '/engagement-scoring/levels', { body: { levels } });
  const hot = { name: 'Hot', min_score: 50, max_score: null, color: '#e8590c' };

  test('the list goes to the owner, with null for omitted bounds', async () => {
    const answered = { levels: [{ ...hot, id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e' }] };
    rig.scoringReplies(() => ({ outcome: 'done', result: answered }));
    expect(await put([{ name: 'Hot', min_score: 50, color: '#e8590c' }])).toMatchObject({
      status: 200,
      body: answered,
    });
    expect(rig.commands.at(-1)).toMatchObject({
      type: 'SetEngagementLevels',
      key: ouId,
      payload: { ou_id: ouId, levels: [hot] },
    });
  });

  test('an invalid list does not reach the owner, overlapping levels get 409', async () => {
    const before = rig.commands.length;
    for (const levels of ['Hot', [{}], [{ ...hot, max_score: 49 }], Array(21).fill(hot)])
      expectProblem(await put(levels), 400, 'invalid_request');
    expect(rig.commands).toHaveLength(before);
    rig.scoringReplies(() => ({ outcome: 'rejected', code: 'levels_overlap', message: 'Both take 5.' }));
    expectProblem(await put([hot, hot]), 409, 'levels_overlap');
  });
});

describe('notification channels', () => {
  const webhook = {
    name: 'Receiver',
    type: 'webhook',
    config: { url: 'https://example.com/services/T0/hook-secret', auth_header: 'Bearer of the receiver' },
  };
  const answered = {
    id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
    unit_id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
    name: 'Receiver',
    type: 'webhook',
    config: { url: 'https://example.com/…cret', auth_header: '…iver' },
    status: 'active',
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  };
  const answer = () => {
    rig.notificationReplies(() => ({ outcome: 'done', result: answered }));
  };

  test('secrets reach the log sealed, and the signing secret is shown once, and again for the same key', async () => {
    answer();
    const request = { body: webhook, headers: { 'idempotency-key': 'channel-1' } };
    const first = await rig.call('POST', '/notification-channels', request);
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/=]{40,}$/),
    });
    expect((await rig.call('POST', '/notification-channels', request)).body).toEqual(first.body);
    const command = rig.commands.at(-1);
    expect(command).toMatchObject({
      type: 'CreateChannel',
      key: ouId,
      payload: {
        ou_id: ouId,
        name: 'Receiver',
        destination: {
          type: 'webhook',
          config: {
            url: { origin: 'https://example.com', last_four: 'cret' },
            auth_header: { last_four: 'iver' },
          },
        },
      },
    });
    const written = JSON.stringify(command?.payload);
    expect(written).not.toContain('Bearer of');
    expect(written).not.toContain('hook-secret');
    expect(written).not.toContain('whsec_');
  });

  test('a secret sent in its shown form keeps the stored one; a channel that does not sign shows no secret', async () => {
    answer();
    const channelId = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
    const config = { url: 'https://example.com/…cret', auth_header: '…iver' };
    await rig.call('PUT', `/notification-channels/${channelId}`, { body: { ...webhook, config } });
    expect(rig.commands.at(-1)?.payload).toMatchObject({
      channel_id: channelId,
      destination: {
        config: {
          url: { kept: true, origin: 'https://example.com', last_four: 'cret' },
          auth_header: { kept: true, last_four: 'iver' },
        },
      },
    });
    const email = {
      name: 'Team',
      type: 'email',
      config: { recipients: 'ada@example.com,grace@example.com' },
    };
    const shown = {
      ...answered,
      name: 'Team',
      type: 'email',
      config: { recipients: 'ada@example.com, grace@example.com' },
    };
    rig.notificationReplies(() => ({ outcome: 'done', result: shown }));
    expect((await rig.call('POST', '/notification-channels', { body: email })).body).toEqual(shown);
    expect(rig.commands.at(-1)?.payload).toMatchObject({
      destination: { config: { recipients: 'ada@example.com, grace@example.com' } },
    });
  });

  test.each<[string, object]>([
    ['a type of its own', { ...webhook, type: 'pigeon' }],
    ['no name', { ...webhook, name: ' ' }],
    ['the config of another type', { ...webhook, type: 'email' }],
    ['an unknown field', { ...webhook, config: { ...webhook.config, secret: 'x' } }],
    ['an address that is not a URL', { ...webhook, config: { url: 'https://' } }],
    ['an address of another scheme', { ...webhook, config: { url: 'ftp://example.com' } }],
    ['a header of two lines', { ...webhook, config: { ...webhook.config, auth_header: 'a\r\nx: y' } }],
    ['no recipient', { name: 'x', type: 'email', config: { recipients: ' ' } }],
    ['a recipient of two lines', { name: 'x', type: 'email', config: { recipients: 'a@b.c\r\nbcc: d@e.f' } }],
    [
      'a prefix of two lines',
      { name: 'x', type: 'email', config: { recipients: 'a@b.c', subject_prefix: 'a\r\nbcc: d@e.f' } },
    ],
    ['a recipient with a name', { name: 'x', type: 'email', config: { recipients: 'Ada <a@b.c>' } }],
    [
      '51 recipients',
      { name: 'x', type: 'email', config: { recipients: Array(51).fill('ada@example.com').join(',') } },
    ],
  ])('%s gets 400, and nothing is written', async (_title, body) => {
    const before = rig.commands.length;
    expectProblem(await rig.call('POST', '/notification-channels', { body }), 400, 'invalid_request');
    expect(rig.commands).toHaveLength(before);
  });
});

describe('triggers', () => {
  const written = async (path: string, body: object) => {
    rig.notificationReplies(() => ({ outcome: 'rejected', code: 'limit_reached', message: 'Full.' }));
    expectProblem(await rig.call('POST', path, { body }), 409, 'limit_reached');
    return (rig.commands.at(-1)?.payload as records.CreateTrigger | undefined)?.definition;
  };

  test('reach their owner with defaults for omitted fields', async () => {
    expect(await written('/triggers', { name: 'Hot', score_threshold: 50 })).toEqual({
      kind: 'milestone',
      name: 'Hot',
      score_threshold: 50,
      score_type: 'engagement',
      direction: 'up',
      rearm: { cooldown_seconds: 0 },
      channel_ids: [],
      active: true,
    });
    expect(await written('/triggers', { name: 'Hot', level: ' Hot ', rearm: { below: 9 } })).toEqual({
      kind: 'milestone',
      name: 'Hot',
      level: 'Hot',
      score_type: 'engagement',
      direction: 'up',
      rearm: { below: 9, cooldown_seconds: 0 },
      channel_ids: [],
      active: true,
    });
    const ofAccount = { name: 'Hot account', score_type: 'account', score_threshold: 50 };
    expect(await written('/triggers', ofAccount)).toEqual({
      kind: 'milestone',
      ...ofAccount,
      direction: 'up',
      rearm: { cooldown_seconds: 0 },
      channel_ids: [],
      active: true,
    });
    expect(
      await written('/sequences', { name: 'Trial', event_types: ['A', 'B'], window_seconds: 60 }),
    ).toEqual({
      kind: 'sequence',
      name: 'Trial',
      steps: ['A', 'B'].map((event_type) => ({ event_type, attribute_filters: [] })),
      ordered: false,
      window_seconds: 60,
      cooldown_seconds: 0,
      channel_ids: [],
      active: true,
    });
    expect(await written('/surge-triggers', { name: 'Surge', threshold: 30, window_seconds: 60 })).toEqual({
      kind: 'surge',
      name: 'Surge',
      event_type: null,
      score_type: 'engagement',
      threshold: 30,
      window_seconds: 60,
      cooldown_seconds: 60,
      channel_ids: [],
      active: true,
    });
  });

  test.each<[string, string, object]>([
    ['above for direction up', '/triggers', { score_threshold: 50, rearm: { above: 60 } }],
    [
      'below for direction down',
      '/triggers',
      { score_threshold: 50, direction: 'down', rearm: { below: 40 } },
    ],
    ['a re-arming above the threshold', '/triggers', { score_threshold: 50, rearm: { below: 51 } }],
    ['a threshold and a level', '/triggers', { score_threshold: 50, level: 'Hot' }],
    ['neither a threshold nor a level', '/triggers', {}],
    ['a level without a name', '/triggers', { level: ' ' }],
    ['an unknown score type', '/triggers', { score_threshold: 50, score_type: 'company' }],
    [
      'an event type for deal scores',
      '/triggers',
      { score_threshold: 50, score_type: 'deal', event_type: 'Page View' },
    ],
    ['a level of deal scores', '/triggers', { level: 'Hot', score_type: 'deal' }],
    [
      'an event type for profile scores',
      '/triggers',
      { score_threshold: 50, score_type: 'profile', event_type: 'Page View' },
    ],
    [
      'an event type for account scores',
      '/triggers',
      { score_threshold: 50, score_type: 'account', event_type: 'Page View' },
    ],
    ['a level of account scores', '/triggers', { level: 'Hot', score_type: 'account' }],
    [
      'a filter of leads for account scores',
      '/triggers',
      { score_threshold: 50, score_type: 'account', filter_id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e' },
    ],
    [
      'a surge of account scores',
      '/surge-triggers',
      { threshold: 5, window_seconds: 60, score_type: 'account' },
    ],
    ['a filter that is no id', '/triggers', { score_threshold: 50, filter_id: 'hot' }],
    [
      'a surge of profile scores',
      '/surge-triggers',
      { threshold: 5, window_seconds: 60, score_type: 'profile' },
    ],
    ['one step', '/sequences', { event_types: ['A'], window_seconds: 60 }],
    [
      'steps and event types',
      '/sequences',
      { event_types: ['A', 'B'], steps: [{ event_type: 'A' }, { event_type: 'B' }], window_seconds: 60 },
    ],
    ['neither steps nor event types', '/sequences', { window_seconds: 60 }],
    ['no window', '/sequences', { event_types: ['A', 'B'], window_seconds: 0 }],
    ['a threshold of nothing', '/surge-triggers', { threshold: 0, window_seconds: 60 }],
  ])('%s is 400', async (_title, path, body) => {
    const before = rig.commands.length;
    expectProblem(await rig.call('POST', path, { body: { name: 'x', ...body } }), 400, 'invalid_request');
    expect(rig.commands).toHaveLength(before);
  });

  test('a query that is a POST is forwarded with its validated body', async () => {
    const path = '/triggers/0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e/simulate';
    rig.ownerAnswers((_req, res) => {
      res.setHeader('Content-Type', 'application/json').end('{"data":[]}');
    });
    const body = { from: '2026-01-01' };
    expect(await rig.call('POST', path, { body })).toMatchObject({ status: 200, body: { data: [] } });
    expect(rig.forwarded.at(-1)).toMatchObject({ method: 'POST', url: path, body: JSON.stringify(body) });
    const before = rig.forwarded.length;
    expectProblem(await rig.call('POST', path, { body: { from: 'yesterday' } }), 400, 'invalid_request');
    expectProblem(
      await rig.call('POST', path, { body: 'x', headers: { 'content-type': 'text/plain' } }),
      415,
      'unsupported_media_type',
    );
    expect(rig.forwarded).toHaveLength(before);
  });
});

describe('a notification that is sent back as an event', () => {
  test.each(['/ingest', '/import'])(
    'is refused at %s before its body is read, and no event is accepted',
    async (path) => {
      const before = (await rig.ingested()).length;
      const headers = { 'lead-scoring-delivery': '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e' };
      expectProblem(
        await rig.call('POST', path, { body: { type: 'channel.test' }, headers }),
        508,
        'delivery_loop',
      );
      expectProblem(await rig.call('POST', path, { body: [event()], headers }), 508, 'delivery_loop');
      expect(await rig.ingested()).toHaveLength(before);
    },
  );
});

describe('reads', () => {
  test('are forwarded with the caller’s claims, and the answer is passed on unchanged', async () => {
    rig.ownerAnswers((_req, res) => {
      res.setHeader('Content-Type', 'application/json');
      res.end('{"data":[]}');
    });
    const reply = await rig.call('GET', '/leads?limit=5&q=a%20b', { headers: { 'x-request-id': 'read-1' } });
    expect(reply).toMatchObject({ status: 200, body: { data: [] } });
    expect(rig.forwarded.at(-1)).toMatchObject({
      url: '/leads?limit=5&q=a%20b',
      claims: { ou_id: ouId, role: 'admin', request_id: 'read-1' },
    });
    expect(rig.forwarded.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  test('a series of the leads of a filter: scoring names the leads, as of min_position, and ingest counts their events', async () => {
    const filter = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
    const leads = ['0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0f'];
    const refusal = { type: 'x', title: 'x', status: 404, detail: 'None.', code: 'filter_not_found' };
    let isFound = true;
    rig.ownerAnswers((req, res) => {
      res.setHeader('Content-Type', 'application/json');
      if (req.url.startsWith('/internal/visible')) res.end('{"positions":"0:7"}');
      else if (req.url.startsWith('/internal/matching-leads') && !isFound)
        res.writeHead(404).end(JSON.stringify({ ...refusal, request_id: req.headers['x-request-id'] }));
      else if (req.url.startsWith('/internal/matching-leads')) res.end(JSON.stringify({ leads }));
      else res.end('{"total":1}');
    });
    const query = `granularity=day&filter_id=${filter}&min_position=0-5`;
    const ask = () => rig.call('GET', `/events-analytics?${query}`, { headers: { accept: 'image/svg+xml' } });
    expect(await ask()).toMatchObject({ status: 200, body: { total: 1 } });
    expect(rig.forwarded.slice(-3)).toMatchObject([
      { url: '/internal/visible?position=0-5' },
      {
        url: `/internal/matching-leads?filter_id=${filter}`,
        headers: { 'x-min-positions': '0:7' },
        claims: { ou_id: ouId },
      },
      {
        method: 'POST',
        url: `/internal/events-analytics?${query}`,
        body: JSON.stringify({ leads }),
        headers: { accept: 'image/svg+xml' },
        claims: { ou_id: ouId },
      },
    ]);
    isFound = false;
    expectProblem(await ask(), 404, 'filter_not_found');
    expect(rig.forwarded.at(-1)?.url).toContain('/internal/matching-leads');
  });

  test('min_position is first awaited in ingest; the resulting positions of ingest.events go to scoring', async () => {
    rig.ownerAnswers((req, res) => {
      res.setHeader('Content-Type', 'application/json');
      res.end(req.url.startsWith('/internal/visible') ? '{"positions":"0:7,2:9"}' : '{"data":[]}');
    });
    expect((await rig.call('GET', '/leads?min_position=0-5_2-3')).status).toBe(200);
    expect(rig.forwarded.at(-2)?.url).toBe('/internal/visible?position=0-5_2-3');
    expect(rig.forwarded.at(-1)?.headers['x-min-positions']).toBe('0:7,2:9');
    expectProblem(await rig.call('GET', '/leads?min_position=nonsense'), 400, 'invalid_request');
    expectProblem(await rig.call('GET', '/leads?min_position=0-5_0-6'), 400, 'position_unknown');
  });

  test('an owner’s problem is passed on; its refusal of the gateway is not', async () => {
    rig.ownerAnswers((_req, res) => {
      res.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '3' }).end('{"code":"x"}');
    });
    const away = await rig.call('GET', '/leads');
    expect(away).toMatchObject({ status: 503, body: { code: 'x' } });
    expect(away.headers.get('retry-after')).toBe('3');
    rig.ownerAnswers((_req, res) => {
      res.writeHead(401).end();
    });
    expectProblem(await rig.call('GET', '/leads'), 500, 'internal_error');
    rig.ownerAnswers((_req, res) => {
      res.destroy();
    });
    const broken = await rig.call('GET', '/leads');
    expectProblem(broken, 503, 'service_unavailable');
    expect(broken.headers.get('retry-after')).toBeTruthy();
  });

  test('jobs are listed by every service that runs jobs, and those that do not answer are named; the whole fails when none does, or one refuses', async () => {
    const job = {
      id: 'notification-0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
      kind: 'redelivery',
      status: 'running',
      total: 3,
      done: 1,
      failed: 0,
      rate: 1,
      eta: null,
      started_at: '2026-01-31T09:30:00.000Z',
      ended_at: null,
    };
    const later = {
      ...job,
      id: 'scoring-0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
      kind: 'what-if',
      started_at: '2026-01-31T09:31:00.000Z',
    };
    const own = {
      ...job,
      id: 'ingest-0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
      kind: 'import',
      started_at: '2026-01-31T09:29:00.000Z',
    };
    const ofServices = [own, job, later];
    rig.ownerAnswers((_req, res) => {
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ data: [ofServices.shift()], total: 1, page: 1, limit: 26 }));
    });
    const reply = await rig.call('GET', '/jobs?status=running');
    expect(reply).toMatchObject({
      status: 200,
      body: { data: [later, job, own], total: 3, page: 1, limit: 25 },
    });
    for (const forwarded of rig.forwarded.slice(-3))
      expect(forwarded).toMatchObject({ url: '/jobs?limit=26&status=running', claims: { ou_id: ouId } });
    rig.ownerAnswers((_req, res) => {
      res.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '3' }).end('{"code":"x"}');
    });
    const away = await rig.call('GET', '/jobs');
    expectProblem(away, 503, 'service_unavailable');
    expect(away.headers.get('retry-after')).toBeTruthy();
    for (const fail of [
      (res: ServerResponse) => res.writeHead(500).end(),
      (res: ServerResponse) => res.destroy(),
    ]) {
      let asked = 0;
      rig.ownerAnswers((_req, res) => {
        asked += 1;
        // A question whose connection breaks is sent a second time, as the fourth.
        if (asked === 2 || asked === 4) return void fail(res);
        res.setHeader('Content-Type', 'application/json');
        res.end(JSON.stringify({ data: [], total: 0, page: 1, limit: 26 }));
      });
      const partial = await rig.call<{ unavailable: string[] }>('GET', '/jobs');
      expect(partial).toMatchObject({ status: 200, body: { data: [], total: 0 } });
      expect(partial.body.unavailable).toHaveLength(1);
    }
    rig.ownerAnswers((_req, res) => {
      res.writeHead(404, { 'Content-Type': 'application/json' }).end('{"code":"org_unit_ended"}');
    });
    expect(await rig.call('GET', '/jobs')).toMatchObject({ status: 404, body: { code: 'org_unit_ended' } });
    expectProblem(await rig.call('GET', '/jobs?status=queued'), 400, 'invalid_request');
    expectProblem(await rig.call('GET', '/jobs', { token: null }), 401, 'credential_missing');
  });

  test('an invalid request does not reach the owner', async () => {
    const before = rig.forwarded.length;
    expectProblem(await rig.call('GET', '/leads?limit=101'), 400, 'invalid_request');
    expectProblem(await rig.call('GET', '/score/not-a-uuid'), 400, 'invalid_request');
    expect(rig.forwarded).toHaveLength(before);
  });
});

describe('paths and methods', () => {
  test.each([
    ['GET', '/nothing', 404],
    ['GET', '/metrics', 404],
    ['GET', '/internal/visible', 404],
    ['GET', '/Leads', 404],
    ['GET', '/leads/', 404],
    ['DELETE', '/leads', 405],
    ['GET', '/ingest', 405],
    ['GET', '/leads/%zz', 400],
  ])('%s %s is %i', async (method, path, status) => {
    const reply = await rig.call(method, path);
    expect(reply.status).toBe(status);
    expect(problem.safeParse(reply.body).error?.issues ?? []).toEqual([]);
  });

  test.each(['/', '/openapi.json', '/asyncapi.json', '/docs', '/healthz', '/readyz'])(
    '%s needs no credential',
    async (path) => {
      const reply = await rig.call('GET', path, { token: null });
      expect(reply.status).toBe(200);
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
      expect(reply.headers.get('x-powered-by')).toBeNull();
    },
  );

  test('a browser that asks for the host alone gets the documentation', async () => {
    const [root, page] = await Promise.all(
      ['/', '/docs'].map((path) => rig.call('GET', path, { token: null })),
    );
    expect(root?.headers.get('content-type')).toMatch(/^text\/html/);
    expect(root?.body).toBe(page?.body);
    expect(root?.body).toContain('href="openapi.json"');
  });

  test('problems are application/problem+json for requests that accept it', async () => {
    const reply = await rig.call('GET', '/nothing', { headers: { accept: 'application/problem+json' } });
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });
});

test('a rebuild from the log gives the same documents, and credentials work again', async () => {
  const before = await rig.identityDocuments();
  expect(before.tokens?.length).toBeGreaterThan(2);
  expect(before.service_accounts?.length).toBeGreaterThan(0);
  await requestRebuild(rig.log, 'gateway');
  await eventually('the rebuild is done', async () => (await rig.liveEdition()) === 1);
  expect(await rig.identityDocuments()).toEqual(before);
  expect((await rig.call('GET', '/org-units')).status).toBe(200);
}, 30_000);

// Last: from here on the caller has two OUs.
describe('organizational units', () => {
  test('a second one leaves every active one; with several, the header may name another; names are unique', async () => {
    rig.ownerAnswers((_req, res) => {
      res.setHeader('Content-Type', 'application/json');
      res.end('{"data":[]}');
    });
    const made = await rig.call('POST', '/org-units', { body: { name: 'Second' } });
    expect(made.status).toBe(201);
    expectProblem(await rig.call('POST', '/org-units', { body: { name: 'second' } }), 409, 'duplicate_name');
    expect((await rig.call('GET', '/leads')).status).toBe(200);
    expect(rig.forwarded.at(-1)?.claims.ou_id).toBe(ouId);
    const several = await rig.call<{ token: string }>('POST', '/settings/tokens', {
      body: { name: 'Of several', role: 'viewer', ou_ids: [ouId, made.body.id] },
    });
    expectProblem(
      await rig.call('GET', '/leads', { token: several.body.token }),
      400,
      'org_unit_not_selected',
    );
    const second = made.body.id as string;
    expect((await rig.call('GET', '/leads', { headers: { 'x-ou-id': second } })).status).toBe(200);
    expect(rig.forwarded.at(-1)?.claims.ou_id).toBe(second);
    for (const wrong of ['0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e', 'nonsense'])
      expectProblem(
        await rig.call('GET', '/leads', { headers: { 'x-ou-id': wrong } }),
        403,
        'org_unit_not_allowed',
      );
    expect(await rig.call('POST', '/org-units/active', { body: { ouId: second } })).toMatchObject({
      status: 200,
      body: { ouId: second, name: 'Second' },
    });
    expect((await rig.call('GET', '/leads')).status).toBe(200);
    expect(rig.forwarded.at(-1)?.claims.ou_id).toBe(second);
    expectProblem(
      await rig.call('POST', '/org-units/active', {
        body: { ouId: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e' },
      }),
      404,
      'org_unit_not_found',
    );
    const units = await rig.call<{ data: { id: string; active: boolean }[] }>('GET', '/org-units');
    expect(units.body.data.filter(({ active }) => active).map(({ id }) => id)).toEqual([second]);
  });

  test('an administrator of one OU that creates another may use it, and stays active in the first', async () => {
    const { token } = (
      await rig.call<{ token: string }>('POST', '/settings/tokens', {
        body: { name: 'Of the first', role: 'admin', ou_ids: [ouId] },
      })
    ).body;
    const made = await rig.call<{ id: string }>('POST', '/org-units', { token, body: { name: 'Third' } });
    expect(made.status).toBe(201);
    const listed = await rig.call<{ data: { id: string; active: boolean }[] }>('GET', '/org-units', {
      token,
    });
    expect(listed.body.data.map(({ id, active }) => ({ id, active }))).toEqual([
      { id: ouId, active: true },
      { id: made.body.id, active: false },
    ]);
    expect((await rig.call('GET', '/leads', { token })).status).toBe(200);
    expect(rig.forwarded.at(-1)?.claims.ou_id).toBe(ouId);
    const headers = { 'x-ou-id': made.body.id };
    expect((await rig.call('GET', '/leads', { token, headers })).status).toBe(200);
  });

  test('a token is for the active OU unless others are named, and may use no other', async () => {
    const made = await rig.call<{ token: string; ou_ids: string[] }>('POST', '/settings/tokens', {
      body: { name: 'Of one', role: 'admin', ou_ids: [ouId] },
    });
    const { token } = made.body;
    expect((await rig.call('GET', '/leads', { token })).status).toBe(200);
    expect(rig.forwarded.at(-1)?.claims.ou_id).toBe(ouId);
    const listed = await rig.call<{ data: { ou_ids: string[] }[] }>('GET', '/settings/tokens', { token });
    expect(listed.body.data.every(({ ou_ids }) => ou_ids.join() === ouId)).toBe(true);
    const all = await rig.call<{ data: { id: string; name: string }[] }>('GET', '/settings/tokens');
    const bootstrap = all.body.data.find(({ name }) => name === 'Bootstrap');
    expectProblem(
      await rig.call('DELETE', `/settings/tokens/${bootstrap?.id ?? ''}`, { token }),
      404,
      'token_not_found',
    );
  });

  test('a renamed one shows its new name, and the old one is free', async () => {
    const { body } = await rig.call<{ id: string }>('POST', '/org-units', { body: { name: 'Old' } });
    const renamed = await rig.call('PATCH', `/org-units/${body.id}`, { body: { name: 'New' } });
    expect(renamed).toMatchObject({ status: 200, body: { id: body.id, name: 'New', active: false } });
    expect(routes.renameOrgUnit.responses[200].schema.safeParse(renamed.body).error).toBeUndefined();
    expectProblem(await rig.call('POST', '/org-units', { body: { name: 'new' } }), 409, 'duplicate_name');
    expectProblem(
      await rig.call('PATCH', `/org-units/${body.id}`, { body: { name: 'Second' } }),
      409,
      'duplicate_name',
    );
    expectProblem(
      await rig.call('PATCH', '/org-units/0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e', { body: { name: 'X' } }),
      404,
      'org_unit_not_found',
    );
    expectProblem(
      await rig.call('PATCH', `/org-units/${body.id}`, { body: { name: '' } }),
      400,
      'invalid_request',
    );
    expect((await rig.call('POST', '/org-units', { body: { name: 'Old' } })).status).toBe(201);
  });

  test('one that has ended accepts and shows nothing, ends credentials of it alone, and frees its name', async () => {
    const { id } = (await rig.call<{ id: string }>('POST', '/org-units', { body: { name: 'Brief' } })).body;
    const token = async (name: string, more: object) =>
      (await rig.call<{ token: string }>('POST', '/settings/tokens', { body: { name, ...more } })).body.token;
    const only = await token('Of Brief', { role: 'admin', ou_ids: [id] });
    const several = await token('Of Brief and the first', { role: 'admin', ou_ids: [id, ouId] });
    const active = { body: { ouId: id } };
    expect((await rig.call('POST', '/org-units/active', { ...active, token: several })).status).toBe(200);
    expect((await rig.call('POST', '/ingest', { token: several, body: event() })).status).toBe(202);
    const shared = { ou: id };
    rig.ownerAnswers((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json', 'x-answer-ou-id': shared.ou }).end('{}');
    });
    const link = () => rig.call('GET', '/public/score-explain/lsh_abc', { token: null });
    expect((await link()).status).toBe(200);
    expect((await link()).headers.get('x-answer-ou-id')).toBeNull();

    expectProblem(await rig.call('DELETE', `/org-units/${id}`, { token: only }), 409, 'last_org_unit');
    const headers = { 'idempotency-key': 'end-of-brief' };
    for (let n = 0; n < 2; n += 1)
      expect((await rig.call('DELETE', `/org-units/${id}`, { token: several, headers })).status).toBe(204);
    expectProblem(await rig.call('DELETE', `/org-units/${id}`), 404, 'org_unit_not_found');

    const before = (await rig.ingested()).length;
    const refused = await rig.call<{ detail: string }>('POST', '/ingest', { token: several, body: event() });
    expectProblem(refused, 400, 'org_unit_not_selected');
    expect(refused.body.detail).toContain('has ended');
    expectProblem(await rig.call('GET', '/leads', { token: several }), 400, 'org_unit_not_selected');
    expectProblem(
      await rig.call('POST', '/ingest', { body: event(), headers: { 'x-ou-id': id } }),
      403,
      'org_unit_not_allowed',
    );
    expectProblem(
      await rig.call('PATCH', `/api/v1/ou/${id}/scoring-rules/bulk`, {
        body: { rule_ids: [], updates: { active: true } },
      }),
      404,
      'org_unit_not_found',
    );
    expectProblem(await rig.call('POST', '/org-units/active', active), 404, 'org_unit_not_found');
    expectProblem(
      await rig.call('PATCH', `/org-units/${id}`, { body: { name: 'X' } }),
      404,
      'org_unit_not_found',
    );
    expectProblem(
      await rig.call('POST', '/settings/tokens', { body: { name: 'Late', ou_ids: [id] } }),
      404,
      'org_unit_not_found',
    );
    expectProblem(await rig.call('GET', '/leads', { token: only }), 401, 'credential_invalid');
    expect(await rig.ingested()).toHaveLength(before);
    expectProblem(await link(), 404, 'share_not_found');
    shared.ou = ouId;
    expect((await link()).status).toBe(200);

    const listed = await rig.call<{ data: { id: string; active: boolean }[] }>('GET', '/org-units', {
      token: several,
    });
    expect(listed.body.data).toMatchObject([{ id: ouId, active: false }]);
    const chosen = { body: { ouId }, token: several };
    expect((await rig.call('POST', '/org-units/active', chosen)).status).toBe(200);
    expect((await rig.call('POST', '/ingest', { token: several, body: event() })).status).toBe(202);
    const again = await rig.call<{ id: string }>('POST', '/org-units', { body: { name: 'Brief' } });
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(id);
  });
});
