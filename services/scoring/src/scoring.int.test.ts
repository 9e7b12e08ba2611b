// The scoring service on real servers: records come through the log, and the query port shows their effect.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { leadIdOf, type records as declarations, routeDeclarations } from '@lead-scoring/contracts';
import type { Answer } from '@lead-scoring/testing/service-rig';
import { defaultRulesetIdOf } from './configuration/decide.js';
import {
  at,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  otherOuId,
  ouId,
  resetScores,
  setLevels,
  setRulesActive,
  updateRuleset,
  type LevelBuilder,
} from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const list = ({ body }: Answer) => body.data as routeDeclarations.Lead[];
const nextCursor = ({ body }: Answer) => body.next_cursor as string | undefined;

/** The ids of all leads of a list, by pages and by cursors. */
async function walk(
  query: string,
  options: { ou?: string } = {},
): Promise<{ byPage: string[]; byCursor: string[]; total: number }> {
  const byPage: string[] = [];
  const byCursor: string[] = [];
  let total: number;
  for (let page = 1; ; page += 1) {
    const answer = await rig.get(`/leads?${query}&limit=7&page=${String(page)}`, options);
    total = answer.body.total as number;
    if (list(answer).length === 0) break;
    byPage.push(...list(answer).map(({ id }) => id));
  }
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const answer = await rig.get(
      `/leads?${query}&limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`,
      options,
    );
    byCursor.push(...list(answer).map(({ id }) => id));
    cursor = nextCursor(answer);
  }
  return { byPage, byCursor, total };
}

describe('rules', () => {
  test('commands are answered with the resource, and their changes can be read at once', async () => {
    const created = await rig.request(createRuleset('Intent'));
    expect(created).toMatchObject({
      outcome: 'done',
      result: { id: idOf('Intent'), name: 'Intent', version: 1 },
    });
    expect((await rig.get('/engagement-scoring/rulesets')).body).toMatchObject({
      total: 1,
      data: [{ id: idOf('Intent') }],
    });
    expect(await rig.request(createRuleset('Intent', { ruleset_id: idOf('another') }))).toMatchObject({
      outcome: 'rejected',
      code: 'duplicate_name',
    });
    const rule = await rig.request(createRule('view', { ruleset_id: idOf('Intent'), weight: 5 }));
    expect(rule).toMatchObject({ outcome: 'done', result: { ruleset_id: idOf('Intent'), weight: 5 } });
    await rig.request(createRule('open', { event_type: 'Email Open', weight: 1 }));
    const rules = await rig.get('/engagement-scoring/rules');
    expect(rules.body).toMatchObject({
      total: 2,
      data: [{ id: idOf('view') }, { ruleset_id: defaultRulesetIdOf(ouId) }],
    });
    expect((await rig.get('/engagement-scoring/rules?event_type=email_open')).body).toMatchObject({
      total: 1,
    });
    expect(
      (await rig.get(`/engagement-scoring/rules?ruleset_id=${idOf('Intent')}&limit=1`)).body,
    ).toMatchObject({ total: 1 });
  });

  test('a repeated command gets the same answer and changes nothing', async () => {
    const before = await rig.documents();
    expect(await rig.request(createRuleset('Intent'))).toMatchObject({
      outcome: 'done',
      result: { version: 1 },
    });
    expect(await rig.documents()).toEqual(before);
  });

  test('a bulk update changes all of its rules or none', async () => {
    const refused = await rig.request(setRulesActive(['view', 'unknown'], false));
    expect(refused).toMatchObject({
      outcome: 'rejected',
      code: 'rule_not_found',
      errors: [{ path: 'body.rule_ids[1]' }],
    });
    expect((await rig.get('/engagement-scoring/rules')).body).toMatchObject({
      data: [{ active: true }, { active: true }],
    });
    expect(await rig.request(setRulesActive(['view', 'open', 'view'], false))).toMatchObject({
      outcome: 'done',
      result: { updated_count: 2, updated_rules: [idOf('view'), idOf('open')] },
    });
    expect((await rig.get('/engagement-scoring/rules')).body).toMatchObject({
      data: [{ active: false }, { active: false }],
    });
    await rig.request(setRulesActive(['view', 'open'], true));
  });

  test('another OU does not see these rules', async () => {
    expect((await rig.get('/engagement-scoring/rules', { ou: otherOuId })).body).toMatchObject({
      total: 0,
      data: [],
    });
    expect(await rig.request(createRuleset('Intent', { ou_id: otherOuId }))).toMatchObject({
      outcome: 'done',
    });
  });
});

