// The audit trail of the running system: every route that changes something is called from an address of its own, and what it has changed
// is found in GET /audit with that address, the actor, and what was before and after. No other answer shows an address.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  auditedServices,
  type routeDeclarations,
  type RouteName,
  type routes,
} from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { rebuild } from './rebuild.js';
import {
  furnish,
  noJobRuns,
  routeExamples,
  routeNamed,
  routeNames,
  send,
  type Unit,
} from './route-examples.js';
import { startTestSystem, type TestSystem } from './test-system.js';

type Entry = routeDeclarations.AuditEntry;
interface Page {
  data: Entry[];
  next_cursor?: string;
}

/** Routes that may change something: a new one has to be in the table, or this does not compile. */
type ChangingRoute = {
  [Name in RouteName]: (typeof routes)[Name]['kind'] extends 'command' | 'intake' ? Name : never;
}[RouteName];

type Expected = readonly [kind: Entry['kind'], action: Entry['action']];
/** The request leaves no entry: it sends data, computes something, or has no effect in the example. */
const nothing = null;

const expected: Readonly<Record<ChangingRoute, Expected | null>> = {
  ingest: nothing,
  importEvents: ['job', 'started'],
  sendSegmentTrack: nothing,
  sendSegmentIdentify: nothing,
  sendSegmentPage: nothing,
  sendSegmentScreen: nothing,
  sendSegmentGroup: nothing,
  sendSegmentAlias: nothing,
  sendSegmentBatch: nothing,
  previewLeadImport: nothing,
  startLeadImport: ['job', 'started'],
  setEventTypeSettings: ['event_type', 'changed'],
  deleteEventTypeEvents: ['job', 'started'],
  // The lead of the alias has no events, so that none of its own tells of it.
  addLeadAlias: ['job', 'started'],
  removeLeadAlias: ['lead', 'unmerged'],
  mergeLeads: ['lead', 'merged'],
  unmergeLead: ['lead', 'unmerged'],
  deleteLead: ['lead', 'deleted'],
  resetScores: ['lead', 'reset'],
  patchLeadMetadata: ['lead', 'changed'],
  mergeAccounts: ['account', 'merged'],
  createShare: ['share', 'created'],
  revokeShare: ['share', 'revoked'],
  createFilter: ['filter', 'created'],
  updateFilter: ['filter', 'changed'],
  deleteFilter: ['filter', 'deleted'],
  createDecay: ['decay', 'created'],
  updateDecay: ['decay', 'changed'],
  deleteDecay: ['decay', 'deleted'],
  createRuleset: ['ruleset', 'created'],
  updateRuleset: ['ruleset', 'changed'],
  deleteRuleset: ['ruleset', 'deleted'],
  createRule: ['rule', 'created'],
  createEngagementRule: ['rule', 'created'],
  createAccountRule: ['rule', 'created'],
  updateRule: ['rule', 'changed'],
  deleteRule: ['rule', 'deleted'],
  setRulesActive: nothing,
  setProfileRulesActive: ['rule', 'changed'],
  setAccountRulesActive: ['rule', 'changed'],
  setEngagementLevels: nothing,
  setProfileLevels: ['levels', 'changed'],
  setAccountLevels: ['levels', 'changed'],
  setScoringGrid: ['grid', 'changed'],
  setAccountRollUp: ['roll_up', 'changed'],
  addProfileMapping: ['mapping', 'created'],
  removeProfileMapping: ['mapping', 'deleted'],
  putConfiguration: nothing,
  restoreConfiguration: nothing,
  startWhatIf: nothing,
  applyWhatIf: nothing,
  startSuggestion: nothing,
  startChallenger: ['challenger', 'created'],
  applyChallenger: nothing,
  endChallenger: ['challenger', 'ended'],
  scoreNow: nothing,
  backfillScores: nothing,
  backfillProfiles: nothing,
  backfillAccounts: nothing,
  backfillLevels: nothing,
  backfillEventTypes: nothing,
  createChannel: ['channel', 'created'],
  replaceChannel: ['channel', 'changed'],
  deleteChannel: ['channel', 'deleted'],
  testChannel: nothing,
  rotateChannelSecret: ['channel', 'rotated'],
  resumeChannel: nothing,
  redeliverNotifications: ['job', 'started'],
  redeliverNotification: nothing,
  createTrigger: ['trigger', 'created'],
  replaceTrigger: ['trigger', 'changed'],
  deleteTrigger: ['trigger', 'deleted'],
  createSequence: ['trigger', 'created'],
  replaceSequence: nothing,
  deleteSequence: ['trigger', 'deleted'],
  createSurgeTrigger: ['trigger', 'created'],
  replaceSurgeTrigger: nothing,
  deleteSurgeTrigger: ['trigger', 'deleted'],
  cancelJob: nothing,
  analyzeSite: nothing,
  setActiveOrgUnit: nothing,
  createOrgUnit: ['org_unit', 'created'],
  renameOrgUnit: ['org_unit', 'changed'],
  endOrgUnit: ['org_unit', 'ended'],
  createToken: ['token', 'created'],
  changeToken: ['token', 'changed'],
  changeServiceAccount: ['service_account', 'changed'],
  changeLimits: ['organisation', 'changed'],
  revokeToken: ['token', 'revoked'],
  createServiceAccount: ['service_account', 'created'],
  rotateServiceAccountSecret: ['service_account', 'rotated'],
  revokeServiceAccount: ['service_account', 'revoked'],
  addMember: ['member', 'created'],
  changeMember: ['member', 'changed'],
  removeMember: ['member', 'deleted'],
  inviteMember: ['member', 'invited'],
};

