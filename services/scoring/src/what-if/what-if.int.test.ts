// What-ifs on real servers. The first law: replayed by the rules that were in force, the log gives the scores that live scoring stored.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { records, type routeDeclarations } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/testing/service-rig';
import { createPublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';
import { leadKey } from '../keys.js';
import { leads as leadCollection, toLead } from '../leads/documents.js';
import { compileRules } from '../scores/rule-model.js';
import {
  addMapping,
  createProfileRule,
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
import { alwaysInForce } from './draft-model.js';
import { leadGroup, readHappenings } from './history.js';
import { Replay } from './replay-model.js';

let rig: Rig;
let stopProcessor: () => Promise<void>;
const firstDay = Date.parse('2026-01-01T00:00:00.000Z');
const on = (day: number, hour = 12) => new Date(firstDay + day * 86_400_000 + hour * 3_600_000).toISOString();
/** The clock of the owners of partitions. */
let now = new Date(on(0));

beforeAll(async () => {
  // Two leads in a step: the law holds for groups too.
  rig = await startRig({ partitions: 3, processors: 0, now: () => now, leadsPerStep: 2, maximumTail: 24 });
  stopProcessor = await rig.startProcessor();
  const base = { requested_at: on(-1) };
  for (const command of [
    createRuleset('Web', { max_score: 60, ...base }),
    createRule('view', { weight: 7, max_count: 5, ruleset_id: idOf('Web'), ...base }),
    createRule('page', { weight: 4, once_per: 'value:path', ruleset_id: idOf('Web'), ...base }),
    createRule('open', { event_type: 'Email Open', weight: 9, cap_points: 20, cap_days: 10, ...base }),
    createRuleset('Fit', { score_type: 'profile', max_score: 30, ...base }),
    addMapping('title', 'title', 'metadata.title'),
    createProfileRule('chief', [{ field: 'title', operator: 'contains', value: 'chief' }], base),
    createProfileRule('named', [{ field: 'name', operator: 'exists' }], base),
    createDecay('Weekly', { points: -3, interval_days: 7, ...base }),
    setLevels([['Hot', 30, null]], base),
  ])
    expect(await rig.request(command)).toMatchObject({ outcome: 'done' });
}, 120_000);
afterAll(() => rig.stop(), 90_000);

const names = Array.from({ length: 12 }, (_, index) => `lead ${String(index)}`);
const documentOf = (name: string) =>
  rig.readModel.collection(leadCollection).findOne({ _id: leadKey(ouId, idOf(name)) });

/**
 * A lead without the fields that a replay does not decide: its offsets, its entry in the index of due leads, the resets that it
 * remembers by their ids, and the times since which profile rules have matched.
 */
const decided = ({ profile, ...lead }: ReturnType<typeof toLead>) => {
  const given = [...(profile?.given ?? [])].sort((one, other) => (one.rule_id < other.rule_id ? -1 : 1));
  return {
    ...lead,
    profile: { ...profile, given },
    offset: 0,
    first_offset: 0,
    due_entry: undefined,
    resets: [],
  };
};

let jobs = 0;
function asked(more: Partial<records.StartWhatIf> = {}): records.StartWhatIf {
  return {
    ou_id: ouId,
    job_id: idOf(`job ${String((jobs += 1))}`),
    changes: [],
    score_type: 'engagement',
    requested_at: now.toISOString(),
    ...more,
  };
}
const startOf = (payload: records.StartWhatIf) =>
  rig.ask(outgoing(records.startWhatIf, { key: payload.ou_id, payload }));
const apply = (job_id: string) =>
  rig.ask(
    outgoing(records.applyWhatIf, {
      key: ouId,
      payload: { ou_id: ouId, job_id, requested_at: now.toISOString(), actor: { kind: 'token', id: '7' } },
    }),
  );
const jobAt = async (id: string, options = {}) =>
  (await rig.get(`/jobs/scoring-${id}`, options)) as unknown as {
    status: number;
    body: Omit<routeDeclarations.Job, 'result'> & { result?: routeDeclarations.WhatIfResult };
  };
const pictureOf = (id: string, query = '', options = {}) =>
  rig.get(`/scoring/what-if/scoring-${id}/picture.svg${query}`, options);

const completed = (id: string) =>
  eventually('the what-if is completed', async () => {
    const { body } = await jobAt(id);
    if (body.status === 'failed') throw new Error(JSON.stringify(body.errors));
    return body.status === 'completed' && body;
  });

async function run(more: Partial<records.StartWhatIf> = {}): Promise<routeDeclarations.WhatIfResult> {
  const start = asked(more);
  expect(await startOf(start)).toEqual({ outcome: 'done', result: { job_id: `scoring-${start.job_id}` } });
  const { result, done, total } = await completed(start.job_id);
  expect(done).toBe(total);
  if (!result) throw new Error('a completed what-if has no result');
  return result;
}

/** Holds every stored lead to a fresh computation of the whole history by the rules of now. @returns the ids of the leads */
async function expectComputedAnew(): Promise<Set<string>> {
  const configuration = await loadOne(createPublishedConfigurations(rig.readModel), ouId);
  const compiled = compileRules(alwaysInForce(configuration));
  const known = new Set<string>();
  for (let partition = 0; partition < rig.partitions; partition += 1)
    for (const group of [0, 1]) {
      const replay = new Replay({ live: compiled, draft: compiled }, { until: now.toISOString() });
      const ends = { ingest_end: 1e9, scoring_end: 1e9 };
      const { signal } = new AbortController();
      const ingest = await rig.recordsOn('ingest.events');
      const scoring = await rig.recordsOn('scoring.events');
      const endOf = (of: typeof ingest) =>
        Math.max(
          0,
          ...of.filter((one) => one.partition === partition).map(({ offset }) => Number(offset) + 1),
        );
      Object.assign(ends, { ingest_end: endOf(ingest), scoring_end: endOf(scoring) });
      const part = { ouId, partition, ends, leads: leadGroup(group, 2), signal };
      for await (const happenings of readHappenings(rig.log, part)) replay.take(happenings);
      replay.end();
      for (const [id, lead] of replay.whole.live.leads) {
        known.add(id);
        const stored = await rig.readModel.collection(leadCollection).findOne({ _id: leadKey(ouId, id) });
        if (!stored) throw new Error('the replay knows a lead that is not stored');
        expect(decided(lead)).toEqual(decided(toLead(stored, ouId)));
      }
    }
  return known;
}

test('a replay by the rules that were in force gives the leads that are stored: with limits, decay, profiles, resets and deletions', async () => {
  const view = (day: number, path: string, more = {}) => ({
    id: randomUUID(),
    timestamp: on(day),
    metadata: { path, ...more },
  });
  for (let day = 0; day < 6; day += 1) {
    const received_at = on(day, 13);
    await rig.score(
      names.map((name, index) =>
        ingested(
          name,
          [
            ...Array.from({ length: 1 + (index % 3) }, () => view(day, `/page ${String(index % 4)}`)),
            ...(index % 2 === 0
              ? [{ id: randomUUID(), event_type: 'Email Open', timestamp: on(day - (index % 5)) }]
              : []),
            ...(day === 2 ? [view(day, '/title', { title: index % 3 === 0 ? 'Chief' : 'Clerk' })] : []),
          ],
          {
            received_at,
            ...(day === 3 && { fields: [{ field: 'name', value: name, at: received_at }] }),
          },
        ),
      ),
    );
    if (day === 1) await rig.reset(resetScores('lead 1', { requested_at: on(day, 14) }));
    if (day === 2) await rig.score([deleted('lead 2', { deleted_at: on(day, 14) }), deleted('lead 5')]);
    if (day === 3) {
      await rig.reset(resetScores('lead 3', { requested_at: on(day, 14) }));
      await rig.reset(resetScores('lead 1', { reset_id: idOf('again'), requested_at: on(day, 15) }));
    }
  }
  await rig.score([deleted('lead 7')]);
  now = new Date(on(30));
  await eventually('the ticks of four weeks are decided', async () => {
    const found = await Promise.all(names.map(documentOf));
    return found.every((lead) => (lead?.decay?.due_at ?? '9') > now.toISOString());
  });
  const known = await expectComputedAnew();
  const stored = (await Promise.all(names.map(documentOf))).filter((lead) => lead !== null);
  expect(known.size).toBe(stored.length);
  expect(stored.length).toBe(11);
  // The history has something of everything.
  expect(stored.some(({ resets = [] }) => resets.length === 2)).toBe(true);
  expect(stored.some(({ profile_score = 0 }) => profile_score === 30)).toBe(true);
  expect(stored.some(({ limit_uses }) => limit_uses !== undefined)).toBe(true);
}, 120_000);

describe('a what-if', () => {
  test('without changes moves nobody, and its levels are those of the stored leads', async () => {
    const result = await run();
    const scores = (await Promise.all(names.map(documentOf))).flatMap((lead) => (lead ? [lead.score] : []));
    expect(result).toMatchObject({
      leads: 11,
      rising: 0,
      falling: 0,
      unchanged: 11,
      level_changes: 0,
      movers: [],
    });
    expect(result.overtaken).toBe(false);
    expect(result.draft).toEqual(result.live);
    expect(result.live.levels).toMatchObject([
      { name: 'Hot', leads: scores.filter((score) => score >= 30).length },
    ]);
    const counted = result.live.distribution.reduce((sum, { leads }) => sum + leads, 0);
    expect(counted).toBe(scores.length);
    expect('auc' in result.live).toBe(false);
  }, 60_000);

  test('says who would move and why, and touches no live score', async () => {
    const before = await rig.documents([leadCollection]);
    const result = await run({
      changes: [{ op: 'change', rule_id: idOf('open'), rule: { weight: 19, cap_points: 50 } }],
    });
    // Of the leads that opened mails, each is there: one was made anew after a deletion.
    expect(result.rising).toBe(6);
    expect(result.falling).toBe(0);
    expect(result.movers).toHaveLength(6);
    for (const { live, draft, why } of result.movers) {
      expect(why[0]).toMatchObject({ kind: 'rule', id: idOf('open'), label: 'Email Open' });
      expect(why.reduce((sum, one) => sum + one.draft - one.live, 0)).toBe(draft - live);
    }
    expect(await rig.documents([leadCollection])).toEqual(before);
  }, 60_000);

  test('of a profile rule is about profile scores', async () => {
    const add: records.DraftChange = {
      op: 'add',
      rule: {
        ruleset_id: idOf('Fit'),
        conditions: [{ field: 'title', operator: 'equals', value: 'Clerk' }],
        weight: -4,
        label: 'Clerk',
      },
    };
    const result = await run({ changes: [add], score_type: 'profile' });
    expect(result).toMatchObject({ rising: 0, falling: 5 });
    expect(result.movers[0]).toMatchObject({
      live: 20,
      draft: 16,
      why: [{ kind: 'rule', label: 'Clerk', draft: -4 }],
    });
  }, 60_000);

  test('is judged by an outcome, with all the figures', async () => {
    await rig.score(
      ['lead 0', 'lead 4', 'lead 6'].map((name) =>
        ingested(name, [{ id: randomUUID(), event_type: 'Deal Won', timestamp: on(5, 20) }], {
          received_at: on(30),
        }),
      ),
    );
    const result = await run({
      changes: [{ op: 'remove', rule_id: idOf('open') }],
      outcome: { event_type: 'deal_won' },
      threshold: 20,
    });
    for (const side of [result.live, result.draft]) {
      expect(side.auc).toBeGreaterThan(0);
      expect(side.auc_interval).not.toBeNull();
      expect(side.roc?.at(-1)).toMatchObject({ tpr: 1, fpr: 1 });
      expect(side.conversion_by_band?.reduce((sum, { won }) => sum + won, 0)).toBe(3);
      expect(side.at_threshold?.threshold).toBe(20);
    }
  }, 60_000);

  test('is refused for a draft that could not be live, and for another OU its job is not there', async () => {
    expect(await startOf(asked({ changes: [{ op: 'remove', rule_id: idOf('unknown') }] }))).toMatchObject({
      outcome: 'rejected',
      code: 'rule_not_found',
    });
    const start = asked();
    await startOf(start);
    await completed(start.job_id);
    expect((await jobAt(start.job_id, { ou: otherOuId })).status).toBe(404);
    const { body } = await rig.get('/jobs?status=completed');
    expect(body.data).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: `scoring-${start.job_id}`, kind: 'what-if' })]),
    );
  }, 60_000);
});

