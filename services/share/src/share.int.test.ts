// The share service on real servers: links are made, read, revoked and expire, and show the explanation of a score.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { records, routes, shareLifetimeMs } from '@lead-scoring/contracts';
import { createProcessor, outgoing, takingAll } from '@lead-scoring/event-log';
import {
  emptyConfiguration,
  evolveConfiguration,
  explainScore,
  publicExplanation,
} from '@lead-scoring/scoring-domain';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  accountRuleCreated,
  accountScored,
  at,
  createShare,
  idOf,
  leadContributed,
  leadRemoved,
  leadScored,
  levelsSet,
  otherOuId,
  ouId,
  profileScored,
  revokeShare,
  ruleCreated,
  rulesetCreated,
  scoreRescored,
  shareOf,
  tokenOf,
} from './testing/builders.js';
import { startRig, type Rig, type ScoringEvent } from './testing/rig.js';

let rig: Rig;
const rules = [ruleCreated('pricing', 15), ruleCreated('careers', -20)];
const decisions = [
  leadScored(
    'ada',
    { rule: 'pricing', points: 15, times: 3 },
    {
      fields: [
        { field: 'name', value: 'Ada Lovelace', at },
        { field: 'company', value: 'Secret Company', at },
      ],
    },
  ),
  leadScored('ada', { rule: 'careers', points: -20, previous: 45 }),
];

beforeAll(async () => {
  rig = await startRig({ findLeadsTimeoutMs: 3_000 });
  await rig.scored([
    { type: 'RulesetCreated', payload: rulesetCreated() },
    ...rules.map((payload) => ({ type: 'RuleCreated', payload }) as const),
    ...decisions.map((payload) => ({ type: 'LeadScored', payload }) as const),
  ]);
}, 60_000);
afterAll(() => rig.stop(), 60_000);

const publicPath = (name: string) => `/public/score-explain/${tokenOf(name)}`;

describe('a link', () => {
  test('is made, read, listed, revoked, and then unknown', async () => {
    expect(await rig.request(createShare('first', 'ada'))).toEqual({
      outcome: 'done',
      result: { expires_at: '2026-01-08T12:00:00.000Z' },
    });
    expect(await rig.get(publicPath('first'))).toMatchObject({ status: 200, body: { score: 25 } });
    const listed = await rig.get(`/leads/${idOf('ada')}/shares`);
    expect(listed.body).toEqual({
      data: [
        {
          id: shareOf('first'),
          last_four: tokenOf('first').slice(-4),
          status: 'valid',
          score_type: 'engagement',
          created_at: at,
          expires_at: '2026-01-08T12:00:00.000Z',
          created_by: idOf('credential'),
        },
      ],
      total: 1,
      page: 1,
      limit: 25,
    });
    expect(listed.text).not.toContain(tokenOf('first'));
    expect(await rig.request(revokeShare('first'))).toEqual({ outcome: 'done' });
    expect(await rig.get(publicPath('first'))).toMatchObject({
      status: 404,
      body: { code: 'share_not_found' },
    });
    expect((await rig.get(`/leads/${idOf('ada')}/shares`)).body).toMatchObject({
      data: [{ status: 'revoked' }],
    });
  });

  test('is open one millisecond before its seven days are over, and 410 from then on', async () => {
    await rig.request(createShare('edge', 'ada'));
    const end = Date.parse(at) + shareLifetimeMs;
    try {
      for (const [now, status] of [
        [end - 1, 200],
        [end, 410],
        [end + 365 * 86_400_000, 410],
      ] as const) {
        rig.clock.now = new Date(now);
        expect(await rig.get(publicPath('edge'))).toMatchObject({
          status,
          ...(status === 410 && { body: { code: 'share_expired' } }),
        });
        const page = await rig.get(`/share/${tokenOf('edge')}`, { accept: 'text/html' });
        expect(page.status).toBe(status);
        expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      }
      expect((await rig.get(`/leads/${idOf('ada')}/shares`)).body).toMatchObject({
        data: expect.arrayContaining([expect.objectContaining({ id: shareOf('edge'), status: 'expired' })]),
      });
    } finally {
      rig.clock.now = new Date(at);
    }
  });

  test('made by a repeated command is one link, and the answer is the same', async () => {
    const first = await rig.request(createShare('twice', 'ada'));
    const again = await rig.request(
      createShare('twice', 'ada', { requested_at: '2026-01-03T00:00:00.000Z' }),
    );
    expect(again).toEqual(first);
    const created = (await rig.recordsOn('share.events')).filter(
      ({ payload }) => (payload as { share_id: string }).share_id === shareOf('twice'),
    );
    expect(created).toHaveLength(1);
  });

  test.each([
    tokenOf('nobody'),
    tokenOf('first').slice(0, -1),
    shareOf('twice'),
    'x',
    encodeURIComponent('{"$ne":null}'),
    '%00',
    '..%2f..',
  ])('with the token %s is 404, also as a page', async (token) => {
    expect(await rig.get(`/public/score-explain/${token}`)).toMatchObject({
      status: 404,
      body: { code: 'share_not_found' },
    });
    const page = await rig.get(`/share/${token}`);
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await rig.get(`/share/${token}`, { accept: 'application/json' })).toMatchObject({
      status: 404,
      body: { code: 'share_not_found' },
    });
  });

  test('cannot be made for an unknown lead, or one of another OU', async () => {
    for (const command of [
      createShare('nowhere', 'nobody'),
      createShare('nowhere', 'ada', { ou_id: otherOuId }),
    ])
      expect(await rig.request(command)).toMatchObject({ outcome: 'rejected', code: 'lead_not_found' });
    expect(await rig.get(publicPath('nowhere'))).toMatchObject({ status: 404 });
  });

  test('cannot be listed or revoked from another OU', async () => {
    expect(await rig.get(`/leads/${idOf('ada')}/shares`, { ou: otherOuId })).toMatchObject({
      status: 404,
      body: { code: 'lead_not_found' },
    });
    expect(await rig.request(revokeShare('twice', { ou_id: otherOuId }))).toMatchObject({
      outcome: 'rejected',
      code: 'share_not_found',
    });
    expect(await rig.get(publicPath('twice'))).toMatchObject({ status: 200 });
  });
});

