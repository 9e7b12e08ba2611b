// Metadata that callers set for a lead overrides what its events say, moves profile scores with a recorded reason, goes along with merges and comes
// back when they are taken back, and ends with the lead. A rescoring and a rebuild give the same.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { startNotifiedSystem, type NotifiedSystem } from './notified-system.js';
import { peopleIn, person, type Alias } from './people.js';
import { rebuild } from './rebuild.js';

let system: NotifiedSystem;
let vip: string;

beforeAll(async () => {
  system = await startNotifiedSystem([0, 1]);
  const { id: fit } = await system.call<{ id: string }>('createRuleset', {
    body: { name: 'Fit', score_type: 'profile', active: true },
  });
  await system.call('addProfileMapping', { body: { field: 'seniority', source: 'metadata.job.level' } });
  ({ id: vip } = await system.call<{ id: string }>('createRule', {
    body: {
      ruleset_id: fit,
      label: 'VIP',
      weight: 30,
      conditions: [{ field: 'seniority', operator: 'equals', value: 'vp' }],
    },
  }));
  await system.call('createTrigger', {
    body: { name: 'Fits', score_type: 'profile', score_threshold: 20, channel_ids: [] },
  });
}, 120_000);
afterAll(() => system.stop(), 60_000);

const { idOf, happen, scoreOf } = peopleIn(() => system);

const set = (alias: Alias, body: object, headers: Record<string, string> = {}) =>
  system.request<{ lead_id: string; metadata: object; code?: string; merged_into?: string }>(
    `/lead/${idOf(alias)}/metadata`,
    { method: 'PATCH', body, headers },
  );
const read = (alias: Alias) =>
  system.request<{ lead_id: string; metadata: object; merged_into?: string }>(
    `/lead/${idOf(alias)}/metadata`,
  );
const listed = async (alias: Alias) => {
  const { body } = await system.request<{ data: routeDeclarations.Lead[] }>(
    `/leads/search?q=${encodeURIComponent(alias.alias)}`,
  );
  return body.data[0];
};
/** Waits until the lead is shown like this. */
const shown = (alias: Alias, expected: object) =>
  eventually(`${alias.alias} is shown as it should be`, async () => {
    expect(await listed(alias)).toMatchObject(expected);
    return true;
  });
const change = async (path: string, body: object) => {
  const answer = await system.request<{ id: string }>(path, {
    body,
    headers: { 'idempotency-key': randomUUID() },
  });
  expect([200, 202]).toContain(answer.status);
  if (answer.status === 202)
    await eventually('the job is done', async () => {
      const { body: job } = await system.request<{ status: string }>(`/jobs/${answer.body.id}`);
      return job.status === 'completed';
    });
};

const [ada, old] = [person('ada'), person('ada.of.before')];

test('what is set is answered and read, is shown in place of what events say, and moves the profile with its reason', async () => {
  await happen([ada], 'Pricing View', { company: 'Engines' });
  await scoreOf(ada, 10);
  await shown(ada, { name: ada.alias, company: 'Engines' });
  const metadata = {
    name: 'Ada Lovelace',
    phase: 'Negotiation',
    owner: 'Grace',
    job: { level: 'vp' },
    'a.b': 1,
    $set: { __proto: 2 },
  };
  const patch = JSON.parse(
    `{"__proto__": {"x": 1}, "gone": null, ${JSON.stringify(metadata).slice(1)}`,
  ) as object;
  const all = JSON.parse(`{"__proto__": {"x": 1}, ${JSON.stringify(metadata).slice(1)}`) as object;
  const answer = await set(ada, patch);
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([
    200,
    JSON.stringify({ lead_id: idOf(ada), metadata: all }),
  ]);
  expect(JSON.stringify((await read(ada)).body)).toBe(JSON.stringify(answer.body));
  await shown(ada, {
    name: 'Ada Lovelace',
    phase: 'Negotiation',
    owner: 'Grace',
    company: 'Engines',
    event_count: 1,
    scores: { engagement: 10, profile: 30 },
  });
  const { body: why } = await system.request<{ profile_entries: { rule_id: string; words: string }[] }>(
    `/lead/${idOf(ada)}/score-explain?score_type=profile&range_hours=876000`,
  );
  expect(why.profile_entries).toMatchObject([{ rule_id: vip, points: 30 }]);
  await eventually('the milestone has fired', async () => {
    const { data } = await system.call<{ data: routeDeclarations.LeadMilestoneEvent[] }>(
      'listMilestoneEvents',
      { query: { lead_id: idOf(ada), limit: '10' } },
    );
    expect(data).toMatchObject([{ lead: { name: 'Ada Lovelace' } }]);
    return true;
  });
  const conditions = { all: [{ field: 'phase', operator: 'equals', value: 'negotiation' }] };
  const { body: matching } = await system.request('/filters/preview', { body: { conditions } });
  expect(matching).toMatchObject({ total: 1 });
});

