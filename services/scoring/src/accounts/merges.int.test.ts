// Merges of accounts on real servers: asked for by a command, carried out by the partitions of the accounts and of their leads.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { routeDeclarations, routes } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  accountReference,
  createAccountRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  mergeAccounts,
  otherOuId,
} from '../testing/builders.js';
import { naming } from '../testing/deal-builders.js';
import { startRig, type Rig } from '../testing/rig.js';
import { accountLeads, accounts } from './documents.js';

const acme = accountReference('acme.com');
const globex = accountReference('globex.com');
const initech = accountReference('initech.com');
const umbrella = accountReference('umbrella.com');

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.request(createRule('view', { weight: 5 }));
  await rig.request(createRuleset('Companies', { score_type: 'account' }));
  await rig.request(createAccountRule('several', [{ field: 'leads', operator: 'gte', value: 3 }]));
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

/** More than one step moves. */
const many = 620;
const others = 120;
const named = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${String(index)}`);

const view = (lead: string, domain: string, nth = 0) =>
  ingested(lead, [{ id: idOf(`${lead} ${String(nth)}`) }], {
    aliases: [{ alias_kind: 'email', alias: `${lead}@${domain}` }],
  });

const accountWith = (id: string, expected: object) =>
  eventually(`account ${id}`, async () => {
    const { status, body } = await rig.get(`/accounts/${id}`);
    expect({ status, ...body }).toMatchObject({ status: 200, ...expected });
    return true;
  });

const plan = async (source: string, target: string, options = {}) =>
  rig.get(`/internal/account-merge/${source}?target_id=${target}`, options);

test('the two accounts of a merge are known with their leads and deals before it is asked for', async () => {
  await rig.score([
    ...named('lead', many).map((lead) => view(lead, 'acme.com')),
    ...named('other', others).map((lead) => view(lead, 'umbrella.com')),
    view('gil', 'globex.com'),
    view('ina', 'initech.com'),
    naming('lead0', [{ id: 'D-1' }, { id: 'D-2' }]),
    naming('lead1', [{ id: 'D-2' }]),
  ]);
  await accountWith(acme.account_id, { leads: many });
  await accountWith(umbrella.account_id, { leads: others });
  await accountWith(globex.account_id, { leads: 1, score: 5 });
  await accountWith(initech.account_id, { leads: 1 });
  const { status, body } = await plan(acme.account_id, globex.account_id);
  expect(status).toBe(200);
  expect(routeDeclarations.planAccountMerge.responses[200].schema.parse(body)).toEqual({
    source: acme,
    target: globex,
    leads_reassigned: many,
    deals_reassigned: 2,
  });
}, 60_000);

test('an unknown account, and one of another OU, is 404, whichever of the two it is', async () => {
  const unknown = idOf('nobody');
  for (const answer of [
    await plan(unknown, globex.account_id),
    await plan(globex.account_id, unknown),
    await plan(acme.account_id, globex.account_id, { ou: otherOuId }),
  ])
    expect(answer).toMatchObject({ status: 404, body: { code: 'account_not_found' } });
});

test('all leads of accounts that are merged at once count in the target, which their ids answer from then on', async () => {
  const merge = mergeAccounts(acme, globex, { leads_reassigned: many, deals_reassigned: 2 });
  const result = { leads_reassigned: many, deals_reassigned: 2 };
  const [replied] = await Promise.all([rig.request(merge), rig.request(mergeAccounts(umbrella, globex))]);
  expect(replied).toMatchObject({ outcome: 'done', result });
  for (const { account_id } of [acme, umbrella])
    await accountWith(account_id, {
      id: globex.account_id,
      account_key: 'globex.com',
      leads: many + others + 1,
      unattributed: 0,
    });
  await eventually('the merged accounts have no leads left', async () => {
    expect(await rig.readModel.collection(accountLeads).countDocuments()).toBe(many + others + 2);
    expect(await rig.readModel.collection(accounts).countDocuments()).toBe(2);
    return true;
  });
  const { body } = await rig.get(`/accounts/${globex.account_id}`);
  const { score, roll_up } = routes.getAccount.responses[200].schema.parse(body);
  // A view of each lead, three events that named deals, and one view of the target's own lead; the rule gives 20.
  const points = 5 * (many + others + 3 + 1);
  expect({ score, of: roll_up.points }).toEqual({ score: points + 20, of: points });
  expect(await rig.request(merge)).toMatchObject({ outcome: 'done', result });
  expect((await plan(acme.account_id, globex.account_id)).body).toMatchObject(result);
}, 60_000);

test('later events of the domain of the merged account count in the target, and a deleted lead leaves it', async () => {
  await rig.score([view('late', 'acme.com'), view('lead1', 'acme.com', 1)]);
  await accountWith(globex.account_id, { leads: many + others + 2 });
  expect((await rig.get(`/score/${idOf('late')}`)).body).toMatchObject({
    scores: { account: expect.any(Number) },
  });
  await rig.score([deleted('late')]);
  await accountWith(globex.account_id, { leads: many + others + 1 });
});

test('lists, the committee and tests of rules know the merged account by the target only', async () => {
  const { body } = await rig.get('/accounts');
  const { data } = routes.listAccounts.responses[200].schema.parse(body);
  expect(data.map(({ id }) => id).sort()).toEqual([globex.account_id, initech.account_id].sort());
  expect((await rig.get(`/buying-committee?account_id=${acme.account_id}`)).body).toMatchObject({
    account_id: globex.account_id,
  });
  expect((await rig.post('/account-scoring/test', { account_id: acme.account_id })).body).toMatchObject({
    account: { key: 'globex.com' },
  });
});

test('an account that was merged cannot be merged into another one, nor the target into it', async () => {
  for (const merge of [mergeAccounts(acme, initech), mergeAccounts(globex, acme)])
    expect(await rig.request(merge)).toMatchObject({ outcome: 'rejected', code: 'already_merged' });
});

test('a rebuild gives the same accounts, and keeps the merge', async () => {
  const before = await rig.documents([accounts, accountLeads]);
  await rig.rebuild();
  expect(await rig.documents([accounts, accountLeads])).toEqual(before);
  await accountWith(acme.account_id, { id: globex.account_id });
}, 60_000);