describe('a link to the profile score', () => {
  const vp = [{ field: 'title', operator: 'contains' as const, value: 'vp' }];
  beforeAll(async () => {
    await rig.scored([
      { type: 'LeadScored', payload: leadScored('pia', { rule: 'pricing', points: 15 }) },
      {
        type: 'RulesetCreated',
        payload: rulesetCreated({
          ruleset_id: idOf('profile ruleset'),
          name: 'Fit',
          score_type: 'profile',
          max_score: 12,
        }),
      },
      {
        type: 'ProfileRuleCreated',
        payload: {
          ou_id: ouId,
          rule_id: idOf('vp'),
          ruleset_id: idOf('profile ruleset'),
          conditions: vp,
          weight: 20,
          label: 'Decides',
          active: true,
          version: 1,
          at,
        },
      },
      { type: 'ScoreAdjusted', payload: held(profileScored('pia', 'vp', { points: 20 })) },
    ]);
    await rig.request(createShare('fit', 'pia', { score_type: 'profile' }));
    await rig.request(createShare('interest', 'pia'));
  }, 60_000);

  /** The decision with 8 of its points held back by the ruleset. */
  const held = (decision: records.ScoreAdjusted): records.ScoreAdjusted => ({
    ...decision,
    score: decision.score - 8,
    adjustments: [
      ...decision.adjustments,
      { reason: 'held_by_ruleset', ruleset_id: idOf('profile ruleset'), points: -8 },
    ],
  });

  test('shows the profile score with its rules, limits and changes in words; one to the engagement score stays as it is', async () => {
    const { body, text } = await rig.get(publicPath('fit'));
    const shown = routes.readShare.responses[200].schema.parse(body);
    expect(shown).toMatchObject({
      score_type: 'profile',
      score: 12,
      top_drivers: [
        { rule_id: idOf('vp'), label: 'Decides', filter_label: 'title contains "vp"', count: 1, total: 20 },
      ],
      adjustments: [
        { reason: 'held_by_ruleset', points: -8, text: 'Fit: 8 points held back, at most 12 a lead' },
      ],
      snapshot: [{ event_type: 'Profile', weight: 20 }],
      profile_entries: [
        { points: 20, words: '+20: the profile began to meet "Decides" (title contains "vp").' },
      ],
      entries_total: 1,
    });
    expect(text).not.toContain(idOf('pia'));
    const other = await rig.get(publicPath('interest'));
    expect(other.body).toMatchObject({ score: 15, top_drivers: [{ rule_id: idOf('pricing') }] });
    for (const field of ['score_type', 'profile_entries', 'entries_total'])
      expect(other.body).not.toHaveProperty(field);
  });

  test('shows it as a page, as CSV and as an image, and lists say which score a link explains', async () => {
    const page = await rig.get(`/share/${tokenOf('fit')}`, { accept: 'text/html' });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const words of ['Profile score of', 'Decides', 'Fit: 8 points held back', 'What changed'])
      expect(page.text).toContain(words);
    expect(page.text).not.toContain('label of pricing');
    const csv = await rig.get(`${publicPath('fit')}/csv`);
    expect(csv.text.split('\r\n').slice(1, 4)).toEqual([
      expect.stringMatching(/Decides.*,20,,profile,,,,$/),
      expect.stringMatching(/,-8,"Fit: 8 points held back, at most 12 a lead",profile,,,,$/),
      expect.stringMatching(
        /,profile,,2026-01-01T12:00:00.000Z,20,"the profile began to meet ""Decides"" \(title contains ""vp""\)\."$/,
      ),
    ]);
    expect((await rig.get(`${publicPath('fit')}/preview.png`)).status).toBe(200);
    const listed = await rig.get(`/leads/${idOf('pia')}/shares`);
    expect(routes.listShares.responses[200].schema.parse(listed.body).data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: shareOf('fit'), score_type: 'profile' }),
        expect.objectContaining({ id: shareOf('interest'), score_type: 'engagement' }),
      ]),
    );
  });

  test('is computed when it is read: it names the profile level of then, and follows the profile', async () => {
    const level = {
      id: idOf('Best fit'),
      name: 'Best fit',
      min_score: 10,
      max_score: null,
      color: '#2b8a3e',
    };
    await rig.scored([{ type: 'ProfileLevelsSet', payload: { ou_id: ouId, levels: [level], at } }]);
    const page = () => rig.get(`/share/${tokenOf('fit')}`, { accept: 'text/html' });
    expect((await page()).text).toContain('Best fit');
    const back = profileScored('pia', 'vp', { previous: 20, points: -20 });
    const adjustments = back.adjustments.map((one) => ({ ...one, counted: 0, matched: 0 }));
    await rig.scored([
      {
        type: 'ScoreAdjusted',
        payload: {
          ...back,
          previous_score: 12,
          score: 0,
          adjustments: [
            ...adjustments,
            { reason: 'held_by_ruleset', ruleset_id: idOf('profile ruleset'), points: 8 },
          ],
        },
      },
    ]);
    expect((await rig.get(publicPath('fit'))).body).toMatchObject({
      score: 0,
      top_drivers: [],
      entries_total: 2,
      profile_entries: [
        { words: '-20: the profile no longer meets "Decides" (title contains "vp").' },
        { points: 20 },
      ],
    });
    expect((await page()).text).toContain('No rule holds at the moment');
    expect((await page()).text).not.toContain('Best fit');
  });
});