test('events of later do not change what is set, and null gives way to what they say', async () => {
  await happen([ada], 'Pricing View', { company: 'Looms' });
  await scoreOf(ada, 20);
  expect((await set(ada, { company: 'Cards' })).status).toBe(200);
  await happen([ada], 'Pricing View', { company: 'Mills' });
  await scoreOf(ada, 30);
  await shown(ada, { company: 'Cards' });
  await set(ada, { company: null, owner: null });
  await shown(ada, { company: 'Mills', name: 'Ada Lovelace' });
  expect(await listed(ada)).not.toHaveProperty('owner');
});

test('a repeated request takes effect once, and what cannot be set is refused', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const first = await set(ada, { phase: 'Won' }, key);
  await set(ada, { phase: 'Lost' });
  expect(await set(ada, { phase: 'Won' }, key)).toMatchObject({ status: 200, body: first.body });
  expect((await read(ada)).body.metadata).toMatchObject({ phase: 'Lost' });
  expect(await set(person('nobody'), { phase: 'Won' })).toMatchObject({
    status: 404,
    body: { code: 'lead_not_found' },
  });
  expect((await set(ada, [] as object)).status).toBe(400);
  expect((await set(ada, { long: 'x'.repeat(100_000) })).status).toBe(400);
  expect((await set(ada, { long: 'x'.repeat(80_000) })).status).toBe(200);
  expect(await set(ada, { more: 'x'.repeat(80_000) })).toMatchObject({
    status: 409,
    body: { code: 'limit_reached' },
  });
  expect((await set(ada, { long: null })).status).toBe(200);
});

test('a merge brings along what was set, and its undoing gives each lead its own again', async () => {
  await happen([old], 'Pricing View');
  await scoreOf(old, 10);
  await set(old, { name: 'Augusta', title: 'Countess', job: { level: 'countess' } });
  await shown(old, { name: 'Augusta', title: 'Countess' });
  await change('/leads/merge', { target_id: idOf(ada), source_ids: [idOf(old)] });
  await scoreOf(ada, 40);
  await shown(ada, { name: 'Ada Lovelace', title: 'Countess', scores: { profile: 30 } });
  const merged = await set(old, { phase: 'Won' });
  expect(merged.body).toMatchObject({ lead_id: idOf(ada), metadata: { phase: 'Won', title: 'Countess' } });
  expect((await read(old)).body).toEqual({ ...merged.body, merged_into: idOf(ada) });
  for (const path of [
    'score/:',
    'lead/:/score-explain',
    'lead/:/aliases',
    'events/:',
    'lead/:/score-history',
  ]) {
    const { body } = await system.request(`/${path.replace(':', idOf(old))}`);
    expect(body).toMatchObject({ merged_into: idOf(ada) });
    expect((await system.request(`/${path.replace(':', idOf(ada))}`)).body).not.toHaveProperty('merged_into');
  }
  await change(`/leads/${idOf(ada)}/unmerge`, { source_id: idOf(old) });
  const expectDivided = async () => {
    await scoreOf(ada, 30);
    await scoreOf(old, 10);
    await shown(ada, { name: 'Ada Lovelace', phase: 'Won', scores: { profile: 30 } });
    await shown(old, { name: 'Augusta', title: 'Countess', scores: { profile: 0 } });
    expect(await listed(ada)).not.toHaveProperty('title');
    expect((await read(old)).body).toEqual({
      lead_id: idOf(old),
      metadata: { name: 'Augusta', title: 'Countess', job: { level: 'countess' } },
    });
    expect((await read(ada)).body.metadata).not.toHaveProperty('title');
  };
  await expectDivided();
  // By a mapping of now, a rescoring reads what is set as it reads events.
  await system.call('addProfileMapping', { body: { field: 'stage', source: 'metadata.phase' } });
  const { job_id } = await system.call<{ job_id: string }>('backfillProfiles', { body: {} });
  await eventually('the profiles are rescored', async () => {
    const { body: job } = await system.request<{ status: string }>(`/jobs/${job_id}`);
    return job.status === 'completed';
  });
  await expectDivided();
  const { body: tested } = await system.request('/profile-scoring/test', { body: { lead_id: idOf(ada) } });
  expect(tested).toMatchObject({ profile: { stage: 'Won', seniority: 'vp', name: 'Ada Lovelace' } });
  await rebuild(system, ['ingest', 'scoring', 'notification'], 120_000);
  await expectDivided();
}, 300_000);

test('what is set ends with the lead: a new lead of the same alias has none of it', async () => {
  expect((await system.request(`/lead/${idOf(ada)}`, { method: 'DELETE' })).status).toBe(204);
  await eventually('it is gone', async () => (await system.request(`/score/${idOf(ada)}`)).status === 404);
  expect((await read(ada)).status).toBe(404);
  expect((await set(ada, { phase: 'Back' })).status).toBe(404);
  await happen([ada], 'Pricing View');
  await scoreOf(ada, 10);
  expect((await read(ada)).body).toEqual({ lead_id: idOf(ada), metadata: {} });
  await shown(ada, { name: ada.alias });
  expect(await listed(ada)).not.toHaveProperty('phase');
});