test('one runs at a time in an OU, and outlives its owner', async () => {
  const start = asked({ changes: [{ op: 'remove', rule_id: idOf('open') }] });
  const alone = await run({ changes: start.changes });
  await startOf(start);
  const second = await startOf(asked());
  await stopProcessor();
  const { body: left } = await jobAt(start.job_id);
  const picture = await pictureOf(start.job_id);
  stopProcessor = await rig.startProcessor();
  const { result } = await completed(start.job_id);
  if (left.status === 'running')
    expect(picture).toMatchObject({ status: 409, body: { code: 'job_not_completed' } });
  if (left.status === 'running')
    expect(second).toMatchObject({
      outcome: 'rejected',
      code: 'job_running',
      message: expect.stringContaining(`scoring-${start.job_id}`),
    });
  expect(result).toEqual(alone);
  // The same request again is answered like the first.
  expect(await startOf(start)).toEqual({ outcome: 'done', result: { job_id: `scoring-${start.job_id}` } });
}, 60_000);

describe('the picture of a what-if', () => {
  test('is an SVG of both sides for a width, with what it shows in words', async () => {
    const start = asked({ outcome: { event_type: 'Deal Won' } });
    await startOf(start);
    const { result } = await completed(start.job_id);
    const shown = await pictureOf(start.job_id, '?width=480');
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(shown.text).toMatch(/^<svg\s+xmlns="http:\/\/www.w3.org\/2000\/svg"\s+width="480"/);
    expect(shown.text).toContain('What if: Leads by engagement score');
    const { text: curves } = await pictureOf(start.job_id, '?chart=roc');
    expect(curves).toContain(`AUC ${String(result?.live.auc?.toFixed(3))}`);
    expect((await pictureOf(start.job_id, '?chart=conversion')).text).toContain('Share with the outcome');
  }, 60_000);

  test('is 400 for a chart that there is not, and 404 for a job that there is not, or that another OU has', async () => {
    const start = asked();
    await startOf(start);
    await completed(start.job_id);
    expect((await pictureOf(start.job_id, '?chart=pie')).status).toBe(400);
    const png = await rig.get(`/scoring/what-if/scoring-${start.job_id}/picture.png?chart=roc&width=480`);
    expect([png.status, png.headers.get('content-type'), png.text.slice(1, 4)]).toEqual([
      200,
      'image/png',
      'PNG',
    ]);
    for (const answer of [
      await pictureOf(idOf('unknown')),
      await pictureOf(start.job_id, '', { ou: otherOuId }),
    ])
      expect(answer).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
  }, 60_000);
});

