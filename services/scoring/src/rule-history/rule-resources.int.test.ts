// One rule and one ruleset on real servers: read, changed, deleted, and explained after the deletion.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes, type records } from '@lead-scoring/contracts';
import { createCheckpoints } from '@lead-scoring/read-model';
import { configurationChanges } from '../configuration-changes/documents.js';
import {
  createRule,
  createRuleset,
  deleted,
  deleteRule,
  deleteRuleset,
  idOf,
  ingested,
  otherOuId,
  ouId,
  setRulesActive,
  updateRule,
} from '../testing/builders.js';
import { ruleVersionKeysFrom } from '../keys.js';
import { ruleMoves, toFoldedMoves } from '../rule-moves/documents.js';
import { markOf } from '../rule-moves/sketch-model.js';
import { startRig, type Rig } from '../testing/rig.js';
import { ruleChanges } from './documents.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.request(createRuleset('Intent'));
  await rig.request(
    createRule('view', {
      ruleset_id: idOf('Intent'),
      label: 'Pricing',
      filters: [{ field: 'path', operator: 'contains', value: '/pricing' }],
    }),
  );
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const view = `/rules/${idOf('view')}`;
const visit = { metadata: { path: '/pricing' } };

test('one rule and one ruleset are read by their ids, in any case; of another OU or unknown they are 404', async () => {
  const rule = await rig.get(`/rules/${idOf('view').toUpperCase()}`);
  expect(rule.status).toBe(200);
  expect(routes.getRule.responses[200].schema.parse(rule.body)).toMatchObject({ label: 'Pricing' });
  const ruleset = await rig.get(`/rulesets/${idOf('Intent')}`);
  expect(routes.getRuleset.responses[200].schema.parse(ruleset.body)).toMatchObject({ name: 'Intent' });
  for (const path of [view, `${view}/history`, `/rulesets/${idOf('Intent')}`])
    expect(await rig.get(path, { ou: otherOuId })).toMatchObject({ status: 404 });
  for (const path of ['rules', 'rulesets'])
    expect(await rig.get(`/${path}/${idOf('nothing')}`)).toMatchObject({ status: 404 });
  expect((await rig.get('/rulesets?score_type=profile')).body).toMatchObject({ total: 0 });
  expect((await rig.get('/rulesets')).body).toMatchObject({ total: 1, data: [{ name: 'Intent' }] });
});

test('a change counts for events after it; a deleted rule gives nothing more, and explanations go on naming it', async () => {
  await rig.score([ingested('ada', [visit])]);
  await rig.request(updateRule('view', { weight: 4, label: 'Prices' }));
  expect((await rig.get(view)).body).toMatchObject({ weight: 4, version: 2 });
  await rig.score([ingested('ada', [{ ...visit, id: idOf('second visit') }])]);
  await rig.request(deleteRule('view'));
  await rig.score([ingested('ada', [{ ...visit, id: idOf('third visit') }])]);
  expect(await rig.get(view)).toMatchObject({
    status: 404,
    body: { code: 'rule_not_found', detail: expect.stringContaining('was deleted') },
  });
  const { body } = await rig.get(`/lead/${idOf('ada')}/score-explain?range_hours=8760`);
  const filter_label = 'path contains "/pricing"';
  expect(body).toMatchObject({
    score: 14,
    unattributed: 0,
    top_drivers: [
      { total: 10, label: 'Pricing', filter_label, rule_version: 1 },
      { total: 4, label: 'Prices', filter_label, rule_version: 2 },
    ],
  });
});

test('the history says what each version changed, newest first, also of a deleted rule', async () => {
  await rig.written();
  const { status, body } = await rig.get(`${view}/history?limit=2`);
  expect(status).toBe(200);
  expect(routes.listRuleVersions.responses[200].schema.parse(body)).toMatchObject({
    total: 3,
    data: [
      { version: 3, change: 'deleted', leads_moved: 0, leads_moved_is_estimate: false },
      {
        version: 2,
        change: 'changed',
        fields: [
          { field: 'weight', before: 10, after: 4 },
          { field: 'label', before: 'Pricing', after: 'Prices' },
        ],
        leads_moved: 1,
      },
    ],
  });
  expect((await rig.get(`${view}/history?limit=2&page=2`)).body).toMatchObject({
    data: [{ version: 1, change: 'created', leads_moved: 1 }],
  });
  expect(await rig.get(`/rules/${idOf('nothing')}/history`)).toMatchObject({
    status: 404,
    body: { code: 'rule_not_found' },
  });
});