describe('a link to a score that is rescored', () => {
  test('shows what it was made of until then, and from then on what the rescoring came to', async () => {
    await rig.scored([
      { type: 'LeadScored', payload: leadScored('rea', { rule: 'careers', points: -20, times: 2 }) },
    ]);
    await rig.request(createShare('rescored', 'rea'));
    const before = await rig.get(publicPath('rescored'));
    expect(before.body).toMatchObject({ score: -40, top_drivers: [{ count: 2, total: -40 }] });
    const matches = [
      { rule: 'pricing', points: 15, count: 3 },
      { rule: 'careers', points: -10, count: 2 },
    ];
    await rig.scored([{ type: 'ScoreAdjusted', payload: scoreRescored('rea', -40, { matches }) }]);
    const shown = await rig.get(publicPath('rescored'));
    expect(routes.readShare.responses[200].schema.parse(shown.body)).toMatchObject({
      score: 25,
      top_drivers: [
        { rule_id: idOf('pricing'), count: 3, weight: 15, total: 45 },
        { rule_id: idOf('careers'), count: 2, weight: -10, total: -20 },
      ],
    });
    expect(shown.body).not.toHaveProperty('adjustments');
    expect(shown.text).not.toContain(idOf('rescoring'));
    const page = await rig.get(`/share/${tokenOf('rescored')}`, { accept: 'text/html' });
    expect(page.text).toContain('label of pricing');
  });
});