describe('apply', () => {
  test('makes the draft live as one change with its author, once, and the result says that it was overtaken', async () => {
    const start = asked({
      changes: [
        { op: 'change', rule_id: idOf('view'), rule: { weight: 8 } },
        { op: 'add', rule: { event_type: 'Form Submit', weight: 30, ruleset_id: idOf('Web') } },
      ],
      levels: [{ name: 'Hot', min_score: 40, max_score: null, color: '#e8590c' }],
    });
    await startOf(start);
    await completed(start.job_id);
    const applied = await apply(start.job_id);
    expect(applied).toMatchObject({ outcome: 'done', result: { job_id: `scoring-${start.job_id}` } });
    expect((await rig.get(`/rules/${idOf('view')}`)).body).toMatchObject({
      weight: 8,
      changed_by: { kind: 'token', id: '7' },
    });
    expect((await rig.get('/engagement-scoring/levels')).body).toMatchObject({ levels: [{ min_score: 40 }] });
    const changed = await rig.recordsOn('scoring.events');
    expect(await apply(start.job_id)).toEqual(applied);
    const types = ['RuleUpdated', 'RuleCreated', 'EngagementLevelsSet'];
    const count = (of: typeof changed) => of.filter(({ type }) => types.includes(type)).length;
    expect(count(await rig.recordsOn('scoring.events'))).toBe(count(changed));
    expect((await jobAt(start.job_id)).body.result?.overtaken).toBe(true);
  }, 60_000);

  test('is refused when the rules have changed meanwhile, and the result says so', async () => {
    const start = asked({ changes: [{ op: 'change', rule_id: idOf('open'), rule: { weight: 1 } }] });
    await startOf(start);
    await completed(start.job_id);
    expect((await jobAt(start.job_id)).body.result?.overtaken).toBe(false);
    await rig.request(updateRule('page', { weight: 5 }));
    expect((await jobAt(start.job_id)).body.result?.overtaken).toBe(true);
    expect(await apply(start.job_id)).toMatchObject({ outcome: 'rejected', code: 'rules_changed' });
    expect((await rig.get(`/rules/${idOf('open')}`)).body).toMatchObject({ weight: 9 });
  }, 60_000);

  test('is refused for a job that there is not, or that another OU has', async () => {
    expect(await apply(idOf('unknown'))).toMatchObject({ code: 'job_not_found' });
    const start = asked({ ou_id: otherOuId });
    await startOf(start);
    expect(await apply(start.job_id)).toMatchObject({ code: 'job_not_found' });
  }, 60_000);
});