const changing = routeNames.filter((name): name is ChangingRoute => Object.hasOwn(expected, name));
/** Those that delete come last, because others need what they delete. */
const inOrder = [...changing].sort(
  (one, other) => Number(routeNamed(one).method === 'DELETE') - Number(routeNamed(other).method === 'DELETE'),
);
/** Of a network that is reserved for documentation: one for each route. */
const addressOf = (name: ChangingRoute) => `198.51.100.${String(changing.indexOf(name) + 1)}`;

let system: TestSystem;
let unit: Unit;

beforeAll(async () => {
  // The test is the proxy in front of the gateway.
  system = await startTestSystem({ environment: { TRUSTED_PROXIES: '1' } });
  unit = await furnish(system, 'audited');
}, 120_000);

afterAll(() => system.stop(), 60_000);

/** The entries that the unit's administrator sees, all pages of them. */
async function entries(query: Record<string, string> = {}, token = unit.adminToken): Promise<Entry[]> {
  const found: Entry[] = [];
  let cursor: string | undefined;
  do {
    const answer = await send(
      system,
      'listAudit',
      { query: { limit: '100', ...query, ...(cursor !== undefined && { cursor }) } },
      { token, headers: { 'x-ou-id': unit.ouId } },
    );
    expect(answer).toMatchObject({ status: 200 });
    const page = answer.body as Page;
    found.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return found;
}

describe('every route that changes something', () => {
  test.each(inOrder)(
    '%s leaves the entry that is declared, with the actor and the address',
    async (name) => {
      if (routeNamed(name).problems.includes('job_running')) await noJobRuns(system, unit);
      const address = addressOf(name);
      const from = new Date().toISOString();
      // The limits of the organisation are for administrators of every unit.
      const isOfUnit = name !== 'changeLimits';
      const answer = await send(system, name, routeExamples[name](unit), {
        token: isOfUnit ? unit.adminToken : system.token,
        headers: { 'x-forwarded-for': `10.1.2.3, ${address}` },
      });
      expect({ status: answer.status, body: answer.status < 300 ? '' : answer.body }).toEqual({
        status: expect.any(Number),
        body: '',
      });
      const own = async () =>
        (await entries({ from }, system.token)).filter((entry) => entry.address === address);
      const wanted = expected[name];
      if (wanted === null) {
        expect((await own()).map(({ kind, action }) => [kind, action])).toEqual([]);
        return;
      }
      const [kind, action] = wanted;
      const entry = await eventually(
        `${name} has an entry`,
        async () => (await own()).find((one) => one.kind === kind && one.action === action),
        15_000,
      );
      expect(entry.actor).toEqual({
        kind: 'token',
        id: isOfUnit ? unit.adminTokenId : expect.any(String),
        name: isOfUnit ? expect.stringContaining('Administrator') : 'Bootstrap',
      });
      if (['created', 'started'].includes(action)) expect(entry.before).toBeNull();
      if (['deleted', 'ended', 'revoked'].includes(action)) expect(entry.after).toBeNull();
      if (action === 'changed') {
        expect(Object.keys({ ...entry.before, ...entry.after }).length).toBeGreaterThan(0);
        expect(entry.before).not.toEqual(entry.after);
      }
    },
    60_000,
  );
});

describe('an entry says what was before and after', () => {
  const call = async (path: string, method: string, body?: object) => {
    const answer = await system.request<{ id: string }>(path, {
      method,
      token: unit.adminToken,
      ...(body && { body }),
    });
    expect({ path, ok: answer.status < 300, body: answer.status < 300 ? '' : answer.body }).toEqual({
      path,
      ok: true,
      body: '',
    });
    return answer.body;
  };
  const newest = async (kind: Entry['kind']) => {
    const [entry] = await entries({ kind });
    return entry && { action: entry.action, before: entry.before, after: entry.after };
  };

  test('of a rule, as GET /rules/{id}/history does', async () => {
    await call(`/rules/${unit.ruleId}`, 'PATCH', { weight: 33, label: null });
    await call(`/rules/${unit.ruleId}`, 'PATCH', { weight: 44 });
    expect(await newest('rule')).toEqual({
      action: 'changed',
      before: { weight: 33 },
      after: { weight: 44 },
    });
    await call(`/api/v1/ou/${unit.ouId}/scoring-rules/bulk`, 'PATCH', {
      rule_ids: [unit.ruleId],
      updates: { active: false },
    });
    expect(await newest('rule')).toEqual({
      action: 'changed',
      before: { active: true },
      after: { active: false },
    });
  }, 30_000);

  test('of levels', async () => {
    const level = (name: string) => ({ name, min_score: 0, max_score: null, color: '#123456' });
    await call('/engagement-scoring/levels', 'PUT', { levels: [level('One')] });
    await call('/engagement-scoring/levels', 'PUT', { levels: [level('Two')] });
    expect(await newest('levels')).toMatchObject({
      action: 'changed',
      before: { levels: [{ name: 'One' }] },
      after: { levels: [{ name: 'Two' }] },
    });
  }, 30_000);

  test('of a channel whose secret is set anew, without the secret', async () => {
    const channel = (authHeader: string) => ({
      name: 'Hook',
      type: 'webhook',
      config: { url: 'https://hooks.example.com/secret-path-0001', auth_header: authHeader },
    });
    const { id } = await call('/notification-channels', 'POST', channel('Bearer first-secret-9999'));
    await call(`/notification-channels/${id}`, 'PUT', channel('Bearer other-secret-9999'));
    const entry = await newest('channel');
    expect(entry).toMatchObject({
      action: 'changed',
      before: { auth_header: expect.stringContaining('…9999') },
      after: { auth_header: expect.stringContaining('…9999') },
    });
    expect(entry?.before?.['auth_header']).not.toEqual(entry?.after?.['auth_header']);
    expect(JSON.stringify(entry)).not.toMatch(/secret/);
  }, 30_000);
});

describe('what is listed', () => {
  const at = (entry: Entry) => `${entry.at} ${entry.id}`;

  test('is the newest first, and the same by pages of any size', async () => {
    const all = await entries();
    expect(all.map(at)).toEqual(all.map(at).sort().reverse());
    expect(await entries({ limit: '7' })).toEqual(all);
    expect(all.length).toBeGreaterThan(60);
  }, 60_000);

  test('can be narrowed by kind, actor, time, and a part of a name or id', async () => {
    const all = await entries();
    const rules = all.filter(({ kind }) => kind === 'rule');
    expect(await entries({ kind: 'rule' })).toEqual(rules);
    expect(await entries({ actor: unit.adminTokenId })).toEqual(
      all.filter(({ actor }) => actor?.id === unit.adminTokenId),
    );
    expect(await entries({ actor: randomUUID() })).toEqual([]);
    const middle = all[Math.floor(all.length / 2)]?.at ?? '';
    expect(await entries({ to: middle })).toEqual(all.filter((entry) => entry.at < middle));
    expect(await entries({ from: middle })).toEqual(all.filter((entry) => entry.at >= middle));
    expect(await entries({ q: unit.ruleId })).toEqual(
      all.filter(({ subject }) => subject.id === unit.ruleId),
    );
    expect((await entries({ q: 'REPLACED audited' })).map(({ subject }) => subject.name)).toContain(
      'Replaced audited',
    );
    expect(await entries({ q: '.*' })).toEqual([]);
  }, 60_000);

  test('is found for a member by all their tokens', async () => {
    const { body } = await send(system, 'listMembers', {});
    const builtIn = (body as { data: { id: string; built_in: boolean }[] }).data.find((one) => one.built_in);
    const theirs = await entries({ actor: builtIn?.id ?? '' }, system.token);
    expect(new Set(theirs.map(({ actor }) => actor?.id))).toContain(unit.adminTokenId);
    expect(new Set(theirs.map(({ actor }) => actor?.id)).size).toBeGreaterThan(1);
  }, 60_000);

  test('as CSV has a line for each entry', async () => {
    const all = await entries({ kind: 'channel' });
    const { status, headers, body } = await system.request<string>('/audit?kind=channel', {
      token: unit.adminToken,
      headers: { accept: 'text/csv' },
    });
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/csv; charset=utf-8',
    });
    const [header, ...lines] = body.trimEnd().split('\r\n');
    expect(header).toMatch(/at,service,ou_id,kind,action,subject_id/);
    expect(lines.map((line) => line.split(',').at(-1))).toEqual(all.map(({ id }) => id));
  });

  test('has no secret: no hash, no sealed text, no token', async () => {
    const text = JSON.stringify(await entries({}, system.token));
    expect(text).not.toMatch(/hash|sealed|whsec_|ls[psi]_|[0-9a-f]{64}/);
    expect(text).not.toContain(unit.alias);
  }, 60_000);

  test('is for admins alone', async () => {
    for (const name of ['listAudit', 'listRefusedSignIns'] as const)
      expect(await send(system, name, {}, { token: unit.viewerToken })).toMatchObject({
        status: 403,
        body: { code: 'role_not_allowed' },
      });
  });

  test('of the organisation is what concerns no units but those of the caller', async () => {
    const ofUnit = (await entries()).filter(({ ou_id }) => ou_id === null);
    const ofAll = (await entries({}, system.token)).filter(({ ou_id }) => ou_id === null);
    expect(ofUnit.length).toBeGreaterThan(5);
    expect(ofAll).toEqual(expect.arrayContaining(ofUnit));
    expect(ofUnit.map(({ kind }) => kind)).not.toContain('organisation');
    expect(ofAll.map(({ kind }) => kind)).toContain('organisation');
  }, 60_000);

  test('an unknown cursor is refused, and what it should be is said', async () => {
    expect(await system.request('/audit?cursor=abc', { token: unit.adminToken })).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
  });
});

