// A backfill of accounts on real servers: leads that were scored before there was account scoring come to their accounts.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records, type routeDeclarations } from '@lead-scoring/contracts';
import { backfillFrame } from '@lead-scoring/testing/backfill-frame';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  accountReference,
  createAccountRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  otherOuId,
  ouId,
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';
import { accountLeads, accounts } from './documents.js';

const acme = accountReference('acme.com').account_id;
const crm = accountReference('Crm-17', 'named').account_id;
const leads = Array.from({ length: 30 }, (_, index) => `lead ${String(index)}`);
const steel = { account: { id: 'Crm-17', industry: 'Steel' } };

let rig: Rig;
let stopProcessor: () => Promise<void>;
beforeAll(async () => {
  // Each partition has several groups of leads.
  rig = await startRig({ partitions: 3, processors: 0, leadsPerStep: 4 });
  stopProcessor = await rig.startProcessor();
  await rig.request(createRule('view', { weight: 5 }));
  const view = (name: string, metadata = {}) =>
    ingested(name, [{ id: idOf(`view of ${name}`), metadata }], {
      aliases: [{ alias_kind: 'email', alias: `${name.replace(' ', '')}@acme.com` }],
    });
  await rig.score([
    ...leads.map((name) => view(name)),
    view('named', steel),
    view('gone', steel),
    deleted('gone'),
    ingested('nobody', [{ id: idOf('view of nobody') }], {
      aliases: [{ alias_kind: 'cookie', alias: 'nobody' }],
    }),
  ]);
}, 120_000);
afterAll(() => rig.stop(), 60_000);

const { asked, start, completed, backfilled } = backfillFrame<
  records.StartAccountBackfill,
  routeDeclarations.AccountBackfillResult
>(() => rig, {
  service: 'scoring',
  kind: 'account-backfill',
  command: records.startAccountBackfill,
  ouId,
  usual: { fire_triggers: false },
});

const nobody = { joining: 0, moving: 0, refreshed: 0, unchanged: 0, without_account: 0 };
const joined = (name: string) =>
  eventually(`the leads of ${name}`, async () => {
    const { body } = await rig.get(`/accounts/${acme}`);
    return body.leads === leads.length ? true : undefined;
  });

test('without account scoring all leads belong to no account', async () => {
  expect(await backfilled()).toEqual({ ...nobody, dry_run: false, without_account: leads.length + 2 });
  expect(await rig.readModel.collection(accounts).countDocuments()).toBe(0);
}, 60_000);

test('a dry run says how many leads would come to an account, and changes nothing', async () => {
  await rig.request(createRuleset('Companies', { score_type: 'account' }));
  await rig.request(createAccountRule('several', [{ field: 'leads', operator: 'gte', value: 20 }]));
  await rig.request(createAccountRule('steel', [{ field: 'industry', operator: 'equals', value: 'Steel' }]));
  const expected = { ...nobody, dry_run: true, joining: leads.length + 1, without_account: 1 };
  expect(await backfilled({ dry_run: true })).toEqual(expected);
  expect(await backfilled({ ou_id: otherOuId, dry_run: true })).toEqual({ ...nobody, dry_run: true });
  expect(await rig.readModel.collection(accountLeads).countDocuments()).toBe(0);
}, 60_000);

test('leads come to the accounts of their history, once, also when the service stops in between; two at a time are refused', async () => {
  const request = asked();
  await start(request);
  const second = await start(asked());
  const { body: left } = await rig.get(`/jobs/scoring-${request.job_id}`);
  await stopProcessor();
  stopProcessor = await rig.startProcessor();
  expect((await completed(request)).result).toMatchObject({ joining: leads.length + 1, without_account: 1 });
  if (left.status === 'running')
    expect(second).toMatchObject({
      code: 'job_running',
      message: expect.stringContaining(`scoring-${request.job_id}`),
    });
  await joined('the domain');
  // The sum of the leads, and the rules of now: the one over the number of leads, and that over a value that an event has given.
  expect((await rig.get(`/accounts/${acme}`)).body).toMatchObject({ score: 170, unattributed: 0 });
  await eventually('the named account', async () => {
    const { body } = await rig.get(`/accounts/${crm}`);
    return body.leads === 1 && body.score === 25 ? true : undefined;
  });
  expect((await rig.get(`/score/${idOf('named')}`)).body).toMatchObject({ account_id: crm });
}, 60_000);

test('a second one counts nobody anew but those whose events gave values, and a rebuild gives the same', async () => {
  const before = await rig.documents([accounts, accountLeads]);
  const { unchanged, refreshed, joining, moving } = await backfilled();
  expect({ joining, moving, refreshed }).toEqual({ joining: 0, moving: 0, refreshed: 1 });
  expect(unchanged).toBe(leads.length);
  const contents = (documents: Awaited<ReturnType<typeof rig.documents>>) => documents[accountLeads.name];
  expect(contents(await rig.documents([accountLeads]))).toEqual(contents(before));
  await rig.rebuild();
  await joined('the domain after the rebuild');
}, 60_000);
