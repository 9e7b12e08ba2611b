// Members over HTTP, on real servers: two gateways of one organisation and a third of another one. Invitations, the tokens of members,
// what a demotion and a removal do in every gateway, and the answers to credentials that are not valid.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { problem, routes, secretFrom } from '@lead-scoring/contracts';
import { requestRebuild } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/testing/service-rig';
import { startRig, type CallOptions, type Reply, type Rig } from './testing/rig.js';

let rig: Rig;
let ouId: string;
const otherOrganisation = secretFrom('lsp_', randomBytes(32));
const gateways = [0, 1];
const ofOther = 2;

beforeAll(async () => {
  rig = await startRig({
    gateways: 3,
    environmentOf: (gateway): Record<string, string> =>
      gateway === ofOther ? { BOOTSTRAP_ORGANISATION: 'Another', BOOTSTRAP_TOKEN: otherOrganisation } : {},
  });
  const units = await rig.call<{ data: { id: string }[] }>('GET', '/org-units');
  ouId = units.body.data[0]?.id ?? '';
}, 120_000);

afterAll(() => rig.stop(), 60_000);

function expectProblem(reply: Reply, status: number, code: string): void {
  expect({ status: reply.status, body: reply.body }).toMatchObject({ status, body: { status, code } });
  expect(problem.safeParse(reply.body).error?.issues ?? []).toEqual([]);
}

interface Invited {
  id: string;
  email: string;
  status: string;
  invitation_url: string;
}

const invite = (more: object = {}, options: CallOptions = {}) =>
  rig.call<Invited>('POST', '/members', {
    ...options,
    body: { email: `${randomUUID()}@example.com`, name: 'Ada', role: 'editor', ...more },
  });
const linkOf = ({ invitation_url }: Invited) => new URL(invitation_url).pathname;
const accept = (link: string, headers = {}) =>
  rig.call<{ token: string; member_id: string }>('POST', link, { token: null, headers });

async function newMember(more: object = {}): Promise<{ id: string; token: string }> {
  const invited = await invite(more);
  expect(invited.status).toBe(201);
  const joined = await accept(linkOf(invited.body));
  expect(joined.status).toBe(201);
  return { id: invited.body.id, token: joined.body.token };
}

const event = { alias_kind: 'email', alias: 'ada@example.com', event_type: 'Page View' };
const ingest = async (token: string, gateway: number) =>
  (await rig.call('POST', '/ingest', { token, body: event, gateway })).status;