describe('the explanation behind a link', () => {
  beforeAll(() => rig.request(createShare('shown', 'ada')));

  test('is only the public part of the explanation by rules and decisions', async () => {
    const configuration = [
      { type: 'RulesetCreated', payload: rulesetCreated() } as const,
      ...rules.map((payload) => ({ type: 'RuleCreated', payload }) as const),
    ].reduce(evolveConfiguration, emptyConfiguration(ouId));
    const expected = publicExplanation(
      explainScore(
        { id: idOf('ada'), name: 'Ada Lovelace', score: 25 },
        decisions,
        configuration,
        configuration,
        { at, range_hours: 720 },
      ),
    );
    const { body, text } = await rig.get(publicPath('shown'));
    expect(body).toEqual(expected);
    expect(body).toEqual({
      lead_name: 'Ada Lovelace',
      score: 25,
      top_drivers: [
        {
          rule_id: idOf('pricing'),
          event_type: 'Page View',
          count: 3,
          weight: 15,
          total: 45,
          filter_label: 'path contains "/pricing"',
          label: 'label of pricing',
        },
        {
          rule_id: idOf('careers'),
          event_type: 'Page View',
          count: 1,
          weight: -20,
          total: -20,
          filter_label: 'path contains "/careers"',
          label: 'label of careers',
        },
      ],
      snapshot: [
        { event_type: 'Page View', weight: 15 },
        { event_type: 'Page View', weight: -20 },
      ],
      decay_applied: 0,
      range_hours: 720,
    });
    for (const path of [publicPath('shown'), `${publicPath('shown')}/csv`, `/share/${tokenOf('shown')}`]) {
      const shown = (await rig.get(path)).text;
      expect(shown).not.toMatch(/Secret Company|ada@example\.com/);
      expect(shown).toContain('label of pricing');
    }
    expect(text).not.toContain(idOf('ada'));
  });

  test('is computed when it is read: it includes points and rules from after the link', async () => {
    await rig.request(createShare('bobs', 'ada'));
    await rig.scored([{ type: 'LeadScored', payload: leadScored('bob', { rule: 'pricing', points: 15 }) }]);
    await rig.request(createShare('live', 'bob'));
    expect((await rig.get(publicPath('live'))).body).toMatchObject({
      lead_name: 'bob@example.com',
      score: 15,
    });
    await rig.scored([
      {
        type: 'LeadScored',
        payload: leadScored(
          'bob',
          { rule: 'pricing', points: 15, previous: 15 },
          { fields: [{ field: 'name', value: 'Bob', at }] },
        ),
      },
      {
        type: 'RulesActivationChanged',
        payload: { ou_id: ouId, active: false, rules: [{ rule_id: idOf('careers'), version: 2 }], at },
      },
    ]);
    expect((await rig.get(publicPath('live'))).body).toMatchObject({
      lead_name: 'Bob',
      score: 30,
      top_drivers: [{ count: 2, total: 30 }],
      snapshot: [{ weight: 15 }],
    });
  });

  test('names the score’s present level on the page, and not in the public form', async () => {
    const json = await rig.get(publicPath('shown'));
    const page = async () => (await rig.get(`/share/${tokenOf('shown')}`, { accept: 'text/html' })).text;
    const set = (levels: Parameters<typeof levelsSet>[0]) =>
      rig.scored([{ type: 'EngagementLevelsSet', payload: levelsSet(levels) }]);
    expect(await page()).not.toContain('class="level"');
    await set([
      ['Lukewarm', null, 24],
      ['Rather hot', 25, null],
    ]);
    expect(await page()).toMatch(/fill="#e8590c"[^]*Level: [^]*Rather hot/);
    expect(await page()).not.toContain('Lukewarm');
    expect(await rig.get(publicPath('shown'))).toMatchObject({ status: 200, text: json.text });
    await set([['Lukewarm', null, 30]]);
    expect(await page()).toContain('Lukewarm');
    await set([]);
    expect(await page()).not.toContain('class="level"');
  });

  test('is available as a page without scripts, as CSV, and as an image', async () => {
    const page = await rig.get(`/share/${tokenOf('shown')}`, { accept: 'text/html' });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
    expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe|script-src/);
    expect(page.text).toContain('Ada Lovelace');
    expect(page.text).not.toMatch(/<script/i);
    expect(Buffer.byteLength(page.text)).toBeLessThan(50_000);
    expect(page.text).toContain(
      `https://app.example.com/public/score-explain/${tokenOf('shown')}/preview.png`,
    );
    const csv = await rig.get(`${publicPath('shown')}/csv`);
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(csv.text).toContain(idOf('pricing'));
    const image = await rig.get(`${publicPath('shown')}/preview.png`);
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
    for (const path of [`${publicPath('nobody')}/csv`, `${publicPath('nobody')}/preview.png`])
      expect(await rig.get(path)).toMatchObject({ status: 404, body: { code: 'share_not_found' } });
    expect(
      routes.readShare.responses[200].schema.safeParse((await rig.get(publicPath('shown'))).body).error,
    ).toBeUndefined();
  });
});

describe('a lead that the projection has not folded yet', () => {
  test('is waited for, so that no caller gets 404 for an existing lead', async () => {
    await rig.append([{ type: 'LeadScored', payload: leadScored('late', { rule: 'pricing', points: 15 }) }]);
    expect(await rig.request(createShare('late', 'late'))).toMatchObject({ outcome: 'done' });
    expect((await rig.get(publicPath('late'))).body).toMatchObject({ score: 15 });
  });
});

