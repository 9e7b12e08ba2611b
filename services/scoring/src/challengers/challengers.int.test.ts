// Challengers on real servers. The law: the figures of a challenger are those of a what-if over the same range of time with the same draft.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { records, type routeDeclarations } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/testing/service-rig';
import { leads as leadCollection } from '../leads/documents.js';
import {
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  otherOuId,
  ouId,
  resetScores,
  setLevels,
  updateRule,
} from '../testing/builders.js';
import { createDecay } from '../testing/decay-builders.js';
import { startRig, type Rig } from '../testing/rig.js';
import { challengerFigures } from './documents.js';

let rig: Rig;
let stopProcessor: () => Promise<void>;
const firstDay = Date.parse('2026-01-01T00:00:00.000Z');
const on = (day: number, hour = 12) => new Date(firstDay + day * 86_400_000 + hour * 3_600_000).toISOString();
/** The clock of the owners of partitions. */
let now = new Date(on(0));
const names = Array.from({ length: 12 }, (_, index) => `lead ${String(index)}`);
const actor = { kind: 'token', id: '7' } as const;

beforeAll(async () => {
  // Two leads in a group: the law holds for groups too.
  rig = await startRig({ partitions: 3, processors: 0, now: () => now, leadsPerStep: 2 });
  stopProcessor = await rig.startProcessor();
  const base = { requested_at: on(-1) };
  for (const command of [
    createRuleset('Web', { max_score: 60, ...base }),
    createRule('view', { weight: 7, max_count: 5, ruleset_id: idOf('Web'), ...base }),
    createRule('open', { event_type: 'Email Open', weight: 9, cap_points: 20, cap_days: 10, ...base }),
    setLevels([['Hot', 30, null]], base),
  ])
    expect(await rig.request(command)).toMatchObject({ outcome: 'done' });
  await score(0);
}, 120_000);
afterAll(() => rig.stop(), 90_000);

/** Something of every kind on a day: for some leads also the outcome, and events that happened long before. */
async function score(day: number): Promise<void> {
  const event = (event_type: string, timestamp: string) => ({ id: randomUUID(), event_type, timestamp });
  await rig.score(
    names.map((name, index) =>
      ingested(
        name,
        [
          ...Array.from({ length: 1 + (index % 3) }, () => event('Page View', on(day, 9))),
          ...(index % 2 === 0 ? [event('Email Open', on(day, 10))] : []),
          ...(index % 5 === 0 ? [event('Page View', on(-30))] : []),
          ...(index % 4 === 0 ? [event('Deal Won', on(day, 11))] : []),
        ],
        { received_at: on(day, 12) },
      ),
    ),
  );
}

const draft = {
  changes: [
    { op: 'change', rule_id: idOf('open'), rule: { weight: 19, cap_points: 50 } },
    { op: 'add', rule: { event_type: 'Page View', weight: 2, label: 'More views' } },
  ] satisfies records.DraftChange[],
  outcome: { event_type: 'Deal Won' },
  threshold: 20,
  score_type: 'engagement' as const,
};

function start(name: string, more: Partial<records.StartChallenger> = {}) {
  const payload: records.StartChallenger = {
    ...{ ou_id: ouId, challenger_id: idOf(name), name, ...draft, requested_at: now.toISOString(), actor },
    ...more,
  };
  return rig.ask(outgoing(records.startChallenger, { key: payload.ou_id, payload }));
}
const end = (name: string) =>
  rig.ask(
    outgoing(records.endChallenger, {
      key: ouId,
      payload: { ou_id: ouId, challenger_id: idOf(name), requested_at: now.toISOString() },
    }),
  );
const apply = (name: string, dry_run = false) =>
  rig.ask(
    outgoing(records.applyChallenger, {
      key: ouId,
      payload: {
        ...{ ou_id: ouId, challenger_id: idOf(name), dry_run },
        ...{ requested_at: now.toISOString(), actor },
      },
    }),
  );
const shown = async (name: string, options = {}) =>
  (await rig.get(`/scoring/challengers/${idOf(name)}`, options)) as unknown as {
    status: number;
    body: routeDeclarations.ChallengerFigures & { code?: string };
  };
const listed = async (options = {}) =>
  (await rig.get('/scoring/challengers', options)).body as { data?: routeDeclarations.Challenger[] };

/** The figures as of the clock, which goes on by a day: what was recorded before is in them. */
async function figuresOfNow(name: string): Promise<routeDeclarations.WhatIfResult> {
  now = new Date(now.getTime() + 86_400_000);
  const { figures } = await eventually('the figures are up to date', async () => {
    const { body } = await shown(name);
    return body.as_of === now.toISOString() && body;
  });
  if (!figures) throw new Error('there are no figures');
  return figures;
}

/** What a what-if of the same draft finds in what has happened since a moment. */
async function whatIfSince(from: string): Promise<routeDeclarations.WhatIfResult> {
  const job_id = randomUUID();
  const payload = { ou_id: ouId, job_id, ...draft, from, requested_at: now.toISOString() };
  await rig.ask(outgoing(records.startWhatIf, { key: ouId, payload }));
  return eventually('the what-if is completed', async () => {
    const { body } = await rig.get(`/jobs/scoring-${job_id}`);
    return body.status === 'completed' && (body.result as routeDeclarations.WhatIfResult);
  });
}

/** The rule that a draft adds has an id of its own. */
const withoutRuleIds = ({ movers, ...result }: routeDeclarations.WhatIfResult) => ({
  ...result,
  movers: movers.map(({ why, ...mover }) => ({
    ...mover,
    why: why.map(({ label, live, draft: drafted }) => [label, live, drafted]),
  })),
});