describe('invitations', () => {
  test('a link shows what it is for, gives one token, and is then worth nothing', async () => {
    const invited = await invite({ email: '  Ada.Lovelace@Example.com ', role: 'viewer' });
    expect(invited.status).toBe(201);
    expect(routes.addMember.responses[201].schema.safeParse(invited.body).error).toBeUndefined();
    expect(invited.body).toMatchObject({ email: 'ada.lovelace@example.com', status: 'invited' });
    expect(invited.body.invitation_url).toMatch(/^https:\/\/app\.example\.com\/invitations\/lsi_\w{36}$/);
    const link = linkOf(invited.body);
    for (const turn of [1, 2]) {
      const shown = await rig.call('GET', link, { token: null, gateway: turn - 1 });
      expect(shown).toMatchObject({
        status: 200,
        body: { organisation: 'Example', email: 'ada.lovelace@example.com', name: 'Ada', role: 'viewer' },
      });
    }
    const joined = await accept(link);
    expect(joined.status).toBe(201);
    expect(routes.acceptInvitation.responses[201].schema.safeParse(joined.body).error).toBeUndefined();
    expect((await rig.call('GET', '/leads', { token: joined.body.token })).status).toBe(200);
    expectProblem(await accept(link), 404, 'invitation_not_found');
    expectProblem(await rig.call('GET', link, { token: null }), 404, 'invitation_not_found');
    expectProblem(await invite({ email: 'ada.lovelace@example.com' }), 409, 'duplicate_email');
  });

  test('two who use a link at once: one gets a token', async () => {
    const link = linkOf((await invite()).body);
    const answers = await Promise.all([1, 2, 3, 4].map(() => accept(link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404]);
  });

  test('a browser gets pages: one with a button, which changes nothing, and one with the token', async () => {
    const link = linkOf((await invite({ name: '<b>Ada</b>' })).body);
    const page = { accept: 'text/html,application/xhtml+xml' };
    const shown = await rig.call<string>('GET', link, { token: null, headers: page });
    expect(shown.status).toBe(200);
    expect(shown.body).toContain('&lt;b&gt;Ada&lt;/b&gt;');
    expect(shown.body).toContain('<form method="post">');
    expect(shown.headers.get('content-security-policy')).toContain("form-action 'self'");
    const joined = await rig.call<string>('POST', link, { token: null, headers: page });
    expect(joined.status).toBe(201);
    const token = /lsp_\w{36}/.exec(joined.body)?.[0] ?? '';
    expect((await rig.call('GET', '/leads', { token })).status).toBe(200);
    expect(joined.headers.get('cache-control')).toContain('no-store');
    const used = await rig.call<string>('GET', link, { token: null, headers: page });
    expect([used.status, used.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  });

  test('a new link is made for who has no valid token; the same Idempotency-Key gets the same link', async () => {
    const { id, token } = await newMember();
    expectProblem(await rig.call('POST', `/members/${id}/invitation`), 409, 'member_has_token');
    const tokens = await rig.call<{ data: { id: string }[] }>('GET', '/settings/tokens', { token });
    for (const one of tokens.body.data)
      expect((await rig.call('DELETE', `/settings/tokens/${one.id}`)).status).toBe(204);
    const headers = { 'idempotency-key': randomUUID() };
    const [first, again] = [
      await rig.call<Invited>('POST', `/members/${id}/invitation`, { headers }),
      await rig.call<Invited>('POST', `/members/${id}/invitation`, { headers }),
    ];
    expect(first.status).toBe(201);
    expect(again.body).toEqual(first.body);
    const newer = await rig.call<Invited>('POST', `/members/${id}/invitation`);
    expectProblem(await accept(linkOf(first.body)), 404, 'invitation_not_found');
    expect((await accept(linkOf(newer.body))).status).toBe(201);
  });

  test('the secret of a link is stored nowhere: neither in a document nor in a record', async () => {
    const { body } = await invite();
    const secret = body.invitation_url.split('/').at(-1) ?? '';
    expect(JSON.stringify(await rig.identityDocuments())).not.toContain(secret);
    expectProblem(
      await accept(`/invitations/${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`),
      404,
      'invitation_not_found',
    );
    expectProblem(await accept('/invitations/nonsense'), 404, 'invitation_not_found');
  });
});

describe('members', () => {
  test('an admin lists, changes and removes; the last admin of every OU stays, with what to do', async () => {
    const { id, token } = await newMember({ role: 'admin' });
    const listed = await rig.call<{ data: { id: string; built_in: boolean }[] }>(
      'GET',
      '/members?limit=100',
      {
        token,
      },
    );
    expect(routes.listMembers.responses[200].schema.safeParse(listed.body).error).toBeUndefined();
    expect(listed.body.data.filter(({ built_in }) => built_in)).toHaveLength(1);
    const builtIn = listed.body.data.find(({ built_in }) => built_in)?.id ?? '';
    expectProblem(
      await rig.call('PATCH', `/members/${builtIn}`, { body: { role: 'viewer' } }),
      409,
      'built_in_member',
    );
    const others = listed.body.data.filter((one) => one.id !== id);
    expect(others.length).toBeGreaterThan(1);
    expect((await rig.call('PATCH', `/members/${id}`, { body: { role: 'editor' } })).status).toBe(200);
    const refused = await rig.call<{ detail: string }>('DELETE', `/members/${builtIn}`);
    expectProblem(refused, 409, 'last_admin');
    expect(refused.body.detail).toContain('PATCH /members/{id} with role admin');
    expect((await rig.call('DELETE', `/members/${id}`)).status).toBe(204);
    expectProblem(await rig.call('DELETE', `/members/${id}`), 404, 'member_not_found');
    expectProblem(
      await rig.call('PATCH', `/members/${id}`, { body: { name: 'Ada' } }),
      404,
      'member_not_found',
    );
    expectProblem(await rig.call('PATCH', `/members/${id}`, { body: {} }), 400, 'invalid_request');
  });

  test.each([
    ['no address', { email: 'ada' }],
    ['an unknown role', { role: 'owner' }],
    ['no OU', { ou_ids: [] }],
    ['a further field', { password: 'secret' }],
  ])('a form with %s is 400', async (_title, more) => {
    expectProblem(await invite(more), 400, 'invalid_request');
  });

  test('a demotion counts in every gateway within ten seconds, a promotion too', async () => {
    const { id, token } = await newMember({ role: 'editor' });
    for (const gateway of gateways) expect(await ingest(token, gateway)).toBe(202);
    for (const [role, status] of [
      ['viewer', 403],
      ['editor', 202],
    ] as const) {
      expect((await rig.call('PATCH', `/members/${id}`, { body: { role } })).status).toBe(200);
      for (const gateway of gateways)
        await eventually('it counts', async () => (await ingest(token, gateway)) === status, 10_000);
    }
  }, 60_000);

  test('the tokens of a removed member are refused by every gateway within ten seconds', async () => {
    const { id, token } = await newMember();
    const own = await rig.call<{ token: string }>('POST', '/settings/tokens', {
      token,
      body: { name: 'Own' },
    });
    expect(own.status).toBe(201);
    for (const gateway of gateways) expect(await ingest(own.body.token, gateway)).toBe(202);
    expect((await rig.call('DELETE', `/members/${id}`)).status).toBe(204);
    for (const one of [token, own.body.token])
      for (const gateway of gateways)
        await eventually('it is refused', async () => (await ingest(one, gateway)) === 401, 10_000);
  }, 60_000);
});

describe('personal tokens', () => {
  interface Listed {
    data: { id: string; member_id: string; name: string; role: string }[];
  }
  const list = async (token?: string) =>
    (
      await rig.call<Listed>('GET', '/settings/tokens?limit=100', {
        ...(token !== undefined && { token }),
      })
    ).body.data;

  test('a member of any role makes, lists and ends their own; an admin lists and ends all', async () => {
    const [ada, eve] = [await newMember({ role: 'viewer' }), await newMember({ role: 'viewer' })];
    const made = await rig.call<{ id: string; token: string; role: string; member_id: string }>(
      'POST',
      '/settings/tokens',
      { token: ada.token, body: { name: 'Reports' } },
    );
    expect(made).toMatchObject({ status: 201, body: { role: 'viewer', member_id: ada.id } });
    expect(new Set((await list(ada.token)).map(({ member_id }) => member_id))).toEqual(new Set([ada.id]));
    expect((await list(eve.token)).map(({ id }) => id)).not.toContain(made.body.id);
    expect((await list()).map(({ id }) => id)).toContain(made.body.id);
    const end = (token: string) => rig.call('DELETE', `/settings/tokens/${made.body.id}`, { token });
    expectProblem(await end(eve.token), 404, 'token_not_found');
    expect((await end(ada.token)).status).toBe(204);
    expectProblem(
      await rig.call('POST', '/settings/tokens', {
        token: ada.token,
        body: { name: 'More', role: 'editor' },
      }),
      403,
      'role_not_allowed',
    );
    const [first] = await list(eve.token);
    expect((await rig.call('DELETE', `/settings/tokens/${first?.id ?? ''}`)).status).toBe(204);
    expect((await rig.call('GET', '/leads', { token: eve.token })).status).toBe(401);
  });

  test('a service account, which is no member, makes none', async () => {
    const made = await rig.call<{ client_id: string; client_secret: string }>('POST', '/secrets', {
      body: { name: 'Sync', scopes: ['read', 'admin'] },
    });
    const { client_id, client_secret } = made.body;
    const headers = {
      authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
    };
    expectProblem(
      await rig.call('POST', '/settings/tokens', { token: null, headers, body: { name: 'One' } }),
      403,
      'scope_not_allowed',
    );
  });
});

describe('a credential that is not valid', () => {
  test('is 401, and the answer does not say whether it ever was', async () => {
    const removed = await newMember();
    expect((await rig.call('DELETE', `/members/${removed.id}`)).status).toBe(204);
    const ended = await rig.call<{ id: string; token: string }>('POST', '/settings/tokens', {
      body: { name: 'Ended' },
    });
    expect((await rig.call('DELETE', `/settings/tokens/${ended.body.id}`)).status).toBe(204);
    const answers = [];
    for (const token of [secretFrom('lsp_', randomBytes(32)), removed.token, ended.body.token]) {
      const { status, body } = await rig.call('GET', '/leads', { token });
      const { request_id, ...rest } = body;
      expect(typeof request_id).toBe('string');
      answers.push({ status, ...rest });
    }
    expect(answers[0]).toMatchObject({ status: 401, code: 'credential_invalid' });
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  test.each([
    ['another prefix', (token: string) => token.replace('lsp_', 'lss_')],
    ['the prefix of an invitation', (token: string) => token.replace('lsp_', 'lsi_')],
    ['a wrong checksum', (token: string) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
    ['one character too many', (token: string) => `${token}0`],
  ])('%s is 401', async (_title, changed) => {
    expectProblem(await rig.call('GET', '/leads', { token: changed(rig.token) }), 401, 'credential_invalid');
  });

  test('an expired token is 401', async () => {
    const expires_at = new Date(Date.now() + 1_500).toISOString();
    const made = await rig.call<{ token: string }>('POST', '/settings/tokens', {
      body: { name: 'Brief', expires_at },
    });
    await eventually(
      'it has expired',
      async () => (await rig.call('GET', '/leads', { token: made.body.token })).status === 401,
      10_000,
    );
  });

  test('a token of another organisation sees, changes and names nothing of this one', async () => {
    const ada = await newMember();
    const token = otherOrganisation;
    await eventually(
      'the other organisation exists',
      async () => (await rig.call('GET', '/members', { token })).status === 200,
    );
    const members = await rig.call<{ total: number; data: { built_in: boolean }[] }>('GET', '/members', {
      token,
    });
    expect(members.body).toMatchObject({ total: 1, data: [{ built_in: true }] });
    expectProblem(
      await rig.call('GET', '/leads', { token, headers: { 'x-ou-id': ouId } }),
      403,
      'org_unit_not_allowed',
    );
    expectProblem(
      await rig.call('PATCH', `/api/v1/ou/${ouId}/scoring-rules/bulk`, {
        token,
        body: { rule_ids: [], updates: {} },
      }),
      404,
      'org_unit_not_found',
    );
    expectProblem(
      await rig.call('PATCH', `/members/${ada.id}`, { token, body: { role: 'admin' } }),
      404,
      'member_not_found',
    );
    expectProblem(await rig.call('DELETE', `/members/${ada.id}`, { token }), 404, 'member_not_found');
    expectProblem(
      await rig.call('POST', `/members/${ada.id}/invitation`, { token }),
      404,
      'member_not_found',
    );
    // The same address may be a member of both.
    const listed = await rig.call<{ data: { id: string; email: string }[] }>('GET', '/members?limit=100');
    const { email } = listed.body.data.find(({ id }) => id === ada.id) ?? {};
    expect((await invite({ email }, { token })).status).toBe(201);
  });
});

// Last: the rebuild makes another edition of the read models.
test('a rebuild from the log gives the same members, tokens and links', async () => {
  await invite();
  const before = await rig.identityDocuments();
  expect(before.members?.length).toBeGreaterThan(5);
  await requestRebuild(rig.log, 'gateway');
  await eventually('the rebuild is done', async () => (await rig.liveEdition()) === 1, 30_000);
  expect(await rig.identityDocuments()).toEqual(before);
  expect((await rig.call('GET', '/members')).status).toBe(200);
}, 60_000);