describe('a link that is opened as soon as it is requested', () => {
  const ask = (name: string, lead: string, lead_seen_in?: records.CreateShare['lead_seen_in']) =>
    rig.write([
      outgoing(records.createShare, {
        key: shareOf(name),
        payload: createShare(name, lead, lead_seen_in && { lead_seen_in }).payload,
      }),
    ]);
  const decided = (lead: string, more: { previous?: number } = {}) =>
    ({ type: 'LeadScored', payload: leadScored(lead, { rule: 'pricing', points: 15, ...more }) }) as const;
  /** Appends these events of one lead; returns the position of the first. */
  const seenIn = async (...events: ScoringEvent[]) => {
    const [first] = await rig.append(events);
    return { topic: 'scoring.events', offset: Number(first?.offset) } as const;
  };

  test('can be opened before its command is answered', async () => {
    for (let n = 0; n < 10; n += 1) {
      await ask(`at once ${String(n)}`, 'ada');
      expect(await rig.get(publicPath(`at once ${String(n)}`))).toMatchObject({ status: 200 });
    }
  });

  test('with a decision as lead_seen_in shows that decision, and its creator', async () => {
    await ask('decided', 'soon', await seenIn(decided('soon')));
    expect(await rig.get(publicPath('decided'))).toMatchObject({ status: 200, body: { score: 15 } });
    expect((await rig.get(`/leads/${idOf('soon')}/shares`)).body).toMatchObject({
      data: [{ id: shareOf('decided'), status: 'valid', created_by: idOf('credential') }],
    });
  });

  test('with a decision on a deleted lead as lead_seen_in shows nothing of a later lead with its id', async () => {
    const gone = { type: 'LeadRemoved', payload: leadRemoved('short', 15) } as const;
    await ask('too late', 'short', await seenIn(decided('short'), gone, decided('short')));
    expect((await rig.get(publicPath('too late'))).status).toBe(404);
    await ask('in time', 'short', await seenIn(decided('short', { previous: 15 })));
    expect(await rig.get(publicPath('in time'))).toMatchObject({ status: 200, body: { score: 30 } });
  });

  test('with events as lead_seen_in is made once scoring has decided on them, however late', async () => {
    const lead_id = idOf('quick');
    const [ingested] = await rig.write([
      outgoing(records.eventsIngested, {
        key: lead_id,
        payload: {
          ou_id: ouId,
          lead_id,
          batch_id: idOf('batch'),
          source: 'ingest',
          fire_triggers: true,
          received_at: at,
          aliases: [{ alias_kind: 'email', alias: 'quick@example.com' }],
          events: [{ id: idOf('visit'), event_type: 'Page View', timestamp: at }],
        },
      }),
    ]);
    await ask('quick', 'quick', { topic: 'ingest.events', offset: Number(ingested?.offset) });
    await eventually('it is postponed', async () => {
      const asked = (await rig.recordsOn('share.commands')).filter(({ key }) => key === shareOf('quick'));
      return asked.length > 1;
    });
    const scoring = await rig.run(
      createProcessor(rig.log, {
        name: 'scoring',
        inputs: takingAll('ingest.events'),
        output: 'scoring.events',
        open: () =>
          Promise.resolve({
            checkpoint: () => Promise.resolve({ offset: 0n, positions: {} }),
            decide: (incoming) =>
              Promise.resolve({
                events: incoming.map(({ key }) =>
                  outgoing(records.leadScored, { key: key ?? '', payload: decided('quick').payload }),
                ),
              }),
            fold: () => Promise.resolve(),
            store: () => Promise.resolve(),
            reset: () => Promise.resolve(),
          }),
        rebuild: () => Promise.resolve(),
        logger: rig.logger,
        onFatal: rig.onFatal,
      }),
    );
    try {
      await eventually('the link is there', async () => (await rig.get(publicPath('quick'))).status === 200);
    } finally {
      await scoring();
    }
  }, 60_000);
});

describe('a lead that is deleted', () => {
  const scored = (more: { previous?: number } = {}) =>
    ({ type: 'LeadScored', payload: leadScored('gone', { rule: 'pricing', points: 15, ...more }) }) as const;
  const removed = { type: 'LeadRemoved', payload: leadRemoved('gone', 30) } as const;
  const shares = () => rig.get(`/leads/${idOf('gone')}/shares`);

  test('has no links any more: they are 404 before and after their expiry, even if a new lead has its id', async () => {
    await rig.scored([scored(), scored({ previous: 15 })]);
    await rig.request(createShare('of the first', 'gone'));
    expect((await rig.get(publicPath('of the first'))).body).toMatchObject({ score: 30 });
    await rig.scored([removed]);
    const expectEnded = async () => {
      for (const path of [
        publicPath('of the first'),
        `${publicPath('of the first')}/csv`,
        `/share/${tokenOf('of the first')}`,
      ])
        expect(await rig.get(path, { accept: 'application/json' })).toMatchObject({
          status: 404,
          body: { code: 'share_not_found' },
        });
    };
    await expectEnded();
    expect(await shares()).toMatchObject({ status: 404, body: { code: 'lead_not_found' } });
    expect(await rig.request(createShare('of nobody', 'gone'))).toMatchObject({ code: 'lead_not_found' });
    await rig.scored([scored()]);
    await expectEnded();
    expect((await shares()).body).toMatchObject({ total: 0, data: [] });
    rig.clock.now = new Date(Date.parse(at) + shareLifetimeMs);
    try {
      await expectEnded();
    } finally {
      rig.clock.now = new Date(at);
    }
  });

  test('and begins again: a new link shows only the decisions since the deletion', async () => {
    await rig.request(createShare('of the second', 'gone'));
    expect((await rig.get(publicPath('of the second'))).body).toMatchObject({
      score: 15,
      top_drivers: [{ count: 1, total: 15 }],
    });
    expect((await shares()).body).toMatchObject({ total: 1, data: [{ id: shareOf('of the second') }] });
  });
});

