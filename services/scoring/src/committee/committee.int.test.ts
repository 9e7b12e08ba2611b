// The buying committee of an account on real servers: its leads come by events.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accountIdOf, leadFieldsOf } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import { createRule, deleted, idOf, ingested, otherOuId, ouId, setRollUp } from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

const account_id = accountIdOf(ouId, { account_kind: 'domain', account_key: 'acme.com' });
/** Days are far from the borders between active and silent. */
const now = Date.now();

/** A page view of a lead of the company so many days ago, with the fields that ingest reads from it. */
const view = (lead: string, title: string | null, daysAgo: number) => {
  const timestamp = new Date(now - daysAgo * 86_400_000).toISOString();
  const metadata = { name: lead, ...(title !== null && { title }) };
  return ingested(lead, [{ id: idOf(`${lead} ${title ?? ''} ${String(daysAgo)}`), timestamp, metadata }], {
    aliases: [{ alias_kind: 'email', alias: `${lead.toLowerCase()}@acme.com` }],
    fields: leadFieldsOf(metadata, timestamp),
  });
};

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.request(createRule('view', { weight: 5 }));
  await rig.request(setRollUp('sum'));
  await rig.score([
    view('Ada', 'VP Sales', 3),
    view('Bob', 'CFO', 45),
    view('Cy', 'Software Engineer', 1),
    view('Cy', 'Software Engineer', 2),
    view('Dora', null, 1),
  ]);
  await eventually('the leads count in the account', async () => {
    const { body } = await rig.get(`/accounts/${account_id}`);
    return body.leads === 4;
  });
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const committee = (query = '', options = {}) =>
  rig.get(`/buying-committee?account_id=${account_id}${query}`, options);

test('the leads of an account are listed by role, and the missing and silent roles are named', async () => {
  const { status, body } = await committee();
  expect({ status, ...body }).toMatchObject({
    status: 200,
    account_id,
    account_kind: 'domain',
    account_key: 'acme.com',
    leads: 4,
    leads_considered: 4,
    silent_days: 30,
    roles: [
      { role: 'decision_maker', status: 'engaged', leads: 1, data: [{ name: 'Ada', title: 'VP Sales' }] },
      { role: 'champion', status: 'missing' },
      { role: 'finance', status: 'silent', data: [{ name: 'Bob', engagement: 'silent' }] },
      { role: 'technical', status: 'engaged', data: [{ name: 'Cy', score: 10 }] },
      { role: 'legal', status: 'missing' },
      { role: 'procurement', status: 'missing' },
      { role: 'user', status: 'missing' },
    ],
    other: { leads: 1, data: [{ name: 'Dora', title: null }] },
    gaps: [
      { role: 'champion', gap: 'missing' },
      { role: 'finance', gap: 'silent' },
      { role: 'legal', gap: 'missing' },
      { role: 'procurement', gap: 'missing' },
      { role: 'user', gap: 'missing' },
    ],
  });
});

test('`silent_days` moves the border between active and silent', async () => {
  const { body } = await committee('&silent_days=60');
  expect(body.gaps).not.toContainEqual(expect.objectContaining({ role: 'finance' }));
});

test('an unknown account and one of another OU are 404, and no account, or no number of days, is 400', async () => {
  const unknown = await rig.get(`/buying-committee?account_id=${idOf('nobody')}`);
  for (const answer of [unknown, await committee('', { ou: otherOuId })])
    expect(answer).toMatchObject({ status: 404, body: { code: 'account_not_found' } });
  expect((await rig.get('/buying-committee')).status).toBe(400);
  expect((await committee('&silent_days=0')).status).toBe(400);
});

test('a later title and a deletion change the committee', async () => {
  await rig.score([view('Dora', 'Legal Counsel', 0)]);
  await eventually('Dora is legal', async () => {
    const { body } = await committee();
    expect(body).toMatchObject({ other: { leads: 0 }, roles: { 4: { role: 'legal', leads: 1 } } });
    return true;
  });
  await rig.score([deleted('Dora')]);
  await eventually('Dora is in it no more', async () => {
    const { body } = await committee();
    expect(body).toMatchObject({ leads: 3, roles: { 4: { role: 'legal', status: 'missing' } } });
    return true;
  });
});
