// Profile scoring on real servers: configured by commands, decided with the events of leads, and read through the query port.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AttributeFilter, JsonObject } from '@lead-scoring/contracts';
import {
  addMapping,
  createProfileRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  otherOuId,
  patched,
  removeMapping,
  setProfileRulesActive,
  updateRule,
  updateRuleset,
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.request(createRuleset('Fit', { score_type: 'profile' }));
  await rig.request(createRule('view', { weight: 5 }));
  await rig.request(
    addMapping('seniority', 'seniority', 'metadata.job.title', { first_of: ['vp', 'analyst'] }),
  );
  await rig.request(createProfileRule('vp', isVp, { label: 'Decision maker' }));
  await rig.request(createProfileRule('free mail', isFree, { weight: -8 }));
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const isVp: AttributeFilter[] = [{ field: 'seniority', operator: 'equals', value: 'vp' }];
const isFree: AttributeFilter[] = [{ field: 'email_domain', operator: 'equals', value: 'example.com' }];

/** Page views of a lead, each with a title. */
const views = (lead: string, ...titles: string[]) =>
  ingested(
    lead,
    titles.map((title, index) => ({
      id: idOf(`${lead} ${title} ${String(index)}`),
      metadata: { job: { title } },
    })),
  );

const scoreOf = async (lead: string) => (await rig.get(`/score/${idOf(lead)}`)).body;
const explain = async (lead: string, query = '') =>
  (await rig.get(`/lead/${idOf(lead)}/score-explain?score_type=profile&range_hours=876000${query}`)).body;

describe('a profile score', () => {
  test('follows the profile, beside the engagement score, and every change has its reason', async () => {
    await rig.score([views('ada', 'VP of Sales')]);
    expect(await scoreOf('ada')).toMatchObject({ score: 5, scores: { engagement: 5, profile: 12 } });
    await rig.score([views('ada', 'Analyst')]);
    expect(await scoreOf('ada')).toMatchObject({
      score: 10,
      scores: { engagement: 10, profile: -8 },
      rulesets: [{ score: 10 }, { ruleset_id: idOf('Fit'), name: 'Fit', score: -8 }],
    });
    const explained = await explain('ada');
    expect(explained).toMatchObject({ score_type: 'profile', score: -8, unattributed: 0, level: null });
    expect(explained.top_drivers).toMatchObject([
      { rule_id: idOf('free mail'), total: -8, event_type: 'Profile' },
    ]);
    expect((explained.profile_entries as JsonObject[]).map(({ words }) => words)).toEqual([
      '-20: the profile no longer meets "Decision maker" (seniority is "vp").',
      '-8: the profile began to meet the rule (email_domain is "example.com").',
      '+20: the profile began to meet "Decision maker" (seniority is "vp").',
    ]);
    expect(await explain('ada', '&at=2025-01-01')).toMatchObject({ score: 0, profile_entries: [] });
  });

  test('leaves the explanation and the list by engagement score as they are', async () => {
    expect((await rig.get(`/lead/${idOf('ada')}/score-explain?range_hours=876000`)).body).toMatchObject({
      score: 10,
      unattributed: 0,
      top_drivers: [{ rule_id: idOf('view'), total: 10 }],
    });
    expect((await rig.get('/leads?min_score=10')).body).toMatchObject({
      total: 1,
      data: [{ id: idOf('ada'), scores: { engagement: 10, profile: -8 } }],
    });
  });

  test('loses the points of a rule that was switched off with the next event of the lead', async () => {
    await rig.score([views('bob', 'VP')]);
    expect(await rig.request(setProfileRulesActive(['vp'], false))).toMatchObject({
      result: { updated_count: 1, updated_rules: [idOf('vp')] },
    });
    expect(await scoreOf('bob')).toMatchObject({ scores: { profile: 12 } });
    await rig.score([views('bob', 'VP')]);
    expect(await scoreOf('bob')).toMatchObject({ scores: { profile: -8 } });
    expect((await explain('bob')).profile_entries).toMatchObject([
      { points: -20, rule_version: 2, words: expect.stringContaining('was switched off') },
      { points: -8 },
      { points: 20 },
    ]);
    await rig.request(setProfileRulesActive(['vp'], true));
  });

  test('counts to the leads that a rule has moved: those to whom it gave points, and those from whom it took them', async () => {
    await rig.written();
    expect((await rig.get(`/rules/${idOf('vp')}/history`)).body).toMatchObject({
      data: [
        { version: 3, leads_moved: 0 },
        { version: 2, leads_moved: 1 },
        { version: 1, leads_moved: 2, leads_moved_is_estimate: false },
      ],
    });
  });

  test('follows a changed rule and the limits of its ruleset with the next event of the lead', async () => {
    await rig.score([views('eve', 'VP')]);
    expect(await rig.request(updateRule('vp', { weight: 30, label: 'Buyer' }))).toMatchObject({
      result: { weight: 30, version: 4, label: 'Buyer' },
    });
    await rig.request(updateRuleset('Fit', { max_score: 15 }));
    expect(await scoreOf('eve')).toMatchObject({ scores: { profile: 12 } });
    await rig.score([views('eve', 'VP')]);
    expect(await scoreOf('eve')).toMatchObject({
      scores: { profile: 15 },
      rulesets: [{ score: 10 }, { ruleset_id: idOf('Fit'), score: 15 }],
    });
    expect(await explain('eve')).toMatchObject({
      score: 15,
      unattributed: 0,
      adjustments: [
        { reason: 'held_by_ruleset', points: -7, text: 'Fit: 7 points held back, at most 15 a lead' },
      ],
      profile_entries: [
        { points: 10, words: '+10: the weight of "Buyer" (seniority is "vp") was changed from 20 to 30.' },
        { points: -8 },
        { words: expect.stringContaining('"Decision maker"') },
      ],
    });
    await rig.request(updateRule('vp', { weight: 20, label: 'Decision maker' }));
    await rig.request(updateRuleset('Fit', { max_score: null }));
  });

  test('of a deleted lead is gone, and a later lead of its alias starts anew', async () => {
    await rig.score([views('cy', 'VP'), deleted('cy'), views('cy', 'Analyst')]);
    expect(await scoreOf('cy')).toMatchObject({ scores: { engagement: 5, profile: -8 } });
    expect(await explain('cy')).toMatchObject({ score: -8, unattributed: 0 });
  });

  test('and the profile are what a rebuild gives', async () => {
    const live = await rig.documents();
    await rig.rebuild();
    expect(await rig.documents()).toEqual(live);
  });
});

describe('what is configured', () => {
  test('is listed for the OU, and for no other', async () => {
    expect((await rig.get('/profile-scoring/mappings?field=seniority')).body).toMatchObject({
      total: 1,
      data: [{ id: idOf('seniority'), source: 'metadata.job.title' }],
    });
    expect((await rig.get('/profile-scoring/rulesets')).body).toMatchObject({
      total: 1,
      data: [{ id: idOf('Fit') }],
    });
    expect((await rig.get(`/profile-scoring/rules?ruleset_id=${idOf('Fit')}`)).body).toMatchObject({
      total: 2,
      data: [{ id: idOf('vp'), filter_label: 'seniority is "vp"' }, { id: idOf('free mail') }],
    });
    expect((await rig.get('/engagement-scoring/rules')).body).toMatchObject({ total: 1 });
    for (const path of ['mappings', 'rulesets', 'rules'])
      expect((await rig.get(`/profile-scoring/${path}`, { ou: otherOuId })).body).toMatchObject({ total: 0 });
  });

  test('can be tested on a lead, on metadata and on a sample, and nothing is stored', async () => {
    const before = await rig.documents();
    const ofLead = await rig.post('/profile-scoring/test', { lead_id: idOf('ada') });
    expect(ofLead.body).toMatchObject({
      points: -8,
      profile: { seniority: 'analyst', email_domain: 'example.com' },
      rules: [
        { rule_id: idOf('vp'), matched: false },
        { rule_id: idOf('free mail'), matched: true },
      ],
    });
    const changed = await rig.post('/profile-scoring/test', {
      lead_id: idOf('ada'),
      metadata: { job: { title: 'VP' } },
      profile: { email_domain: 'engines.example' },
      rules: [{ conditions: isVp, weight: 3 }],
    });
    expect(changed.body).toMatchObject({ points: 23, rules_total: 3 });
    expect((await rig.post('/profile-scoring/test', { lead_id: idOf('nobody') })).status).toBe(404);
    expect(
      (await rig.post('/profile-scoring/test', { lead_id: idOf('ada') }, { ou: otherOuId })).status,
    ).toBe(404);
    expect(await rig.documents()).toEqual(before);
  });

  test('a field that nothing feeds any more leaves the profile with the next event', async () => {
    await rig.score([views('dora', 'VP')]);
    await rig.request(removeMapping('seniority'));
    await rig.score([views('dora', 'VP')]);
    expect(await scoreOf('dora')).toMatchObject({ scores: { profile: -8 } });
    expect(await rig.request(removeMapping('seniority'))).toMatchObject({ code: 'mapping_not_found' });
  });
});

test('a profile score follows what callers set for the lead, with a recorded reason, and what events say once that is taken back', async () => {
  await rig.request(addMapping('rank', 'rank', 'metadata.rank'));
  await rig.request(
    createProfileRule('top', [{ field: 'rank', operator: 'equals', value: 'top' }], { label: 'Top' }),
  );
  await rig.score([views('patched', 'Analyst')]);
  const before = ((await scoreOf('patched')).scores as { profile: number }).profile;
  await rig.score([
    patched('patched', { rank: 'top', name: 'Pat Ched', phase: 'Won', $x: { 'a.b': 1 } }),
    views('patched', 'Analyst', 'Poet'),
  ]);
  expect((await scoreOf('patched')).scores).toMatchObject({ engagement: 15, profile: before + 20 });
  const [entry] = (await explain('patched')).profile_entries as JsonObject[];
  expect(entry?.words).toBe('+20: the profile began to meet "Top" (rank is "top").');
  const conditions = { all: [{ field: 'phase', operator: 'equals', value: 'won' }] };
  expect((await rig.post('/filters/preview', { conditions })).body).toMatchObject({ total: 1 });
  const { body: listed } = await rig.get('/leads?q=pat%20ched');
  expect(listed).toMatchObject({ total: 1, data: [{ name: 'Pat Ched', phase: 'Won', event_count: 3 }] });
  await rig.score([patched('patched', {})]);
  expect((await scoreOf('patched')).scores).toMatchObject({ engagement: 15, profile: before });
  expect((await rig.get('/leads?q=pat%20ched')).body).toMatchObject({ total: 0 });
});