test('no other answer shows the address of a client', async () => {
  const reads = routeNames.filter(
    (name) => routeNamed(name).method === 'GET' && !['listAudit', 'listRefusedSignIns'].includes(name),
  );
  for (const name of reads) {
    const { body } = await send(system, name, routeExamples[name](unit), { token: unit.adminToken });
    expect({ name, shows: /198\.51\.100\./.test(JSON.stringify(body)) }).toEqual({ name, shows: false });
  }
}, 120_000);

describe('sign-ins that are refused', () => {
  const from = '203.0.113.9';
  type Refused = routeDeclarations.RefusedSignIns;
  const counted = async () => {
    const { body } = await send(system, 'listRefusedSignIns', { query: { limit: '100' } });
    return (body as { data: Refused[] }).data.filter(({ address }) => address === from);
  };
  const attempt = (authorization: string) =>
    system.request('/leads', { token: null, headers: { authorization, 'x-forwarded-for': from } });
  const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

  test('are counted by address, credential and reason, and what was sent is not kept', async () => {
    const account = await send(system, 'createServiceAccount', { body: { name: 'CRM' } });
    const { client_id: clientId } = account.body as { client_id: string };
    const ended = await send(system, 'createToken', { body: { name: 'Ended' } });
    const { id, token } = ended.body as { id: string; token: string };
    await send(system, 'revokeToken', { parameters: { id } });
    const guess = `${system.token.slice(0, -1)}${system.token.endsWith('a') ? 'b' : 'a'}`;
    for (let times = 0; times < 3; times += 1)
      expect(await attempt(basic(clientId, unit.clientSecret))).toMatchObject({ status: 401 });
    expect(await attempt(`Bearer ${guess}`)).toMatchObject({ status: 401 });
    await eventually('the token is ended', async () => (await attempt(`Bearer ${token}`)).status === 401);
    await system.request('/leads', { token: null, headers: { 'x-forwarded-for': from } });
    const found = await eventually('the refusals are written', async () => {
      const all = await counted();
      return all.length >= 3 && all;
    });
    expect(found).toHaveLength(3);
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          reason: 'wrong_secret',
          count: 3,
          credential: { kind: 'service_account', id: clientId },
        }),
        expect.objectContaining({ reason: 'malformed', count: 1, credential: null }),
        expect.objectContaining({ reason: 'ended', credential: { kind: 'token', id } }),
      ]),
    );
    expect(JSON.stringify(found)).not.toMatch(/ls[ps]_/);
  }, 60_000);
});

test('a rebuild of every service gives the same entries', async () => {
  const before = await entries({}, system.token);
  await rebuild(system, auditedServices, 180_000);
  expect(await entries({}, system.token)).toEqual(before);
}, 240_000);
