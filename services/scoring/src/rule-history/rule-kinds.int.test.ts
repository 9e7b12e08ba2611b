// Rules over profiles, accounts and deals on real servers: each kind is read, changed, deleted and listed with its versions as the others
// are, and a bulk update takes the rules of its own kind alone.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  createAccountRule,
  createProfileRule,
  createRule,
  createRuleset,
  deleteRule,
  deleteRuleset,
  idOf,
  ingested,
  otherOuId,
  setAccountRulesActive,
  setProfileRulesActive,
  setRulesActive,
  updateRule,
} from '../testing/builders.js';
import { createDealRule } from '../testing/deal-builders.js';
import { startRig, type Rig } from '../testing/rig.js';

const large = [{ field: 'amount', operator: 'gte' as const, value: 100 }];
const larger = [{ field: 'amount', operator: 'gte' as const, value: 200 }];
const kinds = [
  { scoreType: 'profile', ruleset: 'Fit', create: createProfileRule },
  { scoreType: 'account', ruleset: 'Companies', create: createAccountRule },
  { scoreType: 'deal', ruleset: 'Deals', create: createDealRule },
] as const;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.request(createRule('view'));
  for (const { scoreType, ruleset, create } of kinds) {
    await rig.request(createRuleset(ruleset, { score_type: scoreType }));
    await rig.request(create(`kept ${scoreType}`, large));
  }
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const versionsOf = async (path: string) => {
  const { body } = await rig.get(`${path}/history`);
  return routes.listRuleVersions.responses[200].schema.parse(body).data;
};

describe.each(kinds)('a rule over the $scoreType', ({ scoreType, ruleset, create }) => {
  const name = `changed ${scoreType}`;
  const path = `/rules/${idOf(name)}`;

  test('is read by its id, in any case, and listed; another OU has neither rule nor history', async () => {
    await rig.request(create(name, large, { label: 'Large' }));
    const { status, body } = await rig.get(path.toUpperCase().replace('/RULES', '/rules'));
    expect(status).toBe(200);
    expect(routes.getRule.responses[200].schema.parse(body)).toMatchObject({
      id: idOf(name),
      ruleset_id: idOf(ruleset),
      conditions: large,
      weight: 20,
      label: 'Large',
      version: 1,
    });
    expect((await rig.get(`/${scoreType}-scoring/rules?ruleset_id=${idOf(ruleset)}`)).body).toMatchObject({
      total: 2,
      data: [{ id: idOf(`kept ${scoreType}`) }, body],
    });
    for (const one of [path, `${path}/history`])
      expect(await rig.get(one, { ou: otherOuId })).toMatchObject({ status: 404 });
  });

  test('is changed in each of its fields, and moves to rulesets of its kind alone', async () => {
    await rig.request(createRuleset(`More ${scoreType}`, { score_type: scoreType }));
    const changes = { weight: -3, conditions: larger, active: false, ruleset_id: idOf(`More ${scoreType}`) };
    expect(await rig.request(updateRule(name, { ...changes, label: null }))).toMatchObject({
      outcome: 'done',
      result: { ...changes, version: 2 },
    });
    expect((await rig.get(path)).body).toMatchObject({ ...changes, version: 2 });
    expect((await rig.get(path)).body).not.toHaveProperty('label');
    const refused = { outcome: 'rejected', code: 'invalid_request' };
    for (const field of [{ event_type: 'Page View' }, { max_count: 2 }, { icon: 'star' }])
      expect(await rig.request(updateRule(name, field))).toMatchObject(refused);
    for (const other of kinds.filter((one) => one.scoreType !== scoreType))
      expect(await rig.request(updateRule(name, { ruleset_id: idOf(other.ruleset) }))).toMatchObject(refused);
    expect((await rig.get(path)).body).toMatchObject({ version: 2 });
    expect(await rig.request(deleteRuleset(`More ${scoreType}`))).toMatchObject({
      code: 'ruleset_not_empty',
      message: expect.stringContaining(`GET /${scoreType}-scoring/rules?ruleset_id=`),
    });
  });

  test('is deleted for good, and its versions stay readable', async () => {
    await rig.request(deleteRule(name));
    expect(await rig.get(path)).toMatchObject({
      status: 404,
      body: { code: 'rule_not_found', detail: expect.stringContaining('was deleted') },
    });
    for (const command of [updateRule(name, { weight: 5 }), deleteRule(name)])
      expect(await rig.request(command)).toMatchObject({ code: 'rule_not_found' });
    expect(await rig.request(create(name, large))).toMatchObject({ code: 'already_deleted' });
    expect(await versionsOf(path)).toMatchObject([
      { version: 3, change: 'deleted' },
      {
        version: 2,
        change: 'changed',
        fields: expect.arrayContaining([
          { field: 'weight', before: 20, after: -3 },
          { field: 'conditions', before: large, after: larger },
          { field: 'active', before: true, after: false },
          { field: 'label', before: 'Large', after: null },
          { field: 'ruleset_id', before: idOf(ruleset), after: idOf(`More ${scoreType}`) },
        ]),
      },
      { version: 1, change: 'created' },
    ]);
  });
});

