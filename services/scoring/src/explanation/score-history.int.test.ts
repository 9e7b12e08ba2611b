// The past of a lead's scores on real servers: by hour and day, on both clocks, and as a picture.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes, type AttributeFilter } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  addMapping,
  createProfileRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  otherOuId,
  setLevels,
} from '../testing/builders.js';
import { createDealRule, isWon } from '../testing/deal-builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
const lead = `/lead/${idOf('ada')}`;
const isVp: AttributeFilter[] = [{ field: 'title', operator: 'equals', value: 'vp' }];
const march = 'from=2026-03-28&to=2026-03-31&timezone=Europe/Berlin';

const view = (timestamp: string, received_at: string, metadata = {}) =>
  ingested('ada', [{ id: idOf(`view at ${timestamp}`), timestamp, metadata }], { received_at });

beforeAll(async () => {
  rig = await startRig();
  await rig.request(createRuleset('Fit', { score_type: 'profile' }));
  await rig.request(createRuleset('Deals', { score_type: 'deal' }));
  await rig.request(createRule('view', { weight: 10 }));
  await rig.request(addMapping('title', 'title', 'metadata.title'));
  await rig.request(createProfileRule('vp', isVp, { weight: 20 }));
  await rig.request(createDealRule('won', isWon, { weight: 30 }));
  await rig.request(
    setLevels([
      ['Cold', null, 19],
      ['Warm', 20, null],
    ]),
  );
  await rig.score([
    // The last hour of the day before the clocks of Berlin are changed, and the first of the day after it.
    view('2026-03-28T22:30:00.000Z', '2026-03-28T22:30:01.000Z', { title: 'vp' }),
    view('2026-03-29T22:30:00.000Z', '2026-03-29T22:30:01.000Z', {
      deal: { id: 'D-1', stage: 'won' },
    }),
    // Imported later.
    view('2026-03-28T10:00:00.000Z', '2026-04-10T09:00:00.000Z'),
  ]);
  // A deal sends its score to its leads after the events are scored.
  await eventually('the deal counts', async () => {
    const { body } = await rig.get(`/score/${idOf('ada')}?score_type=deal`);
    return body.score === 30 ? true : undefined;
  });
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

/** The history, in the declared form. */
async function history(query?: string) {
  const { status, body } = await rig.get(`${lead}/score-history${query === undefined ? '' : `?${query}`}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return routes.getScoreHistory.responses[200].schema.parse(body);
}

describe('GET /lead/{leadID}/score-history', () => {
  test('has the running total of each day of the time zone, and the levels as bands', async () => {
    const { points, ...told } = await history(march);
    expect(told).toMatchObject({
      score_type: 'engagement',
      granularity: 'day',
      timezone: 'Europe/Berlin',
      from: '2026-03-27T23:00:00.000Z',
      to: '2026-03-30T21:59:59.999Z',
      score_before: 0,
      score: 30,
      level: { name: 'Warm' },
      levels: [
        { name: 'Cold', min_score: null, max_score: 19, color: '#e8590c' },
        { name: 'Warm', min_score: 20, max_score: null },
      ],
    });
    expect(points.map(({ label, added, score }) => [label, added, score])).toEqual([
      ['2026-03-28', 20, 20],
      ['2026-03-29', 0, 20],
      ['2026-03-30', 10, 30],
    ]);
  });

  test('has at each point the score of the explanation of its moment, on both clocks', async () => {
    for (const clock of ['', '&known_at=2026-03-29T12:00:00Z', '&known_at=2026-04-10T08:00:00Z'])
      for (const asked of [march, 'from=2026-03-28T09:00:00Z&to=2026-03-30T00:00:00Z&granularity=hour'])
        for (const { at, score } of (await history(asked + clock)).points.filter(
          (_, index) => index % 5 === 0,
        )) {
          const { body } = await rig.get(`${lead}/score-explain?at=${at}${clock}`);
          expect({ clock, at, score: body.score }).toEqual({ clock, at, score });
        }
  });

  test('as known before an import is what it was then, with the levels of then', async () => {
    const known = await history(`${march}&known_at=2026-04-01`);
    expect(known.known_at).toBe('2026-04-01T00:00:00.000Z');
    expect(known.points.map(({ score }) => score)).toEqual([10, 10, 20]);
    expect((await history(`${march}&known_at=2026-01-01T00:00:00Z`)).levels).toEqual([]);
  });

  test('without parameters is of 30 days, and ends now with the score of the lead', async () => {
    const { points, to, score } = await history();
    expect(points).toHaveLength(30);
    expect(Math.abs(Date.parse(to) - Date.now())).toBeLessThan(60_000);
    expect(score).toBe(30);
  });

  test('of a profile or deal score follows its decisions', async () => {
    for (const [score_type, total] of [
      ['profile', 20],
      ['deal', 30],
    ] as const) {
      const told = await history(`${march}&score_type=${score_type}`);
      expect([told.score_type, told.score, told.levels]).toEqual([score_type, total, []]);
      for (const { at, score } of told.points) {
        const { body } = await rig.get(`${lead}/score-explain?score_type=${score_type}&at=${at}`);
        expect({ at, score: body.score }).toEqual({ at, score });
      }
    }
  });

  test('of another OU, of no lead, and of a lead that was deleted is 404', async () => {
    await rig.score([ingested('gone', [{}]), deleted('gone')]);
    for (const suffix of ['', '.svg', '.png']) {
      const path = `${lead}/score-history${suffix}`;
      expect(await rig.get(path, { ou: otherOuId })).toMatchObject({
        status: 404,
        body: { code: 'lead_not_found' },
      });
      for (const name of ['nobody', 'gone'])
        expect((await rig.get(`/lead/${idOf(name)}/score-history${suffix}`)).status).toBe(404);
    }
  });

  test.each([
    'timezone=Europe/Atlantis',
    'from=2020-01-01',
    'granularity=minute',
    'score_type=account',
    'known_at=2999-01-01',
    'page=1',
  ])('refuses %s', async (query) => {
    for (const suffix of ['', '.svg', '.png'])
      expect(await rig.get(`${lead}/score-history${suffix}?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
  });

  test('waits for a position, and answers 503 when it is not reached in time', async () => {
    const positions = [{ partition: 0, offset: 1_000_000_000n }];
    for (const suffix of ['', '.svg', '.png'])
      expect((await rig.get(`${lead}/score-history${suffix}`, { positions })).status).toBe(503);
  });
});