describe('scores', () => {
  test('events become points, a lead, and a place in the list', async () => {
    await rig.score([
      ingested('ada', [{}, { event_type: 'email_open' }], {
        fields: [{ field: 'name', value: 'Ada Lovelace', at }],
      }),
      ingested('bob', [{ event_type: 'Unknown' }]),
    ]);
    const { body } = await rig.get(`/score/${idOf('ada')}`);
    expect(body).toEqual({
      lead_id: idOf('ada'),
      score: 6,
      scores: { engagement: 6 },
      level: null,
      rulesets: [
        { ruleset_id: idOf('Intent'), name: 'Intent', score: 5 },
        { ruleset_id: defaultRulesetIdOf(ouId), name: 'Default', score: 1 },
      ],
      last_activity_at: '2026-01-01T11:00:00.000Z',
    });
    const leads = await rig.get('/leads');
    expect(leads.body).toMatchObject({ total: 2, page: 1, limit: 25 });
    expect(list(leads).map(({ name, score }) => [name, score])).toEqual([
      ['Ada Lovelace', 6],
      ['bob@example.com', 0],
    ]);
  });

  test('a rule change counts for events that are processed after it, and earlier points stay', async () => {
    await rig.request(setRulesActive(['view'], false));
    await rig.score([ingested('carol', [{}])]);
    await rig.request(setRulesActive(['view'], true));
    await rig.score([ingested('carol', [{}])]);
    await rig.request(updateRuleset('Intent', { active: false }));
    await rig.score([ingested('carol', [{}])]);
    await rig.request(updateRuleset('Intent', { active: true }));
    expect((await rig.get(`/score/${idOf('carol')}`)).body).toMatchObject({ score: 5 });
  });

  test('a lead of another OU, or an unknown lead, is 404', async () => {
    expect(await rig.get(`/score/${idOf('ada')}`, { ou: otherOuId })).toMatchObject({
      status: 404,
      body: { code: 'lead_not_found' },
    });
    expect(await rig.get(`/lead/${idOf('ada')}/score-explain`, { ou: otherOuId })).toMatchObject({
      status: 404,
    });
    expect(await rig.get(`/score/${idOf('nobody')}`)).toMatchObject({ status: 404 });
    expect((await rig.get('/leads', { ou: otherOuId })).body).toMatchObject({ total: 0, data: [] });
  });

  test('a read that waits for a position is 503 when it does not come, and 200 when it has', async () => {
    const partition = rig.log.partitionOf(idOf('ada'));
    expect(await rig.get(`/score/${idOf('ada')}`, { positions: [{ partition, offset: 1n }] })).toMatchObject({
      status: 200,
    });
    expect(
      await rig.get(`/score/${idOf('ada')}`, { positions: [{ partition, offset: 1_000_000n }] }),
    ).toMatchObject({
      status: 503,
      body: { code: 'position_not_reached' },
    });
  });
});