test('the history of a rule is one range of documents, however many changes the OU has seen; a change of many rules is in it once', async () => {
  await rig.request(createRule('kept', { ruleset_id: idOf('Intent'), weight: 1 }));
  for (let weight = 2; weight <= 20; weight += 1) await rig.request(updateRule('kept', { weight }));
  await rig.request(createRule('other', { ruleset_id: idOf('Intent') }));
  await rig.request(setRulesActive(['kept', 'other'], false));
  const documents = await rig.readModel.collection(ruleChanges).find({}).toArray();
  const of = (name: string) => documents.filter(({ event }) => event.includes(idOf(name)));
  expect([of('view').length, of('kept').length, of('other').length]).toEqual([3, 21, 2]);
  // Nothing else is read: without the changes of the OU the history is the same.
  const before = await rig.get(`/rules/${idOf('kept')}/history?limit=100`);
  expect(before.body).toMatchObject({ total: 21 });
  await rig.readModel.collection(configurationChanges).deleteMany({});
  expect((await rig.get(`/rules/${idOf('kept')}/history?limit=100`)).body).toEqual(before.body);
  for (const name of ['kept', 'other']) await rig.request(deleteRule(name));
});

test('a deleted ruleset is 404, and leads with points in it go on naming it', async () => {
  await rig.request(deleteRuleset('Intent'));
  expect(await rig.get(`/rulesets/${idOf('Intent')}`)).toMatchObject({ status: 404 });
  const { body } = await rig.get('/leads');
  expect(body).toMatchObject({ data: [{ rulesets: [{ name: 'Intent', score: 14 }] }] });
});

describe('the leads that a rule has moved since a version', () => {
  const history = `/rules/${idOf('counted')}/history`;
  const movedSince = async () => {
    await rig.written();
    return routes.listRuleVersions.responses[200].schema
      .parse((await rig.get(history)).body)
      .data.map(({ leads_moved, leads_moved_is_estimate }) => [leads_moved, leads_moved_is_estimate]);
  };
  const visitsOf = (from: number, to: number, again = '') =>
    Array.from({ length: to - from }, (_, at) => {
      const lead = `mover ${String(from + at)}`;
      return ingested(lead, [{ id: idOf(`visit of ${lead}${again}`), event_type: 'Counted' }]);
    });

  test('count each once, deleted ones too, in all partitions', async () => {
    await rig.request(createRule('counted', { event_type: 'Counted', weight: 3 }));
    expect(await movedSince()).toEqual([[0, false]]);
    await rig.score(visitsOf(0, 30));
    await rig.score(visitsOf(0, 30, ', again'));
    expect(await movedSince()).toEqual([[30, false]]);
    await rig.request(updateRule('counted', { weight: 4 }));
    await rig.score([...visitsOf(20, 40, ', later'), deleted('mover 0')]);
    expect(await movedSince()).toEqual([
      [20, false],
      [40, false],
    ]);
  });

  test('are written later than the scores: the checkpoint is not ahead of the documents, which have all once nothing happens', async () => {
    const counted = { _id: ruleVersionKeysFrom(ouId, idOf('counted'), 1) };
    let behind = 0;
    for (let from = 40; from < 100; from += 10) {
      await rig.score(visitsOf(from, from + 10));
      // The checkpoint is read first: documents that are written in between have more than it says.
      const stored = await createCheckpoints(rig.readModel).loadAll('scoring');
      const found = await rig.readModel.collection(ruleMoves).find(counted).toArray();
      const marks = new Set(
        found.flatMap((document) => {
          const { moves } = toFoldedMoves(document);
          return 'marks' in moves ? [...moves.marks] : [];
        }),
      );
      for (const { partition, offset, type, payload } of await rig.recordsOn('scoring.events')) {
        if (type !== 'LeadScored') continue;
        const { lead_id, scored_events } = payload as records.LeadScored;
        if (!scored_events.some(({ event_type }) => event_type === 'Counted')) continue;
        if (marks.has(markOf(lead_id))) continue;
        expect(offset).toBeGreaterThanOrEqual(stored.get(partition)?.offset ?? 0n);
        behind += 1;
      }
    }
    expect(behind).toBeGreaterThan(0);
    expect((await movedSince())[1]).toEqual([100, false]);
  });

  test('are estimated when they are many, and a rebuild gives the same', async () => {
    await rig.score(visitsOf(0, 2_400, ', many'));
    const [since, ofAll] = await movedSince();
    expect([since?.[1], ofAll?.[1]]).toEqual([true, true]);
    for (const count of [since?.[0], ofAll?.[0]])
      expect(Math.abs(Number(count) - 2_400)).toBeLessThan(0.05 * 2_400);
    const live = await rig.documents([ruleMoves]);
    await rig.rebuild();
    expect(await rig.documents([ruleMoves])).toEqual(live);
    expect(await movedSince()).toEqual([since, ofAll]);
  }, 120_000);
});
