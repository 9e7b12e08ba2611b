// Who may call what, for every declared route: each role and scope, each kind of credential, and an OU of the caller's, another one, and
// none. The expected answers come from the declarations, so that a new route is in the matrix without a change here.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes, type RouteDeclaration } from '@lead-scoring/contracts';
import { startRig, type Reply, type Rig } from './testing/rig.js';

let rig: Rig;
/** Every caller may use `own` and `second`, and has none of them active; `other` is a third OU of the organisation. */
const units = { own: '', second: '', other: '' };

/** A caller by what it may do, as docs/members.md says it. */
type Rights =
  | { kind: 'nobody' }
  | { kind: 'member'; role: 'viewer' | 'editor' | 'admin' }
  | { kind: 'service_account'; scopes: readonly string[] };

const member = (role: 'viewer' | 'editor' | 'admin'): Rights => ({ kind: 'member', role });
const account = (...scopes: string[]): Rights => ({ kind: 'service_account', scopes });
const callers = {
  nobody: { kind: 'nobody' },
  'a viewer': member('viewer'),
  'an editor': member('editor'),
  'an admin': member('admin'),
  'a token for viewing, of an admin': member('viewer'),
  'a token for editing, of an admin': member('editor'),
  'a token for editing, of a member who is a viewer now': member('viewer'),
  'a service account that sends events': account('ingest'),
  'a service account that reads': account('read'),
  'a service account that configures': account('write'),
  'a service account that administers': account('admin'),
  'a service account with the default scopes': account('ingest', 'read', 'write'),
} as const satisfies Record<string, Rights>;
type CallerName = keyof typeof callers;
const headersOf = new Map<CallerName, Record<string, string>>();

beforeAll(async () => {
  rig = await startRig();
  const listed = await rig.call<{ data: { id: string }[] }>('GET', '/org-units');
  units.own = listed.body.data[0]?.id ?? '';
  units.second = await made<{ id: string }>('/org-units', { name: 'Second' }).then(({ id }) => id);
  units.other = await made<{ id: string }>('/org-units', { name: 'Other' }).then(({ id }) => id);
  headersOf.set('nobody', {});
  for (const role of ['viewer', 'editor', 'admin'] as const)
    headersOf.set(
      `a${role === 'viewer' ? '' : 'n'} ${role}` as CallerName,
      bearer((await newMember(role)).token),
    );
  const { token } = await newMember('admin');
  headersOf.set('a token for viewing, of an admin', bearer(await narrowed(token, 'viewer')));
  headersOf.set('a token for editing, of an admin', bearer(await narrowed(token, 'editor')));
  const demoted = await newMember('editor');
  headersOf.set(
    'a token for editing, of a member who is a viewer now',
    bearer(await narrowed(demoted.token, 'editor')),
  );
  const change = await rig.call('PATCH', `/members/${demoted.id}`, { body: { role: 'viewer' } });
  expect(change.status).toBe(200);
  for (const [name, rights] of Object.entries(callers))
    if (rights.kind === 'service_account') headersOf.set(name as CallerName, await newAccount(rights.scopes));
}, 90_000);

afterAll(() => rig.stop(), 60_000);

async function made<Body>(path: string, body: object, token?: string): Promise<Body> {
  const reply = await rig.call<Body>('POST', path, { body, ...(token !== undefined && { token }) });
  expect({ path, status: reply.status, body: reply.body }).toMatchObject({ path, status: 201 });
  return reply.body;
}

const ouIds = () => [units.own, units.second];
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function newMember(role: string): Promise<{ id: string; token: string }> {
  const name = `${role} ${randomUUID()}`;
  const email = `${name.replace(' ', '.')}@example.com`;
  const invited = await made<{ id: string; invitation_url: string }>('/members', {
    email,
    name,
    role,
    ou_ids: ouIds(),
  });
  const link = new URL(invited.invitation_url).pathname;
  const joined = await rig.call<{ token: string }>('POST', link, { token: null });
  expect(joined.status).toBe(201);
  return { id: invited.id, token: joined.body.token };
}