describe('a challenger', () => {
  test('begins with nothing, is answered, and has figures soon', async () => {
    now = new Date(on(10));
    expect(await start('one')).toEqual({
      outcome: 'done',
      result: {
        ...{ id: idOf('one'), name: 'one', started_at: on(10), started_by: actor },
        ...{ score_type: 'engagement', configuration_version: 5, overtaken: false, as_of: null },
      },
    });
    expect(await start('one')).toMatchObject({ outcome: 'done', result: { id: idOf('one') } });
    const figures = await figuresOfNow('one');
    expect(figures).toMatchObject({ leads: 0, rising: 0, movers: [], triggers: [], overtaken: false });
    expect((await shown('one')).body).toMatchObject({ name: 'one', ...draft });
  }, 60_000);

  test('has the figures of a what-if from its start on: with imported history, resets, deletions and the outcome', async () => {
    const stored = () => rig.documents([leadCollection]);
    await score(12);
    await rig.reset(resetScores('lead 3', { requested_at: on(12, 13) }));
    await rig.score([deleted('lead 4', { deleted_at: on(12, 14) }), deleted('lead 5')]);
    await score(13);
    const before = await stored();
    const figures = await figuresOfNow('one');
    expect(figures.leads).toBe(12);
    expect(figures.rising).toBeGreaterThan(0);
    expect(figures.draft.auc).toBeGreaterThan(0);
    expect(figures.draft.conversion_by_band?.reduce((sum, { won }) => sum + won, 0)).toBe(3);
    expect(withoutRuleIds(figures)).toEqual(withoutRuleIds(await whatIfSince(on(10))));
    expect(await stored()).toEqual(before);
  }, 60_000);

  test('goes on with another owner of its partition, with what comes after', async () => {
    await stopProcessor();
    stopProcessor = await rig.startProcessor();
    await score(14);
    expect(withoutRuleIds(await figuresOfNow('one'))).toEqual(withoutRuleIds(await whatIfSince(on(10))));
  }, 60_000);

  test('that began later counts what came later', async () => {
    await start('two');
    await score(20);
    const figures = await figuresOfNow('two');
    expect(withoutRuleIds(figures)).toEqual(withoutRuleIds(await whatIfSince(on(14))));
    expect(figures).not.toEqual(await figuresOfNow('one'));
  }, 60_000);

  test('is one of at most three, is not there for another organizational unit, and ends with its figures', async () => {
    await start('three');
    expect(await start('four')).toMatchObject({ outcome: 'rejected', code: 'limit_reached' });
    expect((await listed()).data?.map(({ name }) => name)).toEqual(['one', 'two', 'three']);
    expect(await listed({ ou: otherOuId })).toEqual({ data: [] });
    expect(await shown('one', { ou: otherOuId })).toMatchObject({
      status: 404,
      body: { code: 'challenger_not_found' },
    });
    expect(await end('two')).toMatchObject({ outcome: 'done' });
    expect(await end('two')).toMatchObject({ outcome: 'rejected', code: 'challenger_not_found' });
    expect((await shown('two')).status).toBe(404);
    await end('three');
    await eventually('the figures are deleted', async () => {
      const [found = []] = Object.values(await rig.documents([challengerFigures]));
      return found.length === 1;
    });
  }, 60_000);

  test('fades with decay rules, also when nothing comes', async () => {
    await end('one');
    expect(await rig.request(createDecay('Weekly', { points: -3, interval_days: 7 }))).toMatchObject({
      outcome: 'done',
    });
    now = new Date(on(25));
    await start('fading');
    await score(26);
    now = new Date(on(27));
    await figuresOfNow('fading');
    now = new Date(on(60));
    expect(withoutRuleIds(await figuresOfNow('fading'))).toEqual(withoutRuleIds(await whatIfSince(on(25))));
  }, 60_000);
});

describe('apply', () => {
  test('first says what would change, then makes the draft live as one change and ends the challenger', async () => {
    const dry = await apply('fading', true);
    expect(dry).toMatchObject({ outcome: 'done', result: { id: idOf('fading'), dry_run: true, total: 2 } });
    expect((await shown('fading')).status).toBe(200);
    const applied = await apply('fading');
    if (applied.outcome !== 'done') throw new Error('refused');
    expect(applied.result).toMatchObject({ dry_run: false, total: 2 });
    const rule = await rig.get(`/rules/${idOf('open')}`);
    expect(rule.body).toMatchObject({ weight: 19, cap_points: 50, changed_by: actor });
    await eventually('the challenger has ended', async () => (await listed()).data?.length === 0);
    const { version } = applied.result as { version: number };
    expect(await apply('fading')).toMatchObject({ outcome: 'done', result: { version, total: 0 } });
  }, 60_000);

  test('is refused once the configuration has changed, and the challenger says so', async () => {
    await start('late');
    await rig.request(updateRule('view', { weight: 3 }));
    expect(await apply('late', true)).toMatchObject({ outcome: 'rejected', code: 'rules_changed' });
    expect(await apply('late')).toMatchObject({ outcome: 'rejected', code: 'rules_changed' });
    expect((await listed()).data).toMatchObject([{ name: 'late', overtaken: true }]);
    expect(await figuresOfNow('late')).toMatchObject({ overtaken: true });
  }, 60_000);
});

test('a rebuild has the same challengers, and computes their figures anew', async () => {
  await score(70);
  const before = await figuresOfNow('late');
  await rig.rebuild();
  await eventually('the figures are there again', async () => {
    const { body } = await shown('late');
    return body.as_of !== null && body.as_of >= now.toISOString();
  });
  expect((await shown('late')).body.figures).toEqual(before);
}, 60_000);