describe('a rebuild from the log', () => {
  test('gives the same documents, and links show the same', async () => {
    const [documents, shown] = [await rig.documents(), await rig.get(publicPath('shown'))];
    expect(documents).toMatchObject({ shares: expect.any(Array), leads: expect.any(Array) });
    await rig.rebuild();
    expect(await rig.documents()).toEqual(documents);
    expect((await rig.get(publicPath('shown'))).body).toEqual(shown.body);
    expect((await rig.get(publicPath('first'))).status).toBe(404);
    expect((await rig.get(publicPath('of the first'))).status).toBe(404);
    expect((await rig.get(publicPath('of the second'))).body).toMatchObject({ score: 15 });
  });
});

test('no token is on any topic or in the database', async () => {
  const written = JSON.stringify([
    (await rig.recordsOn('share.commands')).map(({ payload, headers }) => ({ payload, headers })),
    (await rig.recordsOn('share.events')).map(({ payload, headers }) => ({ payload, headers })),
    await rig.documents(),
  ]);
  for (const name of ['first', 'edge', 'twice', 'shown', 'live', 'of the second'])
    expect(written).not.toContain(tokenOf(name));
});

describe('a link to the deal score', () => {
  /** Deals of the lead give more or fewer points: the first by a rule, the second as a whole. */
  const dealt = (
    previous_score: number,
    adjustments: readonly Omit<records.ScoreAdjusted['adjustments'][number], 'deal_id'>[],
  ): ScoringEvent => ({
    type: 'ScoreAdjusted',
    payload: {
      ...profileScored('dana', 'won', { points: 0 }),
      ...{ score_type: 'deal', previous_score },
      score: adjustments.reduce((sum, { points }) => sum + points, previous_score),
      adjustments: adjustments.map((one) => ({ ...one, deal_id: one.reason === 'deal' ? 'D-2' : 'D-1' })),
    },
  });
  const byRule = (points: number) => ({
    ...{ reason: 'deal_rule' as const, points, rule_id: idOf('won'), rule_version: 1 },
    ruleset_id: idOf('deal ruleset'),
  });

  beforeAll(async () => {
    await rig.scored([
      { type: 'LeadScored', payload: leadScored('dana', { rule: 'pricing', points: 15 }) },
      {
        type: 'RulesetCreated',
        payload: rulesetCreated({ ruleset_id: idOf('deal ruleset'), name: 'Deals', score_type: 'deal' }),
      },
      {
        type: 'DealRuleCreated',
        payload: {
          ...{ ou_id: ouId, rule_id: idOf('won'), ruleset_id: idOf('deal ruleset'), weight: 50 },
          conditions: [{ field: 'stage', operator: 'equals', value: 'won' }],
          ...{ label: 'Won deal', active: true, version: 1, at },
        },
      },
      dealt(0, [byRule(50)]),
      dealt(50, [{ reason: 'deal', points: 7 }]),
    ]);
    await rig.request(createShare('deals', 'dana', { score_type: 'deal' }));
    await rig.request(createShare('dana', 'dana'));
  }, 60_000);

  test('shows the deal score with its rules, sums and changes in words; other links of the lead stay as they are', async () => {
    const { body, text } = await rig.get(publicPath('deals'));
    expect(routes.readShare.responses[200].schema.parse(body)).toMatchObject({
      ...{ score_type: 'deal', score: 57, entries_total: 2 },
      top_drivers: [{ rule_id: idOf('won'), event_type: 'Deal', label: 'Won deal', count: 1, total: 50 }],
      adjustments: [{ reason: 'deal', points: 7 }],
      snapshot: [{ event_type: 'Deal', weight: 50 }],
      deal_entries: [
        { deal_id: 'D-2', points: 7, words: '+7: deal D-2 as a whole.' },
        { deal_id: 'D-1', words: '+50: deal D-1 began to meet "Won deal" (stage is "won").' },
      ],
    });
    expect(text).not.toContain(idOf('dana'));
    const other = await rig.get(publicPath('dana'));
    expect(other.body).toMatchObject({ score: 15, top_drivers: [{ rule_id: idOf('pricing') }] });
    for (const field of ['score_type', 'deal_entries', 'entries_total'])
      expect(other.body).not.toHaveProperty(field);
    expect(
      await rig.request(createShare('elsewhere', 'dana', { score_type: 'deal', ou_id: otherOuId })),
    ).toMatchObject({
      outcome: 'rejected',
      code: 'lead_not_found',
    });
  });

  test('shows it as a page, as CSV and as an image, and follows the deals', async () => {
    const page = () => rig.get(`/share/${tokenOf('deals')}`, { accept: 'text/html' });
    for (const words of ['Deal score of', 'Won deal', 'For deals as a whole'])
      expect((await page()).text).toContain(words);
    const csv = await rig.get(`${publicPath('deals')}/csv`);
    expect(csv.text.split('\r\n').slice(1, 3)).toEqual([
      expect.stringMatching(/Won deal.*,50,,deal,,,,$/),
      expect.stringMatching(/,7,Points of deals as a whole,deal,,,,$/),
    ]);
    expect((await rig.get(`${publicPath('deals')}/preview.png`)).status).toBe(200);
    await rig.scored([dealt(57, [byRule(-50), { reason: 'deal', points: -7 }])]);
    expect((await rig.get(publicPath('deals'))).body).toMatchObject({ score: 0, top_drivers: [] });
    expect((await page()).text).toContain('No deal meets a rule at the moment');
  });
});