describe('GET /lead/{leadID}/score-history.svg', () => {
  test('is a picture of the same, with a title and a description, and may run and load nothing', async () => {
    const { status, headers, text } = await rig.get(`${lead}/score-history.svg?${march}&width=480`);
    expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /);
    expect(text).toMatch(/^<svg\s+xmlns="http:\/\/www.w3.org\/2000\/svg"\s+width="480"/);
    expect(text).toContain(
      'Lead score of \u2068ada@example.com\u2069, 28 March 2026 to 30 March 2026</title>',
    );
    expect(text).toContain('28 March 2026: 20; 29 March 2026: 20; 30 March 2026: 30.');
    expect(text).toContain('Warm');
    expect(text).not.toContain('<script');
  });

  test.each([
    ['profile', 'Profile score'],
    ['deal', 'Deal score'],
  ])('of a %s score says so', async (score_type, title) => {
    const { text } = await rig.get(`${lead}/score-history.svg?${march}&score_type=${score_type}`);
    expect(text).toContain(`>${title} of `);
  });

  test('is a PNG of twice the width as .png, and each of both where Accept prefers it', async () => {
    const asked = (path: string, accept: string) =>
      rig.get(`${lead}/score-history${path}?${march}&width=480`, { headers: { accept } });
    const types = await Promise.all(
      [
        asked('.png', '*/*'),
        asked('', 'image/png'),
        asked('', 'image/svg+xml'),
        asked('', 'application/json'),
        asked('', '*/*'),
      ].map(async (answer) => {
        const { status, headers, text } = await answer;
        expect(status).toBe(200);
        return [headers.get('content-type'), text.slice(0, 4)];
      }),
    );
    const png = ['image/png', expect.stringContaining('PNG')];
    const json = ['application/json; charset=utf-8', expect.stringContaining('{')];
    expect(types).toEqual([png, png, ['image/svg+xml; charset=utf-8', '<svg'], json, json]);
  }, 60_000);

  test('is refused with a width that no picture has', async () => {
    expect((await rig.get(`${lead}/score-history.svg?width=10`)).status).toBe(400);
  });
});
