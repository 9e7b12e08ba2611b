// Saved filters on real servers: they are in the next answer, and GET /leads lists their leads with every other parameter.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { routes, type LeadFilterGroup, type routeDeclarations } from '@lead-scoring/contracts';
import { createRule, idOf, ingested, otherOuId, ouId, setLevels } from '../testing/builders.js';
import { createFilter, deleteFilter, updateFilter } from '../testing/filter-builders.js';
import { startRig, type Rig } from '../testing/rig.js';
import { leadIdsOf } from './matching-leads.js';

type Page = { data: routeDeclarations.Lead[]; total: number; next_cursor?: string };

let rig: Rig;

beforeAll(async () => {
  rig = await startRig({ partitions: 2 });
  await rig.request(createRule('view', { weight: 10 }));
  await rig.request(setLevels([['Hot', 30, null]]));
  const recently = new Date(Date.now() - 3_600_000).toISOString();
  await rig.score(
    Array.from({ length: 12 }, (_, index) =>
      ingested(
        `lead${String(index)}`,
        Array.from({ length: (index % 4) + 1 }, () => ({
          timestamp: index < 6 ? recently : '2025-01-01T00:00:00.000Z',
          metadata: { company: index % 2 === 0 ? 'ACME GmbH' : 'Other' },
        })),
        {
          fields: [{ field: 'company', value: index % 2 === 0 ? 'ACME GmbH' : 'Other', at: recently }],
        } as never,
      ),
    ),
  );
}, 120_000);

afterAll(() => rig.stop(), 60_000);

const acme: LeadFilterGroup = {
  all: [
    { field: 'company', operator: 'contains', value: 'acme' },
    { field: 'last_activity_at', operator: 'gte', value: { days_ago: 7 } },
  ],
};

test('a saved filter lists its leads with paging, sort, cursor and total, and changes with its conditions', async () => {
  const made = await rig.request(createFilter('Acme', { conditions: acme }));
  expect(made).toMatchObject({ outcome: 'done' });
  const id = idOf('Acme');
  expect(routes.getFilter.responses[200].schema.parse((await rig.get(`/filters/${id}`)).body)).toMatchObject({
    name: 'Acme',
    filter_label: 'company contains "acme" and last activity is in the last 7 days',
    version: 1,
  });
  const list = async (query: string) => (await rig.get(`/leads?filter_id=${id}&${query}`)).body as Page;
  const all = await list('');
  expect(all.total).toBe(3);
  expect(new Set(all.data.map((lead) => lead.id))).toEqual(new Set(['lead0', 'lead2', 'lead4'].map(idOf)));
  // For series of their events.
  const matching = await rig.get(`/internal/matching-leads?filter_id=${id}`);
  expect((matching.body as { leads: string[] }).leads.sort()).toEqual(all.data.map((lead) => lead.id).sort());
  const tooMany = leadIdsOf(rig.readModel, ouId, {}, 11);
  await expect(tooMany).rejects.toMatchObject({
    code: 'range_too_large',
    detail: expect.stringContaining('fewer leads'),
  });
  expect(await leadIdsOf(rig.readModel, ouId, {}, 12)).toHaveLength(12);
  const first = await list('limit=2&sort=-score');
  expect(first.data.map(({ score }) => score)).toEqual([30, 10]);
  const second = await list(`limit=2&sort=-score&cursor=${first.next_cursor ?? ''}`);
  expect([...first.data, ...second.data].map((lead) => lead.id).sort()).toEqual(
    all.data.map((lead) => lead.id).sort(),
  );
  expect((await list('level=hot')).data.map((lead) => lead.id)).toEqual([idOf('lead2')]);
  expect((await list('max_score=10')).total).toBe(2);
  expect((await list('q=lead4')).total).toBe(1);

  await rig.request(
    updateFilter('Acme', { conditions: { any: [{ field: 'level', operator: 'equals', value: 'Hot' }] } }),
  );
  expect((await list('')).total).toBe(6);
  await rig.request(setLevels([['Hot', 40, null]]));
  expect((await list('')).total).toBe(3);

  await rig.request(deleteFilter('Acme'));
  for (const path of [`/filters/${id}`, `/leads?filter_id=${id}`, `/internal/matching-leads?filter_id=${id}`])
    expect(await rig.get(path)).toMatchObject({ status: 404, body: { code: 'filter_not_found' } });
});

test('a preview counts, shows the first leads, and names a level or ruleset that is not there', async () => {
  const preview = (conditions: LeadFilterGroup) => rig.post('/filters/preview', { conditions });
  const { status, body } = await preview(acme);
  expect(status).toBe(200);
  expect(routes.previewFilter.responses[200].schema.parse(body)).toMatchObject({ total: 3 });
  expect(await preview({ all: [{ field: 'level', operator: 'equals', value: 'Icy' }] })).toMatchObject({
    status: 404,
    body: { code: 'level_not_found', errors: [{ path: 'body.conditions.all[0].value' }] },
  });
  expect(
    await preview({
      all: [{ field: 'ruleset_score', ruleset_id: idOf('none'), operator: 'gte', value: 1 }],
    }),
  ).toMatchObject({ status: 404, body: { code: 'ruleset_not_found' } });
});

test('filters of another organizational unit are not listed, and are not found', async () => {
  await rig.request(deleteFilter('Acme'));
  await rig.request(createFilter('Theirs', { ou_id: otherOuId, conditions: acme }));
  await rig.request(createFilter('Ours', { ou_id: ouId, conditions: acme }));
  const { body } = await rig.get('/filters');
  expect(body).toMatchObject({ total: 1, data: [{ name: 'Ours' }] });
  expect((await rig.get(`/leads?filter_id=${idOf('Theirs')}`)).status).toBe(404);
});