describe('lists of leads', () => {
  const names = Array.from({ length: 30 }, (_, index) => `lead${String(index).padStart(2, '0')}`);
  const scoreOf = (index: number) => (index % 7) * 5;

  beforeAll(async () => {
    await rig.score(
      names.flatMap((name, index) => [
        ingested(name, [...Array.from({ length: index % 7 }, () => ({})), { event_type: 'Other' }], {
          fields: [
            { field: 'owner', value: index % 2 === 0 ? 'Sam' : 'Kim', at },
            { field: 'company', value: index === 3 ? 'Brightwater (Energy)' : 'Other', at },
          ],
        }),
      ]),
    );
  }, 60_000);

  test.each([
    '-score',
    'score',
    'last_activity_at',
    '-last_activity_at',
    'created_at',
    '-created_at',
    'name',
    '-name',
  ])('sorted by %s, pages and cursors list all leads once and in the same order', async (sort) => {
    const { byPage, byCursor, total } = await walk(`sort=${sort}`);
    expect(byPage).toHaveLength(total);
    expect(new Set(byPage).size).toBe(total);
    expect(byCursor).toEqual(byPage);
  });

  test.each([
    ['min_score=10', (score: number) => score >= 10],
    ['max_score=9.5', (score: number) => score <= 9],
    ['min_score=5&max_score=20&sort=score', (score: number) => score >= 5 && score <= 20],
    ['min_score=10&owner=Sam', (score: number) => score >= 10],
  ] as const)('%s takes the leads with these scores, and counts them', async (query, takes) => {
    const { byPage, byCursor, total } = await walk(query);
    const expected = names
      .filter((_, index) => takes(scoreOf(index)) && (!query.includes('owner') || index % 2 === 0))
      .map(idOf);
    expect(byPage.filter((id) => names.map(idOf).includes(id)).sort()).toEqual([...expected].sort());
    expect([total, byCursor]).toEqual([byPage.length, byPage]);
  });

  test('text is found within name, company and alias, special characters included', async () => {
    const found = async (q: string) =>
      list(await rig.get(`/leads/search?q=${encodeURIComponent(q)}`)).map(({ id }) => id);
    expect(await found('WATER (en')).toEqual([idOf('lead03')]);
    expect(await found('ead1')).toHaveLength(10);
    expect(await found('.*')).toEqual([]);
    expect(list(await rig.get('/leads?q=lovelace')).map(({ name }) => name)).toEqual(['Ada Lovelace']);
  });

  test('a complete alias finds its leads first, also if it was linked to them', async () => {
    const cookie = { alias_kind: 'cookie', alias: 'lead' };
    const own = { alias_kind: 'email', alias: 'own@example.com' };
    await rig.score([
      ingested('linked', [{}], { lead_id: leadIdOf(ouId, 'email', own.alias), aliases: [own, cookie] }),
      ingested('not own', [{}], { aliases: [{ alias_kind: 'email', alias: 'not-own@example.com' }] }),
    ]);
    const found = async (q: string) =>
      list(await rig.get(`/leads/search?q=${encodeURIComponent(q)}&limit=3`));
    expect((await found('Own@Example.com')).map(({ name }) => name)).toEqual(['own@example.com']);
    expect((await found('lead')).map(({ name }) => name)).toHaveLength(3);
    expect((await found('lead'))[0]?.name).toBe('own@example.com');
    const names: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const answer = await rig.get(`/leads/search?q=lead&limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
      names.push(...list(answer).map(({ name }) => name));
      cursor = nextCursor(answer);
    }
    expect(names).toHaveLength(31);
    expect(new Set(names).size).toBe(31);
  });

  test('a cursor of another list, or an invalid one, is 400', async () => {
    const { body } = await rig.get('/leads?limit=2');
    expect(await rig.get(`/leads?limit=2&sort=score&cursor=${String(body.next_cursor)}`)).toMatchObject({
      status: 400,
    });
    expect(await rig.get('/leads?cursor=abcd')).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
    expect(
      await rig.get(`/leads?limit=2&cursor=${String(body.next_cursor)}`, { ou: otherOuId }),
    ).toMatchObject({ status: 400 });
  });
});

describe('levels', () => {
  const ou = idOf('levels ou');
  const inUnit = { ou_id: ou };
  const three: LevelBuilder[] = [
    ['Cold', null, 9, { color: '#4c6ef5' }],
    ['Warm', 10, 39, { color: '#f59f00' }],
    ['Hot', 50, null, { color: '#e8590c' }],
  ];
  /** Of 0 to 60 points, four leads each. */
  const people = Array.from({ length: 28 }, (_, index) => ({
    name: `level lead ${String(index).padStart(2, '0')}`,
    score: 10 * (index % 7),
  }));
  const levels = async () =>
    (await rig.get('/engagement-scoring/levels', { ou })).body.levels as routeDeclarations.EngagementLevel[];
  const levelNames = async (query = 'limit=100') =>
    Object.fromEntries(
      list(await rig.get(`/leads?${query}`, { ou })).map(({ score, level }) => [score, level?.name ?? null]),
    );

  beforeAll(async () => {
    await rig.request(createRule('level view', inUnit));
    await rig.score(
      people.map(({ name, score }) =>
        ingested(name, [{ event_type: 'Other' }, ...Array.from({ length: score / 10 }, () => ({}))], inUnit),
      ),
    );
  }, 60_000);

  test('are none at first, and then the list that was set, in every answer with a score', async () => {
    expect(await levels()).toEqual([]);
    expect(await levelNames()).toMatchObject({ 0: null, 60: null });
    const set = await rig.request(setLevels(three, inUnit));
    const [, , hot] = await levels();
    expect(set).toEqual({ outcome: 'done', result: { levels: await levels() } });
    expect(hot).toEqual({
      id: expect.any(String),
      name: 'Hot',
      min_score: 50,
      max_score: null,
      color: '#e8590c',
    });
    expect(await levelNames()).toEqual({
      0: 'Cold',
      10: 'Warm',
      20: 'Warm',
      30: 'Warm',
      40: null,
      50: 'Hot',
      60: 'Hot',
    });
    const level = { id: hot?.id, name: 'Hot', color: '#e8590c' };
    const lead = idOf('level lead 06');
    expect(list(await rig.get('/leads/search?q=level%20lead%2006', { ou }))).toMatchObject([
      { score: 60, level },
    ]);
    for (const path of [`/score/${lead}`, `/lead/${lead}/score-explain`])
      expect((await rig.get(path, { ou })).body).toMatchObject({ score: 60, level });
    expect((await rig.get('/engagement-scoring/levels', { ou: otherOuId })).body).toEqual({ levels: [] });
  });

  test.each([
    ['level=Warm', (score: number) => score >= 10 && score <= 39],
    ['level=hot&sort=score', (score: number) => score >= 50],
    ['level=Cold&sort=name', (score: number) => score <= 9],
    ['level=Warm&min_score=15&max_score=100', (score: number) => score >= 15 && score <= 39],
    ['level=Warm&max_score=20&q=level', (score: number) => score >= 10 && score <= 20],
    ['level=Warm&min_score=50', () => false],
    ['level=Warm&min_score=50&sort=-created_at', () => false],
    ['level=Warm&min_score=20&sort=created_at', (score: number) => score >= 20 && score <= 39],
    ['level=Hot&sort=last_activity_at', (score: number) => score >= 50],
    ['level=Hot&max_score=50&sort=-last_activity_at', (score: number) => score === 50],
    ['level=Warm&sort=-name&q=lead', (score: number) => score >= 10 && score <= 39],
    ['level=Warm&owner=nobody', () => false],
  ] as const)('%s lists the leads in the level and within the other bounds', async (query, takes) => {
    const { byPage, byCursor, total } = await walk(query, { ou });
    const expected = people.filter(({ score }) => takes(score)).map(({ name }) => idOf(name));
    expect([...byPage].sort()).toEqual([...expected].sort());
    expect([total, byCursor]).toEqual([byPage.length, byPage]);
  });

  test('a level may be named by its id; an unknown level, or one of another OU, is 404', async () => {
    const id = (await levels())[1]?.id ?? '';
    expect((await walk(`level=${id}`, { ou })).total).toBe(12);
    for (const [query, unit] of [
      ['level=Lukewarm', ou],
      [`level=${idOf('nothing')}`, ou],
      [`level=${id}`, otherOuId],
      ['level=Warm&q=level', otherOuId],
    ] as const)
      expect(await rig.get(`/leads?${query}`, { ou: unit })).toMatchObject({
        status: 404,
        body: { code: 'level_not_found', detail: expect.stringContaining('/engagement-scoring/levels') },
      });
    expect(await rig.get('/leads?level=', { ou })).toMatchObject({ status: 400 });
  });

  test('that overlap are refused with both names, and no level changes', async () => {
    const before = await rig.documents();
    const refused = await rig.request(setLevels([...three, ['Boiling', 60, null]], inUnit));
    expect(refused).toMatchObject({
      outcome: 'rejected',
      code: 'levels_overlap',
      message: expect.stringMatching(/"Hot".*"Boiling"/),
    });
    expect(await rig.documents()).toEqual(before);
  });

  test('that change are in the next answer, without a write to any lead', async () => {
    const [before, known] = [await rig.documents(), await levels()];
    await rig.request(
      setLevels(
        [
          ['Warm', 0, 30],
          ['Burning', 31, null, { id: known[2]?.id }],
        ],
        inUnit,
      ),
    );
    expect(await levelNames()).toEqual({
      0: 'Warm',
      10: 'Warm',
      20: 'Warm',
      30: 'Warm',
      40: 'Burning',
      50: 'Burning',
      60: 'Burning',
    });
    expect((await levels()).map(({ id }) => id)).toEqual([known[1]?.id, known[2]?.id]);
    const after = await rig.documents();
    for (const name of ['leads', 'lead_ranks', 'timeline', 'score_histograms'])
      expect(after[name]).toEqual(before[name]);
  });

  test('are crossed by decisions: each crossing is on the topic behind its decision, and a new list moves nobody', async () => {
    const unit = { ou_id: idOf('crossings ou') };
    const told = async () =>
      (await rig.recordsOn('scoring.events')).flatMap(({ type, payload }) => {
        const { ou_id, lead_id, ...event } = payload as declarations.LeadLevelChanged;
        if (ou_id !== unit.ou_id || type === 'RuleCreated' || type === 'RulesetCreated') return [];
        if (type === 'LeadScored') return [['score', event.score]];
        return [type === 'LeadLevelChanged' ? [event.level_name, event.score, event.cause, lead_id] : type];
      });
    await rig.request(createRule('crossing view', unit));
    await rig.score([ingested('crossing lead', [{}], unit)]);
    await rig.request(setLevels(three, unit));
    await rig.score([ingested('crossing lead', [{}, {}, {}, {}], unit)]);
    await rig.request(setLevels([['Tepid', 0, null]], unit));
    await rig.score([ingested('crossing lead', [{}], unit)]);
    await rig.score([ingested('another lead', [{}], unit)]);
    expect(await told()).toEqual(
      expect.arrayContaining([
        ...[['score', 10], 'EngagementLevelsSet', ['score', 50], 'EngagementLevelsSet', ['score', 60]],
        ['Hot', 50, 'events', idOf('crossing lead')],
        ['Tepid', 10, 'events', idOf('another lead')],
      ]),
    );
    expect(await told()).toHaveLength(8);
  });

  test('in an explanation as known at a past time are the levels of that time; by the times of the events, those of now', async () => {
    const unit = idOf('past levels ou');
    const of = (requested_at: string) => ({ ou_id: unit, requested_at });
    await rig.request(createRule('past view', of('2026-01-01T00:00:00.000Z')));
    await rig.request(
      setLevels(
        [
          ['Low', null, 10],
          ['High', 11, null],
        ],
        of('2026-01-02T00:00:00.000Z'),
      ),
    );
    for (const day of ['03', '04'])
      await rig.score([
        ingested('edgar', [{ timestamp: `2026-01-${day}T00:00:00.000Z` }], {
          ou_id: unit,
          received_at: `2026-01-${day}T00:00:01.000Z`,
        }),
      ]);
    await rig.request(setLevels([['Other', null, null]], of('2026-01-05T00:00:00.000Z')));
    const levelAt = async (query: string) => {
      const { body } = await rig.get(`/lead/${idOf('edgar')}/score-explain${query}`, { ou: unit });
      return [body.score, (body.level as { name: string } | null)?.name ?? null];
    };
    expect(await levelAt('?known_at=2026-01-01T12:00:00Z')).toEqual([0, null]);
    expect(await levelAt('?known_at=2026-01-03T12:00:00Z')).toEqual([10, 'Low']);
    expect(await levelAt('?known_at=2026-01-04T12:00:00Z')).toEqual([20, 'High']);
    expect(await levelAt('?known_at=2026-01-05T12:00:00Z')).toEqual([20, 'Other']);
    expect(await levelAt('?at=2026-01-03T12:00:00Z')).toEqual([10, 'Other']);
    expect(await levelAt('?at=2026-01-03T12:00:00Z&known_at=2026-01-04T12:00:00Z')).toEqual([10, 'Low']);
    expect(await levelAt('')).toEqual([20, 'Other']);
  });
});

describe('explanations', () => {
  test('as known at a past time have the decisions and the rules of that time; at a time, the events until then', async () => {
    const ou = idOf('explained ou');
    const inUnit = { ou_id: ou };
    await rig.request(
      createRule('x view', { ...inUnit, weight: 4, requested_at: '2026-01-02T00:00:00.000Z' }),
    );
    await rig.score([
      ingested('dora', [{ timestamp: '2026-01-03T00:00:00.000Z' }], {
        ...inUnit,
        received_at: '2026-01-03T00:00:01.000Z',
      }),
    ]);
    await rig.request(
      createRule('x more', { ...inUnit, weight: 7, requested_at: '2026-01-04T00:00:00.000Z' }),
    );
    await rig.score([
      ingested('dora', [{ timestamp: '2026-01-05T00:00:00.000Z' }], {
        ...inUnit,
        received_at: '2026-01-05T00:00:01.000Z',
      }),
    ]);
    const explain = async (query: string) =>
      (await rig.get(`/lead/${idOf('dora')}/score-explain?${query}`, { ou })).body;
    expect(await explain('range_hours=876000')).toMatchObject({
      score: 15,
      unattributed: 0,
      decay_applied: 0,
      entries_total: 3,
      top_drivers: [
        { rule_id: idOf('x view'), count: 2, weight: 4, total: 8 },
        { rule_id: idOf('x more'), count: 1, weight: 7, total: 7 },
      ],
      snapshot: [
        { event_type: 'Page View', weight: 4 },
        { event_type: 'Page View', weight: 7 },
      ],
    });
    expect(await explain('known_at=2026-01-03T12:00:00Z')).toMatchObject({
      score: 4,
      unattributed: 0,
      at: '2026-01-03T12:00:00.000Z',
      known_at: '2026-01-03T12:00:00.000Z',
      entries_total: 1,
      snapshot: [{ weight: 4 }],
    });
    expect(await explain('known_at=2026-01-01')).toMatchObject({
      score: 0,
      unattributed: 0,
      entries: [],
      snapshot: [],
    });
    expect(await explain('at=2026-01-03T12:00:00Z')).toMatchObject({
      score: 4,
      unattributed: 0,
      at: '2026-01-03T12:00:00.000Z',
      entries_total: 1,
      snapshot: [{ weight: 4 }, { weight: 7 }],
    });
    expect(await explain('at=2026-01-05T12:00:00Z&range_hours=24')).toMatchObject({
      score: 15,
      unattributed: 0,
      entries_total: 2,
    });
    const known = await explain('known_at=2026-01-05T12:00:00Z');
    await rig.score([
      ingested('dora', [{ timestamp: '2025-06-01T00:00:00.000Z' }], {
        ...inUnit,
        received_at: '2026-01-06T00:00:00.000Z',
      }),
    ]);
    expect(await explain('at=2025-07-01&range_hours=876000')).toMatchObject({
      score: 11,
      unattributed: 0,
      entries_total: 2,
    });
    expect(await explain('at=2025-07-01&known_at=2026-01-05')).toMatchObject({ score: 0, entries: [] });
    expect(await explain('known_at=2026-01-05T12:00:00Z')).toEqual(known);
    for (const parameter of ['at', 'known_at'])
      for (const value of ['2999-01-01', 'yesterday'])
        expect(
          await rig.get(`/lead/${idOf('dora')}/score-explain?${parameter}=${value}`, { ou }),
        ).toMatchObject({ status: 400 });
  });
});

describe('a test of rules', () => {
  const ou = idOf('tested ou');
  const tested = (body: unknown, unit = ou) => rig.post('/engagement-scoring/test', body, { ou: unit });
  const events = [{ event_type: 'page_view', metadata: { path: '/pricing' } }];

  beforeAll(async () => {
    await rig.request(createRule('tested view', { ou_id: ou, weight: 4 }));
    await rig.score([ingested('tested', [{}], { ou_id: ou })]);
  });

  test('decides on samples by the rules and drafts, from the score of the lead, and stores nothing', async () => {
    const before = await rig.documents();
    const rules = [{ event_type: 'Page View', weight: -1, label: 'Draft' }];
    const { status, body } = await tested({ lead_id: idOf('tested'), events: [...events, ...events], rules });
    expect([status, body]).toMatchObject([
      200,
      {
        previous_score: 4,
        points: 6,
        score: 10,
        level: null,
        events: [
          {
            points: 3,
            score: 7,
            rules: [
              { rule_id: idOf('tested view'), points: 4, matched: true },
              { rule_id: null, draft: 0, label: 'Draft', points: -1, matched: true },
            ],
          },
          { points: 3, score: 10 },
        ],
      },
    ]);
    expect((await tested({ events })).body).toMatchObject({ previous_score: 0, score: 4 });
    expect((await tested({ events }, otherOuId)).body).toMatchObject({ points: 0, events: [{ rules: [] }] });
    expect(await rig.documents()).toEqual(before);
  });

  test('is 404 for a lead, a ruleset or a rule that the OU does not have, and 400 for an invalid draft', async () => {
    const draft = { event_type: 'Page View', weight: 1 };
    const answers = await Promise.all([
      tested({ lead_id: idOf('tested'), events }, otherOuId),
      tested({ events, rules: [{ ...draft, ruleset_id: idOf('nothing') }] }),
      tested({ events, rules: [{ ...draft, replaces: idOf('tested view') }] }, otherOuId),
      tested({ events, rules: [{ ...draft, weight: 0 }] }),
      tested({ events: [] }),
      tested({ events: [{ event_type: 'a', metadata: { text: 'x'.repeat(1_000_000) } }] }),
    ]);
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [404, 'lead_not_found'],
      [404, 'ruleset_not_found'],
      [404, 'rule_not_found'],
      [400, 'invalid_request'],
      [400, 'invalid_request'],
      [413, 'body_too_large'],
    ]);
  });
});

describe('a deleted lead', () => {
  const cookie = { alias_kind: 'cookie', alias: 'of a deleted lead' };
  const seen = (more = {}) =>
    ingested('erased', [{}, {}], {
      aliases: [{ alias_kind: 'email', alias: 'erased@example.com' }, cookie],
      ...more,
    });
  const found = async (query: string) => list(await rig.get(`/leads${query}`)).map(({ id }) => id);

  test('is gone from every read, and the next event creates a lead whose score and explanation start from zero', async () => {
    const before = (await rig.get('/leads')).body.total;
    await rig.score([seen(), seen({ fields: [{ field: 'name', value: 'Erased Person', at }] })]);
    expect((await rig.get(`/score/${idOf('erased')}`)).body).toMatchObject({ score: 20 });
    expect(await found('/search?q=of a deleted lead')).toEqual([idOf('erased')]);
    await rig.score([deleted('erased')]);
    for (const path of [`/score/${idOf('erased')}`, `/lead/${idOf('erased')}/score-explain`])
      expect(await rig.get(path)).toMatchObject({ status: 404, body: { code: 'lead_not_found' } });
    expect((await rig.get('/leads')).body.total).toBe(before);
    for (const query of [
      '/search?q=of a deleted lead',
      '/search?q=erased@example.com',
      '?q=Erased Person',
      '?min_score=20&max_score=20',
      '?sort=name&limit=100',
    ])
      expect(await found(query)).not.toContain(idOf('erased'));
    await rig.score([ingested('erased', [{}])]);
    expect((await rig.get(`/score/${idOf('erased')}`)).body).toMatchObject({ score: 5 });
    expect((await rig.get(`/lead/${idOf('erased')}/score-explain?range_hours=876000`)).body).toMatchObject({
      lead_name: 'erased@example.com',
      score: 5,
      unattributed: 0,
      entries_total: 1,
    });
    expect(await found('/search?q=of a deleted lead')).toEqual([]);
    expect((await rig.get('/leads')).body.total).toBe(Number(before) + 1);
  });

  test('events, a deletion and new events in one batch have the same result as one after the other', async () => {
    await rig.score([
      ...['at once', 'other'].map((lead) => ingested(lead, [{}, {}])),
      deleted('at once'),
      ingested('at once', [{}]),
      deleted('other'),
      deleted('at once'),
      ingested('at once', [{}, {}, {}]),
      deleted('nobody'),
    ]);
    expect((await rig.get(`/lead/${idOf('at once')}/score-explain?range_hours=876000`)).body).toMatchObject({
      score: 15,
      entries_total: 3,
      unattributed: 0,
    });
    expect((await rig.get(`/score/${idOf('other')}`)).status).toBe(404);
  });
});

describe('other ways to the same state', () => {
  test('a rebuild gives the same documents as live operation', async () => {
    const live = await rig.documents();
    expect(live.leads?.length).toBeGreaterThan(30);
    await rig.rebuild();
    expect(await rig.documents()).toEqual(live);
  }, 90_000);

  test('a repeated fold, after a crash between fold and checkpoint, changes nothing', async () => {
    const live = await rig.documents();
    const checkpoints = rig.readModel.db.collection<{ _id: string; offset: number }>('checkpoints');
    await checkpoints.updateMany({}, { $set: { offset: 0 } });
    const stop = await rig.startProcessor();
    await stop();
    expect(await rig.documents()).toEqual(live);
    await rig.score([ingested('ada', [{}])]);
    expect((await rig.get(`/score/${idOf('ada')}`)).body).toMatchObject({ score: 11 });
  }, 90_000);
});

describe('a reset', () => {
  const answerOf = async (path: string) => (await rig.get(path)).body;

  test('is in lists, scores, explanations and histograms when it is answered; later events count from zero', async () => {
    await rig.request(createRule('rule of resets', { event_type: 'Reset Me', weight: 10 }));
    const events = [{ event_type: 'Reset Me' }, { event_type: 'Reset Me' }];
    await rig.score([ingested('reset', events)]);
    const command = resetScores('reset', { reason_text: 'Starts anew' });
    const answer = { lead_id: idOf('reset'), previous_score: 20, score: 0, score_reset_at: at };
    expect(await rig.reset(command)).toEqual({ outcome: 'done', result: answer });
    expect(await answerOf(`/score/${idOf('reset')}`)).toMatchObject({ score: 0, rulesets: [] });
    expect(await rig.reset(command)).toEqual({ outcome: 'done', result: answer });
    await rig.score([ingested('reset', [{ id: idOf('after reset'), event_type: 'Reset Me' }])]);
    expect(await answerOf(`/score/${idOf('reset')}`)).toMatchObject({ score: 10, rulesets: [{ score: 10 }] });
    expect(await answerOf(`/lead/${idOf('reset')}/score-explain?range_hours=876000`)).toMatchObject({
      score: 10,
      unattributed: 0,
      score_reset_at: at,
      top_drivers: [{ count: 1, weight: 10, total: 10 }],
      entries_total: 3,
    });
    const found = await rig.get('/leads?q=reset@example.com&min_score=10&max_score=10');
    expect(list(found).map(({ id }) => id)).toEqual([idOf('reset')]);
  });

  test('of a lead that the OU does not have is refused', async () => {
    const refused = { outcome: 'rejected', code: 'lead_not_found' };
    expect(await rig.reset(resetScores('nobody'))).toMatchObject(refused);
    expect(await rig.reset(resetScores('reset', { ou_id: otherOuId }))).toMatchObject(refused);
  });
});