async function narrowed(token: string, role: string): Promise<string> {
  const body = { name: `For ${role}`, role, ou_ids: ouIds() };
  const reply = await rig.call<{ token: string }>('POST', '/settings/tokens', {
    token,
    body,
    headers: { 'x-ou-id': units.own },
  });
  expect(reply.status).toBe(201);
  return reply.body.token;
}

async function newAccount(scopes: readonly string[]): Promise<Record<string, string>> {
  const { client_id, client_secret } = await made<{ client_id: string; client_secret: string }>('/secrets', {
    name: scopes.join(' '),
    scopes,
    ou_ids: ouIds(),
  });
  return { authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}` };
}

const declared: readonly RouteDeclaration[] = Object.values(routes);
type Place = 'own' | 'other' | 'none';

/** Routes with an OU in the path cannot leave it out. */
const placesOf = ({ access }: RouteDeclaration): readonly Place[] =>
  access.credential && access.organisationUnit === 'path' ? ['own', 'other'] : ['own', 'other', 'none'];

const rank = { viewer: 0, editor: 1, admin: 2 };

/** The refusal that the declaration asks for; `in` where the request reaches its handler. */
function expected({ access }: RouteDeclaration, rights: Rights, place: Place): string {
  if (!access.credential) return 'in';
  if (rights.kind === 'nobody') return '401 credential_missing';
  if (rights.kind === 'member' && rank[rights.role] < rank[access.role]) return '403 role_not_allowed';
  if (rights.kind === 'service_account' && !rights.scopes.some((scope) => scope === access.scope))
    return '403 scope_not_allowed';
  if (access.organisationUnit === 'none' || place === 'own') return 'in';
  if (access.organisationUnit === 'path') return '404 org_unit_not_found';
  return place === 'other' ? '403 org_unit_not_allowed' : '400 org_unit_not_selected';
}

/** The refusal of an answer for lack of rights; `in` for every other answer. */
function refusalIn({ access }: RouteDeclaration, { status, body }: Reply): string {
  const { code } = (body ?? {}) as { code?: string };
  const unit = access.credential ? access.organisationUnit : 'none';
  const isRefusal =
    status === 401 ||
    status === 403 ||
    (unit === 'active' && code === 'org_unit_not_selected') ||
    (unit === 'path' && code === 'org_unit_not_found');
  return isRefusal ? `${String(status)} ${String(code)}` : 'in';
}

/** A request that reaches the handler and changes nothing: its ids are unknown and its body is empty. */
async function ask(route: RouteDeclaration, place: Place, headers: Record<string, string>): Promise<Reply> {
  const ouId = place === 'own' ? units.own : units.other;
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'ouId' ? ouId : randomUUID()));
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
  return rig.call(route.method, path, {
    token: null,
    headers: { ...headers, ...(place !== 'none' && { 'x-ou-id': ouId }) },
    ...(hasBody && { body: {} }),
  });
}

const atOnce = 16;

describe('every route answers as it is declared', () => {
  test.each(Object.keys(callers) as CallerName[])(
    '%s',
    async (name) => {
      const cases = declared.flatMap((route) => placesOf(route).map((place) => ({ route, place })));
      expect(cases.length).toBeGreaterThan(300);
      const wrong: string[] = [];
      const ofEach = async (): Promise<void> => {
        for (let one = cases.pop(); one; one = cases.pop()) {
          const { route, place } = one;
          const answer = refusalIn(route, await ask(route, place, headersOf.get(name) ?? {}));
          const right = expected(route, callers[name], place);
          if (answer !== right) wrong.push(`${route.name}, OU ${place}: ${answer}, not ${right}`);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, ofEach));
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  test('nothing but a viewer’s reading, sharing and own tokens is open to a viewer', () => {
    const open = declared.filter(
      ({ access, method }) => access.credential && access.role === 'viewer' && method !== 'GET',
    );
    const writing = open.filter(({ kind }) => kind === 'command' || kind === 'intake');
    expect(writing.map(({ name }) => name).sort()).toEqual([
      'createShare',
      'createToken',
      'revokeShare',
      'revokeToken',
      'setActiveOrgUnit',
    ]);
  });
});