describe.each([
  { kind: 'engagement', own: 'view', bulk: setRulesActive },
  { kind: 'profile', own: 'kept profile', bulk: setProfileRulesActive },
  { kind: 'account', own: 'kept account', bulk: setAccountRulesActive },
])('a bulk update of $kind rules', ({ own, bulk }) => {
  const all = ['view', ...kinds.map(({ scoreType }) => `kept ${scoreType}`)];
  const activeOf = async (name: string) => (await rig.get(`/rules/${idOf(name)}`)).body;

  test('with the id of a rule of another kind, or of none, is 404, and no rule changes', async () => {
    const before = await Promise.all(all.map(activeOf));
    for (const other of [...all.filter((name) => name !== own), 'nothing'])
      expect(await rig.request(bulk([own, other], false))).toMatchObject({
        outcome: 'rejected',
        code: 'rule_not_found',
        errors: [{ path: 'body.rule_ids[1]' }],
      });
    expect(await Promise.all(all.map(activeOf))).toEqual(before);
  });

  test('changes a repeated id once and counts it once; of no ids it changes none', async () => {
    expect(await rig.request(bulk([], false))).toMatchObject({
      result: { updated_count: 0, updated_rules: [] },
    });
    for (const [active, version] of [
      [false, 2],
      [true, 3],
    ] as const) {
      expect(await rig.request(bulk([own, own], active))).toMatchObject({
        result: { updated_count: 1, updated_rules: [idOf(own)] },
      });
      expect(await activeOf(own)).toMatchObject({ active, version });
    }
    expect(await versionsOf(`/rules/${idOf(own)}`)).toMatchObject([
      { version: 3, fields: [{ field: 'active', before: false, after: true }] },
      { version: 2, fields: [{ field: 'active', before: true, after: false }] },
      { version: 1 },
    ]);
  });
});

test('a deal rule has moved the leads that named its deals, an account rule the account: each once, and after a rebuild as well', async () => {
  const events = (name: string) =>
    ingested(name, [
      { metadata: { deal: { id: 'D-1', amount: 150 }, account: { id: 'Crm-1', amount: 150 } } },
    ]);
  await rig.score([events('ada'), events('bob')]);
  const moved = async (scoreType: string) => {
    const [version] = await versionsOf(`/rules/${idOf(`kept ${scoreType}`)}`);
    return { leads_moved: version?.leads_moved, leads_moved_is_estimate: version?.leads_moved_is_estimate };
  };
  const expected = async () => {
    expect(await moved('deal')).toEqual({ leads_moved: 2, leads_moved_is_estimate: false });
    expect(await moved('account')).toEqual({ leads_moved: 1, leads_moved_is_estimate: false });
    return true;
  };
  await eventually('the deal and the account have told of it', expected);
  await rig.rebuild();
  await expected();
}, 60_000);
