// Pages deep within the leads of one score, on real servers: each lead is on one page, in the order of the list.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { routes, type routeDeclarations } from '@lead-scoring/contracts';
import {
  createRule,
  createRuleset,
  addMapping,
  createProfileRule,
  idOf,
  ingested,
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

type Page = { data: routeDeclarations.Lead[]; total: number };

const leads = 1_700;
const limit = 100;
let rig: Rig;

beforeAll(async () => {
  rig = await startRig({ partitions: 2 });
  await rig.request(createRuleset('Fit', { score_type: 'profile' }));
  await rig.request(createRule('view', { weight: 1 }));
  await rig.request(addMapping('seniority', 'seniority', 'metadata.title'));
  await rig.request(
    createProfileRule('Head', [{ field: 'seniority', operator: 'equals', value: 'Head' }], { weight: 30 }),
  );
  const event = { metadata: { title: 'Head' } };
  // A few have other scores, before and behind the others.
  await rig.score(
    Array.from({ length: leads }, (_, nth) =>
      ingested(`lead${String(nth)}`, nth < 3 ? [event, event] : [event]),
    ),
  );
}, 120_000);

afterAll(() => rig.stop(), 60_000);

async function page(query: string): Promise<Page> {
  const { status, body } = await rig.get(`/leads?limit=${String(limit)}&${query}`);
  expect(status).toBe(200);
  return routes.listLeads.responses[200].schema.parse(body);
}

test.each(['engagement', 'profile'])(
  'by %s score, in both directions',
  async (score_type) => {
    const expected = Array.from({ length: leads }, (_, nth) => ({
      id: idOf(`lead${String(nth)}`),
      score: score_type === 'engagement' && nth < 3 ? 2 : 1,
    }))
      .toSorted((a, b) => a.score - b.score || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    for (const sort of ['score', '-score']) {
      const listed: string[] = [];
      for (let number = 1; number <= leads / limit; number += 1) {
        const { data, total } = await page(`score_type=${score_type}&sort=${sort}&page=${String(number)}`);
        expect(total).toBe(leads);
        listed.push(...data.map(({ id }) => id));
      }
      expect(listed).toEqual(sort === 'score' ? expected : expected.toReversed());
    }
  },
  60_000,
);