describe('a dry run of a rescoring', () => {
  const asks = (more: Partial<records.StartRescoring> = {}): records.StartRescoring => ({
    ou_id: ouId,
    job_id: idOf(`job ${String((jobs += 1))}`),
    score_type: 'engagement',
    dry_run: true,
    requested_at: now.toISOString(),
    ...more,
  });
  const startRescoring = (payload: records.StartRescoring) =>
    rig.ask(outgoing(records.startRescoring, { key: payload.ou_id, payload }));
  async function rescored(
    more: Partial<records.StartRescoring> = {},
  ): Promise<routeDeclarations.RescoringResult> {
    const start = asks(more);
    expect(await startRescoring(start)).toMatchObject({ result: { job_id: `scoring-${start.job_id}` } });
    const { result, kind, done, total } = await completed(start.job_id);
    expect([kind, done]).toEqual(['rescoring', total]);
    return result as unknown as routeDeclarations.RescoringResult;
  }
  const scoresNow = async () =>
    new Map(
      (await Promise.all(names.map(documentOf))).flatMap((lead, index) =>
        lead ? [[idOf(names[index] ?? ''), lead] as const] : [],
      ),
    );

  test('compares the stored scores with those of a fresh computation by the changed rules, and touches neither', async () => {
    const stored = await rig.documents([leadCollection]);
    const leadsNow = await scoresNow();
    const { movers, ...result } = await rescored();
    expect(result).toMatchObject({ dry_run: true, overtaken: false, leads: leadsNow.size, falling: 0 });
    expect(result.rising).toBeGreaterThan(0);
    expect(result.rising + result.unchanged).toBe(leadsNow.size);
    expect(movers).toHaveLength(result.rising);
    for (const { lead_id, now: before, rescored: after, why } of movers) {
      expect(before).toBe(leadsNow.get(lead_id)?.score);
      expect(why.reduce((sum, reason) => sum + reason.rescored - reason.now, before)).toBe(after);
    }
    // What a what-if that changes nothing calls live is the fresh computation.
    const { live } = await run();
    expect(result.rescored.levels).toEqual(live.levels);
    expect(result.now.levels).toMatchObject([
      { leads: [...leadsNow.values()].filter(({ score }) => score >= 40).length },
    ]);
    expect(await rig.documents([leadCollection])).toEqual(stored);
  }, 60_000);

  test('of profiles, and of one ruleset, is about their points alone', async () => {
    expect(await rescored({ score_type: 'profile' })).toMatchObject({ rising: 0, falling: 0, movers: [] });
    const { movers } = await rescored({ ruleset_id: idOf('Web') });
    expect(movers.length).toBeGreaterThan(0);
    const inWeb = [idOf('view'), idOf('page'), idOf('Web')];
    for (const { id = '' } of movers.flatMap(({ why }) => why)) expect(inWeb).toContain(id);
  }, 60_000);

  test('is refused for a ruleset that there is not, or that is of another dimension', async () => {
    for (const more of [
      { ruleset_id: idOf('unknown') },
      { ruleset_id: idOf('Fit') },
      { ou_id: otherOuId, ruleset_id: idOf('Web') },
    ])
      expect(await startRescoring(asks(more))).toMatchObject({ code: 'ruleset_not_found' });
  });

  test('runs once at a time in an OU, beside a what-if, and outlives its owner', async () => {
    const { movers: expected } = await rescored();
    const start = asks();
    await startRescoring(start);
    const [second, beside] = [await startRescoring(asks()), asked()];
    const { body: left } = await jobAt(start.job_id);
    expect(await startOf(beside)).toMatchObject({ outcome: 'done' });
    await stopProcessor();
    stopProcessor = await rig.startProcessor();
    expect((await completed(start.job_id)).result).toMatchObject({ movers: expected });
    await completed(beside.job_id);
    if (left.status === 'running')
      expect(second).toMatchObject({
        code: 'job_running',
        message: expect.stringContaining(`scoring-${start.job_id}`),
      });
  }, 60_000);

  test('is about the rules of its beginning, and says when they have changed since', async () => {
    const start = asks();
    await startRescoring(start);
    await completed(start.job_id);
    await rig.request(updateRule('page', { weight: 6 }));
    expect((await jobAt(start.job_id)).body.result?.overtaken).toBe(true);
  }, 60_000);
});