describe('a link to the account score', () => {
  const byLeads = (points: number) => ({ reason: 'leads' as const, points });
  const byRule = (points: number) => ({
    ...{ reason: 'account_rule' as const, points, rule_version: 1 },
    ...{ rule_id: idOf('several'), ruleset_id: idOf('account ruleset') },
  });
  const decided = (...[domain, decision]: Parameters<typeof accountScored>): ScoringEvent => ({
    type: 'AccountScored',
    payload: accountScored(domain, decision),
  });
  const counts = (lead: string, domain: string, score: number): ScoringEvent[] => [
    {
      type: 'LeadScored',
      payload: leadScored(
        lead,
        { rule: 'pricing', points: score },
        { fields: [{ field: 'name', value: `Name of ${lead}`, at }] },
      ),
    },
    { type: 'LeadContributed', payload: leadContributed(lead, domain, score) },
  ];
  const contributionOf = (lead: string, score: number) => ({
    ...{ lead_id: idOf(lead), previous_score: null, score },
  });

  beforeAll(async () => {
    await rig.scored([
      {
        type: 'RulesetCreated',
        payload: rulesetCreated({
          ...{ ruleset_id: idOf('account ruleset'), name: 'Companies', score_type: 'account' },
          max_score: 15,
        }),
      },
      {
        type: 'AccountRuleCreated',
        payload: accountRuleCreated('several', 20, {
          conditions: [{ field: 'leads', operator: 'gte', value: 2 }],
          label: 'Several people',
        }),
      },
      ...counts('amy', 'acme.com', 30),
      ...counts('ben', 'acme.com', 12),
      decided('acme.com', {
        ...{ leads: 2, account_name: 'Acme Engines' },
        contributions: [contributionOf('amy', 30), contributionOf('ben', 12)],
        adjustments: [
          byLeads(42),
          byRule(20),
          { reason: 'held_by_ruleset', ruleset_id: idOf('account ruleset'), points: -5 },
        ],
      }),
    ]);
    await rig.request(createShare('account', 'amy', { score_type: 'account' }));
    await rig.request(createShare('of amy', 'amy'));
  }, 60_000);

  test("shows the account's name, its score and what makes it; other links of the lead stay as they are", async () => {
    const { body } = await rig.get(publicPath('account'));
    expect(routes.readShare.responses[200].schema.parse(body)).toMatchObject({
      ...{ lead_name: 'Name of amy', score_type: 'account', score: 57 },
      top_drivers: [
        { rule_id: idOf('several'), event_type: 'Account', label: 'Several people', count: 1, total: 20 },
      ],
      snapshot: [{ event_type: 'Account', weight: 20 }],
      account: {
        ...{ name: 'Acme Engines', leads: 2, roll_up: { method: 'sum' } },
        reasons: [
          { reason: 'leads', points: 42, words: '+42: the sum of the scores of its 2 leads.' },
          {
            ...{ reason: 'account_rule', rule_id: idOf('several'), points: 20 },
            words: '+20: the account meets "Several people" (leads is at least 2).',
          },
          {
            ...{ reason: 'held_by_ruleset', points: -5 },
            words: '-5: Companies: 5 points held back, at most 15 an account.',
          },
        ],
      },
    });
    const other = await rig.get(publicPath('of amy'));
    expect(other.body).toMatchObject({ score: 30, top_drivers: [{ rule_id: idOf('pricing') }] });
    for (const field of ['score_type', 'account']) expect(other.body).not.toHaveProperty(field);
    const listed = await rig.get(`/leads/${idOf('amy')}/shares`);
    expect(routes.listShares.responses[200].schema.parse(listed.body).data).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: shareOf('account'), score_type: 'account' })]),
    );
  });

  test('shows it as a page, as CSV and as an image, none of which tells who the other leads are', async () => {
    const page = await rig.get(`/share/${tokenOf('account')}`, { accept: 'text/html' });
    for (const words of ['Account score of', 'Name of amy', 'Acme Engines', 'Several people', '2 leads'])
      expect(page.text).toContain(words);
    const csv = await rig.get(`${publicPath('account')}/csv`);
    expect(csv.text.split('\r\n').slice(1, 4)).toEqual([
      expect.stringMatching(/Several people.*,20,,account,Acme Engines,,,$/),
      expect.stringMatching(/,42,the sum of the scores of its 2 leads\.,account,Acme Engines,,,$/),
      expect.stringMatching(/,-5,"Companies: 5 points held back, .*",account,Acme Engines,,,$/),
    ]);
    expect((await rig.get(`${publicPath('account')}/preview.png`)).status).toBe(200);
    const json = await rig.get(publicPath('account'));
    for (const { text } of [page, csv, json])
      for (const told of ['Name of ben', 'ben@example.com', idOf('ben'), idOf('amy'), 'amy@example.com'])
        expect(text).not.toContain(told);
  });

  test('is computed when it is read: it follows the account, and the lead into another one', async () => {
    await rig.scored([
      decided('acme.com', {
        ...{ leads: 2, previous: 57, account_name: 'Acme', roll_up: { method: 'max' } },
        adjustments: [byLeads(-12)],
      }),
    ]);
    expect((await rig.get(publicPath('account'))).body).toMatchObject({
      score: 45,
      account: {
        name: 'Acme',
        reasons: [{ points: 30, words: '+30: the highest score of its 2 leads.' }, {}, {}],
      },
    });
    await rig.scored([
      { type: 'LeadContributed', payload: leadContributed('amy', 'looms.com', 30) },
      decided('looms.com', { leads: 1, adjustments: [byLeads(30)] }),
    ]);
    const moved = await rig.get(publicPath('account'));
    expect(moved.body).toMatchObject({ score: 30, account: { name: 'looms.com', leads: 1 } });
    expect(moved.text).not.toContain('Acme');
  });

  test('of a lead that belongs to no account shows the score 0, as scoring does, and the account once there is one', async () => {
    await rig.scored([{ type: 'LeadScored', payload: leadScored('free', { rule: 'pricing', points: 15 }) }]);
    await rig.request(createShare('no account', 'free', { score_type: 'account' }));
    const { body } = await rig.get(publicPath('no account'));
    expect(routes.readShare.responses[200].schema.parse(body)).toMatchObject({
      ...{ score_type: 'account', score: 0, top_drivers: [] },
    });
    expect(body).not.toHaveProperty('account');
    const page = () => rig.get(`/share/${tokenOf('no account')}`, { accept: 'text/html' });
    expect((await page()).text).toContain('This lead belongs to no account yet.');
    expect((await rig.get(`${publicPath('no account')}/csv`)).status).toBe(200);
    await rig.scored([
      ...counts('free', 'free.com', 15),
      decided('free.com', { leads: 1, adjustments: [byLeads(15)] }),
    ]);
    expect((await rig.get(publicPath('no account'))).body).toMatchObject({
      score: 15,
      account: { leads: 1 },
    });
  });

  test('is 404 once the lead is deleted, also for a new lead with its id; nothing is kept of an account without leads', async () => {
    await rig.scored([
      ...counts('last', 'last.com', 7),
      decided('last.com', { leads: 1, account_name: 'Last Ltd', adjustments: [byLeads(7)] }),
    ]);
    await rig.request(createShare('of the last', 'last', { score_type: 'account' }));
    expect((await rig.get(publicPath('of the last'))).body).toMatchObject({ account: { name: 'Last Ltd' } });
    const ended = { status: 404, body: { code: 'share_not_found' } };
    await rig.scored([{ type: 'LeadRemoved', payload: leadRemoved('last', 7) }]);
    expect(await rig.get(publicPath('of the last'))).toMatchObject(ended);
    await rig.scored([decided('last.com', { leads: 0, previous: 7, adjustments: [byLeads(-7)] })]);
    expect(await rig.get(publicPath('of the last'))).toMatchObject(ended);
    expect(JSON.stringify((await rig.documents()).accounts)).not.toContain('Last Ltd');
    await rig.scored(counts('last', 'acme.com', 3));
    expect(await rig.get(publicPath('of the last'))).toMatchObject(ended);
  });

  test('cannot be made for a lead of another OU, and its key makes no link to another score', async () => {
    expect(
      await rig.request(createShare('not ours', 'amy', { score_type: 'account', ou_id: otherOuId })),
    ).toMatchObject({ outcome: 'rejected', code: 'lead_not_found' });
    expect(await rig.request(createShare('account', 'amy', { score_type: 'deal' }))).toMatchObject({
      outcome: 'rejected',
      code: 'idempotency_key_reused',
    });
  });

  test('shows the same after a rebuild', async () => {
    const [documents, shown] = [await rig.documents(), await rig.get(publicPath('account'))];
    expect(documents.accounts).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'Acme' })]));
    await rig.rebuild();
    expect(await rig.documents()).toEqual(documents);
    expect((await rig.get(publicPath('account'))).body).toEqual(shown.body);
  });
});
