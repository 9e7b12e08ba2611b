// The grid of profile by engagement, and profile levels, on real servers: set by commands, read beside scores, and crossed by
// decisions on profiles.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Grid, records as declarations, routeDeclarations } from '@lead-scoring/contracts';
import type { ConfigurationCommand } from '../configuration/messages.js';
import {
  addMapping,
  at,
  createProfileRule,
  createRule,
  createRuleset,
  idOf,
  ingested,
  otherOuId,
  ouId,
  setLevels,
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.request(createRuleset('Fit', { score_type: 'profile' }));
  await rig.request(createRule('view'));
  await rig.request(addMapping('seniority', 'seniority', 'metadata.title', 'lower'));
  await rig.request(createProfileRule('vp', [{ field: 'seniority', operator: 'equals', value: 'vp' }]));
  await rig.score([
    viewed('fit and hot', 'VP', 5),
    viewed('fit and cold', 'VP', 1),
    viewed('hot', 'Analyst', 5),
    viewed('cold', 'Analyst', 1),
    // No mapping finds anything: the lead has no profile.
    ingested('unknown', [{}]),
  ]);
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const viewed = (lead: string, title: string, views: number) =>
  ingested(
    lead,
    Array.from({ length: views }, (_, index) => ({
      id: idOf(`${lead} ${title} ${String(index)}`),
      metadata: { title },
    })),
  );
/** A VP has 20 profile points, a view gives 10 engagement points. */
const grid: Grid = { profile: { A: 20, B: 10, C: 5 }, engagement: { 1: 50, 2: 30, 3: 20 } };
const setGrid = (to: Grid | null): ConfigurationCommand => ({
  type: 'SetScoringGrid',
  payload: { ou_id: ouId, grid: to, requested_at: at },
});
const listed = async (query: string) => {
  const { body } = await rig.get(`/leads?${query}`);
  return (body.data as routeDeclarations.Lead[]).map(({ id }) => id);
};
const score = async (lead: string) => (await rig.get(`/score/${idOf(lead)}`)).body;

describe('a grid', () => {
  test('is none at first: no lead has a cell, and a list by cell is 404', async () => {
    expect((await rig.get('/scoring/grid')).body).toEqual({ grid: null });
    expect(await score('fit and hot')).not.toHaveProperty('grid');
    expect(await rig.get('/leads?grid=A1')).toMatchObject({
      status: 404,
      body: { code: 'grid_not_found', detail: expect.stringContaining('PUT /scoring/grid') },
    });
  });

  test('that was set is in the next answers of its OU, with the cell of each lead', async () => {
    expect(await rig.request(setGrid(grid))).toEqual({ outcome: 'done', result: { grid } });
    expect((await rig.get('/scoring/grid')).body).toEqual({ grid });
    expect((await rig.get('/scoring/grid', { ou: otherOuId })).body).toEqual({ grid: null });
    const { body } = await rig.get('/leads?limit=100');
    expect(
      Object.fromEntries((body.data as routeDeclarations.Lead[]).map(({ id, grid: cell }) => [id, cell])),
    ).toEqual({
      [idOf('fit and hot')]: 'A1',
      [idOf('fit and cold')]: 'A4',
      [idOf('hot')]: 'D1',
      [idOf('cold')]: 'D4',
      [idOf('unknown')]: 'D4',
    });
    expect(await score('fit and hot')).toMatchObject({ grid: 'A1', scores: { profile: 20 } });
  });

  test.each([
    ['grid=A1', ['fit and hot']],
    ['grid=D1&sort=name', ['hot']],
    ['grid=D4&sort=name', ['cold', 'unknown']],
    ['grid=D4&sort=-name', ['unknown', 'cold']],
    ['grid=B2', []],
    ['grid=A4&min_score=5&max_score=10&sort=-created_at', ['fit and cold']],
    ['grid=A4&min_score=11', []],
    ['grid=A1&q=fit&sort=last_activity_at', ['fit and hot']],
    ['grid=A1&owner=nobody', []],
  ])('%s lists the leads of the cell within the other bounds', async (query, leads) => {
    expect(await listed(query)).toEqual(leads.map(idOf));
  });

  test('lists its cells by cursor as by page, with the total', async () => {
    const first = await rig.get('/leads?grid=D4&sort=name&limit=1');
    expect(first.body).toMatchObject({ total: 2, data: [{ id: idOf('cold') }] });
    const rest = await rig.get(`/leads?grid=D4&sort=name&limit=1&cursor=${String(first.body.next_cursor)}`);
    expect(rest.body).toMatchObject({ data: [{ id: idOf('unknown') }] });
    expect(rest.body).not.toHaveProperty('next_cursor');
    expect((await rig.get('/leads?grid=E9')).status).toBe(400);
  });
});

describe('profile levels', () => {
  test('are none at first, and then the list that was set; a lead without a profile is in the level of 0', async () => {
    expect((await rig.get('/profile-scoring/levels')).body).toEqual({ levels: [] });
    expect(await score('hot')).toMatchObject({ profile_level: null });
    const set = await rig.request({
      type: 'SetProfileLevels',
      payload: setLevels([
        ['Poor', null, 9],
        ['Good', 10, null],
      ]).payload,
    });
    const { body } = await rig.get('/profile-scoring/levels');
    expect(set).toEqual({ outcome: 'done', result: body });
    expect((await rig.get('/profile-scoring/levels', { ou: otherOuId })).body).toEqual({ levels: [] });
    expect((await rig.get('/engagement-scoring/levels')).body).toEqual({ levels: [] });
    expect(await score('fit and hot')).toMatchObject({ level: null, profile_level: { name: 'Good' } });
    expect(await score('unknown')).toMatchObject({ profile_level: { name: 'Poor' } });
  });

  test('are crossed by decisions on the profile, and engagement levels are not', async () => {
    await rig.score([viewed('mover', 'VP', 1)]);
    await rig.score([viewed('mover', 'Analyst', 1)]);
    const crossings = (await rig.recordsOn('scoring.events')).flatMap(({ type, payload }) => {
      if (type !== 'LeadLevelChanged') return [];
      const {
        lead_id,
        score_type,
        level_name,
        previous_score,
        score: to,
        cause,
      } = payload as declarations.LeadLevelChanged;
      return [[lead_id, score_type, level_name, previous_score, to, cause]];
    });
    expect(crossings).toEqual([
      [idOf('mover'), 'profile', 'Good', 0, 20, 'profile'],
      [idOf('mover'), 'profile', 'Poor', 20, 0, 'profile'],
    ]);
  });
});