test('names of leads that are deleted since are gone from the result', async () => {
  const start = asked({ changes: [{ op: 'remove', rule_id: idOf('open') }] });
  await startOf(start);
  const { result } = await completed(start.job_id);
  const [gone] = result?.movers ?? [];
  const name = names.find((one) => idOf(one) === gone?.lead_id) ?? '';
  await rig.score([deleted(name, { deletion_id: idOf('last') })]);
  const { body } = await jobAt(start.job_id);
  expect(body.result?.movers.map(({ lead_id }) => lead_id)).not.toContain(gone?.lead_id);
  expect(body.result?.movers).toHaveLength((result?.movers.length ?? 0) - 1);
}, 60_000);

describe('a rescoring', () => {
  async function rescore(more: Partial<records.StartRescoring>) {
    const payload: records.StartRescoring = {
      ou_id: ouId,
      job_id: idOf(`job ${String((jobs += 1))}`),
      score_type: 'engagement',
      dry_run: false,
      requested_at: now.toISOString(),
      ...more,
    };
    expect(await rig.ask(outgoing(records.startRescoring, { key: ouId, payload }))).toMatchObject({
      outcome: 'done',
    });
    return payload.job_id;
  }
  const resultOf = async (id: string) =>
    (await completed(id)).result as unknown as routeDeclarations.RescoringResult;
  const activations = async (id: string) =>
    (await rig.recordsOn('scoring.events')).filter(
      ({ type, payload }) =>
        type === 'ScoringEpochActivated' && (payload as records.ScoringEpochActivated).job_id === id,
    ).length;

  test('gives the leads of a fresh computation by the rules of now, with what came in meanwhile; its dry run has said so', async () => {
    const requested_at = now.toISOString();
    await rig.request(updateRule('open', { weight: 19, cap_points: 50, requested_at }));
    await rig.request(createDecay('Daily', { points: -1, interval_days: 3, requested_at }));
    const expected = await resultOf(await rescore({ dry_run: true }));
    expect(expected.rising + expected.falling).toBeGreaterThan(0);
    const id = await rescore({});
    const again = await rig.ask(
      outgoing(records.startRescoring, {
        key: ouId,
        payload: { ou_id: ouId, job_id: idOf('second'), score_type: 'profile', dry_run: false, requested_at },
      }),
    );
    expect(again).toMatchObject({ code: 'job_running', message: expect.stringContaining(id) });
    // More than one batch takes into account: the job has to come nearer first.
    for (let round = 0; round < 3; round += 1)
      await rig.score(
        [...names, 'lead 20'].map((name) =>
          ingested(name, [{ id: randomUUID(), event_type: 'Email Open', timestamp: on(29) }], {
            received_at: on(30, round),
          }),
        ),
      );
    await rig.score([deleted('lead 9')]);
    const { movers, ...result } = await resultOf(id);
    // A lead that was deleted meanwhile is in the figures of then, and named no more.
    const named = expected.movers.filter(({ lead_id }) => lead_id !== idOf('lead 9'));
    expect({ ...result, movers }).toEqual({ ...expected, movers: named, dry_run: false });
    expect(await activations(id)).toBeGreaterThanOrEqual(rig.partitions);
    await expectComputedAnew();
    expect(await resultOf(await rescore({ dry_run: true }))).toMatchObject({ rising: 0, falling: 0 });
  }, 120_000);

  test('of one ruleset, and of profiles, comes to what its dry run says, and to nothing the second time', async () => {
    const requested_at = now.toISOString();
    await rig.request(updateRule('view', { weight: 2, requested_at }));
    await rig.request(
      createProfileRule('clerk', [{ field: 'title', operator: 'equals', value: 'Clerk' }], {
        weight: -4,
        requested_at,
      }),
    );
    const web = { ruleset_id: idOf('Web') };
    for (const what of [web, { score_type: 'profile' as const }]) {
      const expected = await resultOf(await rescore({ ...what, dry_run: true }));
      expect(expected.rising + expected.falling).toBeGreaterThan(0);
      expect(await resultOf(await rescore(what))).toEqual({ ...expected, dry_run: false });
      const then = await resultOf(await rescore({ ...what, dry_run: true }));
      expect(then).toMatchObject({
        ...{ rising: 0, falling: 0, leads: expected.leads },
        now: { levels: expected.rescored.levels },
      });
    }
    await rescore({}).then(resultOf);
    await expectComputedAnew();
  }, 120_000);
});
