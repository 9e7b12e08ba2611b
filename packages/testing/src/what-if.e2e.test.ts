// What-ifs, suggestions and rescorings through the gateway: every status that their routes declare, and jobs that end once with the right
// result although their service is killed while they run.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exitCodes } from '@lead-scoring/cli';
import { leadIdOf, type routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { runCommand } from './command-line.js';
import { startTestSystem, type TestSystem } from './test-system.js';

let system: TestSystem;
let ruleId: string;
let position: string;

const leads = 400;
const isForm = (lead: number, part: number) => lead % (part + 2) === 0;
const formsOf = (lead: number) => [0, 1, 2, 3, 4].filter((part) => isForm(lead, part)).length;
const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString();

beforeAll(async () => {
  system = await startTestSystem();
  const rule = await system.request<{ id: string }>('/engagement-scoring/rules', {
    body: { event_type: 'Page View', weight: 5, label: 'Views' },
  });
  ruleId = rule.body.id;
  for (let part = 0; part < 5; part += 1) {
    const events = Array.from({ length: leads }, (_, lead) => [
      {
        alias_kind: 'email',
        alias: `lead${String(lead)}@example.com`,
        event_type: 'Page View',
        timestamp: day(part),
      },
      ...(isForm(lead, part)
        ? [
            {
              alias_kind: 'email',
              alias: `lead${String(lead)}@example.com`,
              event_type: 'Form Submit',
              timestamp: day(part),
            },
          ]
        : []),
      ...(part === 4 && lead % 4 === 0
        ? [
            {
              alias_kind: 'email',
              alias: `lead${String(lead)}@example.com`,
              event_type: 'Deal Won',
              timestamp: day(9),
            },
          ]
        : []),
    ]).flat();
    const sent = await system.request<{ position: string }>('/ingest', { body: events });
    expect(sent.status).toBe(202);
    ({ position } = sent.body);
  }
  await eventually('all events are scored', async () => {
    const { status, body } = await system.request<{ total: number }>(
      `/leads?limit=1&min_position=${position}`,
    );
    return status === 200 && body.total === leads;
  });
}, 180_000);
afterAll(() => system.stop(), 60_000);

const start = (body: object, options = {}) =>
  system.request<{ job_id: string; code?: string; detail?: string }>('/scoring/what-if', {
    body,
    ...options,
  });
type WhatIfJob = Omit<routeDeclarations.Job, 'result'> & { result?: routeDeclarations.WhatIfResult };
const jobOf = async (id: string) => (await system.request<WhatIfJob>(`/jobs/${id}`)).body;
const apply = (id: string) =>
  system.request<{ version?: number; code?: string }>(`/scoring/what-if/${id}/apply`, { method: 'POST' });

async function completed(id: string): Promise<WhatIfJob> {
  return eventually(
    'the what-if is completed',
    async () => {
      const job = await jobOf(id);
      if (job.status === 'failed') throw new Error(JSON.stringify(job.errors));
      return job.status === 'completed' && job;
    },
    60_000,
  );
}

/** The rule that a draft adds has an id of its own in each what-if. */
const withoutRuleIds = (result: routeDeclarations.WhatIfResult | undefined) => ({
  ...result,
  movers: result?.movers.map(({ why, ...mover }) => ({
    ...mover,
    why: why.map(({ label, live, draft: drafted }) => [label, live, drafted]),
  })),
});

const draft = {
  changes: [
    { op: 'add', rule: { event_type: 'Form Submit', weight: 20, label: 'Forms' } },
    { op: 'change', rule_id: '', rule: { weight: 1 } },
  ],
  outcome: { event_type: 'Deal Won' },
  threshold: 20,
};
const drafted = () => ({
  ...draft,
  changes: draft.changes.map((change) => (change.op === 'change' ? { ...change, rule_id: ruleId } : change)),
});

test('a what-if ends once with the right result, although scoring is killed while it runs', async () => {
  const undisturbed = await start(drafted());
  expect(undisturbed.status).toBe(202);
  const { result: expected, kind, rate, eta } = await completed(undisturbed.body.job_id);
  expect({ kind, rate, eta }).toEqual({ kind: 'what-if', rate: expect.any(Number), eta: null });
  expect(expected).toMatchObject({ leads, overtaken: false });
  expect(expected?.draft.auc).toBeGreaterThan(expected?.live.auc ?? 1);
  expect(expected?.movers[0]?.why.map(({ label }) => label)).toEqual(['Forms', 'Views']);
  const scores = (await system.request('/leads?limit=50')).body;
  for (const moment of ['at once', 'after a step']) {
    const { body } = await start(drafted());
    if (moment === 'after a step')
      await eventually('a step is done', async () => (await jobOf(body.job_id)).done > 0);
    system.service('scoring').process.kill('SIGKILL');
    const { result } = await completed(body.job_id);
    expect(withoutRuleIds(result)).toEqual(withoutRuleIds(expected));
  }
  expect((await system.request('/leads?limit=50')).body).toEqual(scores);
}, 180_000);

describe('the statuses of a what-if', () => {
  test('400 for a form that makes no sense, with the place', async () => {
    const refused = await start({ changes: [{ op: 'add', rule: { event_type: 'A', weight: 0 } }] });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  test('404 for a rule or a ruleset that there is not', async () => {
    const unknown = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
    expect(await start({ changes: [{ op: 'remove', rule_id: unknown }] })).toMatchObject({
      status: 404,
      body: { code: 'rule_not_found' },
    });
    const rule = { event_type: 'A', weight: 1, ruleset_id: unknown };
    expect(await start({ changes: [{ op: 'add', rule }] })).toMatchObject({
      status: 404,
      body: { code: 'ruleset_not_found' },
    });
  });

  test('409 for levels that overlap', async () => {
    const level = (name: string) => ({ name, min_score: 0, max_score: 9, color: '#e8590c' });
    expect(await start({ changes: [], levels: [level('A'), level('B')] })).toMatchObject({
      status: 409,
      body: { code: 'levels_overlap' },
    });
  });

  test('409 with the id of the job that runs, for one of two that are started at once', async () => {
    const [one, other] = await Promise.all([start(drafted()), start(drafted())]);
    const [begun, refused] = one.status === 202 ? [one, other] : [other, one];
    expect(begun.status).toBe(202);
    expect(refused).toMatchObject({ status: 409, body: { code: 'job_running' } });
    expect(refused.body.detail).toContain(begun.body.job_id);
    await completed(begun.body.job_id);
  });

  test('the same Idempotency-Key gets the first answer again', async () => {
    const headers = { 'idempotency-key': 'what-if-1' };
    const first = await start({ changes: [] }, { headers });
    const again = await start({ changes: [] }, { headers });
    expect(again).toMatchObject({ status: 202, body: first.body });
    await completed(first.body.job_id);
  });
});

describe('the statuses of apply', () => {
  test('404 for a job that there is not', async () => {
    const unknown = 'scoring-0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
    expect(await apply(unknown)).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
  });

  test('409 for one without a result, 200 for a completed one, also when it comes again, and then 409 for an older one', async () => {
    const cancelled = await start(drafted());
    await system.request(`/jobs/${cancelled.body.job_id}/cancel`, { method: 'POST' });
    const { status } = await jobOf(cancelled.body.job_id);
    if (status === 'cancelled')
      expect(await apply(cancelled.body.job_id)).toMatchObject({
        status: 409,
        body: { code: 'job_not_completed' },
      });
    const older = await start({ changes: [{ op: 'change', rule_id: ruleId, rule: { weight: 9 } }] });
    await completed(older.body.job_id);
    const newer = await start(drafted());
    await completed(newer.body.job_id);
    const applied = await apply(newer.body.job_id);
    expect(applied).toMatchObject({ status: 200, body: { job_id: newer.body.job_id } });
    expect(await apply(newer.body.job_id)).toMatchObject({ status: 200, body: applied.body });
    expect(await apply(older.body.job_id)).toMatchObject({ status: 409, body: { code: 'rules_changed' } });
    expect((await jobOf(older.body.job_id)).result?.overtaken).toBe(true);
    const rule = await system.request<{ weight: number }>(`/rules/${ruleId}`);
    expect(rule.body.weight).toBe(1);
    const history = await system.request<{ data: { changed_by?: { kind: string } }[] }>(
      `/rules/${ruleId}/history`,
    );
    expect(history.body.data[0]?.changed_by?.kind).toBe('token');
  });
});

describe('the statuses of a suggestion', () => {
  const suggest = (body: object, options = {}) =>
    system.request<{ job_id: string; code?: string; detail?: string }>('/scoring/suggest', {
      body,
      ...options,
    });
  const form = { outcome: { event_type: 'Deal Won' }, dimension: 'engagement' };

  test('202, and its changes are taken by a what-if as they are', async () => {
    const { status, body } = await suggest(form);
    expect(status).toBe(202);
    const { result } = await completed(body.job_id);
    const { changes, held_out, learned_from } = result as unknown as routeDeclarations.SuggestionResult;
    expect(learned_from.leads + held_out.leads).toBe(leads);
    // Forms went with the outcome: every fourth lead sent more of them.
    expect(changes.length).toBeGreaterThan(0);
    expect(held_out.auc).toBeGreaterThan(0.6);
    const tried = await start({ changes, outcome: form.outcome });
    expect(tried.status).toBe(202);
    await completed(tried.body.job_id);
  });

  test('400 for a form without an outcome, 404 where no profile ruleset could take the rules', async () => {
    expect(await suggest({ dimension: 'engagement' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
    expect(await suggest({ ...form, dimension: 'profile' })).toMatchObject({
      status: 404,
      body: { code: 'ruleset_not_found' },
    });
  });

  test('409 with the id of the job that runs, for one of two that are started at once', async () => {
    const [one, other] = await Promise.all([suggest(form), suggest(form)]);
    const [begun, refused] = one.status === 202 ? [one, other] : [other, one];
    expect(begun.status).toBe(202);
    expect(refused).toMatchObject({ status: 409, body: { code: 'job_running' } });
    expect(refused.body.detail).toContain(begun.body.job_id);
    await completed(begun.body.job_id);
  });
});

const rescore = (path: string) =>
  system.request<{ job_id: string; code?: string; detail?: string; errors?: { path: string }[] }>(path, {
    method: 'POST',
  });
const ended = (id: string) =>
  eventually(
    'the rescoring has ended',
    async () => {
      const job = await jobOf(id);
      // While scoring is away, the answer is a problem.
      return ['completed', 'failed', 'cancelled'].includes(job.status) && job;
    },
    60_000,
  );

describe('a dry run of a rescoring', () => {
  const backfill = () => rescore('/backfill/scores?dry_run=true');

  test('202: it says who would rise and fall by the rules that were applied, also when scoring is killed, and moves nobody', async () => {
    const scores = (await system.request('/leads?limit=50')).body;
    const { status, body: begun } = await backfill();
    expect(status).toBe(202);
    const { result: expected, kind, rate, eta, done, total } = await ended(begun.job_id);
    expect({ kind, rate, eta, done }).toEqual({
      kind: 'rescoring',
      rate: expect.any(Number),
      eta: null,
      done: total,
    });
    // Each lead has five views, for 5 points each then and 1 now, and now 20 points for each form.
    const moves = Array.from({ length: leads }, (_, lead) => 20 * formsOf(lead) - 20);
    expect(expected).toMatchObject({
      dry_run: true,
      overtaken: false,
      leads,
      rising: moves.filter((move) => move > 0).length,
      falling: moves.filter((move) => move < 0).length,
      unchanged: moves.filter((move) => move === 0).length,
    });
    const { body: again } = await backfill();
    system.service('scoring').process.kill('SIGKILL');
    expect((await ended(again.job_id)).result).toEqual(expected);
    expect((await system.request('/leads?limit=50')).body).toEqual(scores);
  }, 120_000);

  test('202 for profiles, and for one ruleset of each dimension; 404 for one that is not of the dimension', async () => {
    const profiles = await rescore('/backfill/profiles?dry_run=true');
    expect(profiles.status).toBe(202);
    expect((await ended(profiles.body.job_id)).result).toMatchObject({ leads, unchanged: leads });
    const made = await system.request<{ id: string }>('/rulesets', {
      body: { name: 'Fit', score_type: 'profile' },
    });
    const of = (dimension: string) =>
      rescore(`/scoring/rulesets/${dimension}/${made.body.id.toUpperCase()}/score-now?dry_run=true`);
    expect(await of('engagement')).toMatchObject({ status: 404, body: { code: 'ruleset_not_found' } });
    const ruleset = await of('profile');
    expect(ruleset.status).toBe(202);
    await ended(ruleset.body.job_id);
  }, 60_000);

  test('400 for a query that makes no sense, and for a dimension that is not replayed', async () => {
    for (const path of ['dry_run', 'fire_triggers'])
      expect(await rescore(`/backfill/scores?${path}=perhaps`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', errors: [{ path: `query.${path}` }] },
      });
    const id = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
    expect(await rescore(`/scoring/rulesets/account/${id}/score-now?dry_run=true`)).toMatchObject({
      status: 400,
      body: { errors: [{ path: expect.stringContaining('dimension') }] },
    });
  });

  test('409 with the id of the job that runs, and cancelled it frees the unit for the next', async () => {
    const [one, other] = await Promise.all([backfill(), backfill()]);
    const [begun, refused] = one.status === 202 ? [one, other] : [other, one];
    expect(begun.status).toBe(202);
    expect(refused).toMatchObject({ status: 409, body: { code: 'job_running' } });
    expect(refused.body.detail).toContain(begun.body.job_id);
    await system.request(`/jobs/${begun.body.job_id}/cancel`, { method: 'POST' });
    const { status, result } = await ended(begun.body.job_id);
    if (status === 'cancelled') expect(result).toBeUndefined();
    const next = await backfill();
    expect(next.status).toBe(202);
    await ended(next.body.job_id);
  }, 60_000);
});

describe('a rescoring', () => {
  const idOf = (alias: string) => leadIdOf(system.ouId, 'email', alias);
  const idOfLead = (lead: number) => idOf(`lead${String(lead)}@example.com`);
  const scoresNow = async () => {
    const scores = new Map<string, number>();
    for (let page = 1; ; page += 1) {
      const { body } = await system.request<{ data: { id: string; score: number }[] }>(
        `/leads?limit=100&page=${String(page)}`,
      );
      for (const { id, score } of body.data) scores.set(id, score);
      if (body.data.length < 100) return scores;
    }
  };
  const explained = async (lead: number, query = '') =>
    (
      await system.request<routeDeclarations.ScoreExplanation>(
        `/lead/${idOfLead(lead)}/score-explain?range_hours=876000${query}`,
      )
    ).body;
  const firings = async (triggerId: string) =>
    (
      await system.request<{ data: { trigger_id: string }[] }>('/milestone-events?limit=100')
    ).body.data.filter(({ trigger_id }) => trigger_id === triggerId).length;

  test('brings into force what its dry run has said, although scoring is killed, with what happened meanwhile; no trigger fires unless asked', async () => {
    const trigger = await system.request<{ id: string }>('/triggers', {
      body: { name: 'Forms', score_threshold: 105 },
    });
    expect(trigger.status).toBe(201);
    const expected = (await ended((await rescore('/backfill/scores?dry_run=true')).body.job_id)).result;
    const before = await scoresNow();
    const asOf = new Date().toISOString();
    const { status, body: begun } = await rescore('/backfill/scores');
    expect(status).toBe(202);
    const refused = await rescore('/backfill/profiles');
    expect(refused).toMatchObject({ status: 409, body: { code: 'job_running' } });
    expect(refused.body.detail).toContain(begun.job_id);
    system.service('scoring').process.kill('SIGKILL');
    const meanwhile = ['lead0@example.com', 'late@example.com'].map((alias) => ({
      ...{ alias_kind: 'email', alias },
      event_type: 'Page View',
      timestamp: day(20),
    }));
    const sent = await system.request<{ position: string }>('/ingest', { body: meanwhile });
    const job = await ended(begun.job_id);
    expect(job.errors).toEqual([]);
    expect(job.result).toEqual({ ...expected, dry_run: false });
    await eventually('the late events are scored', async () => {
      const answer = await system.request(`/leads?limit=1&min_position=${sent.body.position}`);
      return answer.status === 200;
    });
    const after = await scoresNow();
    const scoreOf = (lead: number) => 5 + 20 * formsOf(lead) + (lead === 0 ? 1 : 0);
    for (let lead = 0; lead < leads; lead += 1) expect(after.get(idOfLead(lead))).toBe(scoreOf(lead));
    expect(after.size).toBe(leads + 1);
    expect(after.get(idOf('late@example.com'))).toBe(1);
    const now = await explained(2);
    expect(now).toMatchObject({
      score: scoreOf(2),
      unattributed: 0,
      rescored: { job_id: begun.job_id },
      top_drivers: [
        { label: 'Forms', total: 20 * formsOf(2) },
        { label: 'Views', count: 5, total: 5 },
      ],
    });
    expect(now.entries.every(({ replaced_by }) => replaced_by === begun.job_id)).toBe(true);
    const then = await explained(2, `&at=${asOf}`);
    expect(then).toMatchObject({ score: before.get(idOfLead(2)), unattributed: 0 });
    expect(then.rescored).toBeUndefined();
    // Share and notification follow: the shared explanation says the same, and nothing has fired.
    expect(await firings(trigger.body.id)).toBe(0);
    const again = (await ended((await rescore('/backfill/scores')).body.job_id)).result;
    expect(again).toMatchObject({ rising: 0, falling: 0, unchanged: leads + 1 });
    expect(await scoresNow()).toEqual(after);
  }, 180_000);

  test('with fire_triggers lets triggers fire; cancelled it changes nothing', async () => {
    await system.request(`/rules/${ruleId}`, { method: 'PATCH', body: { weight: 90 } });
    const before = await scoresNow();
    const { body: dropped } = await rescore('/backfill/scores?fire_triggers=true');
    await system.request(`/jobs/${dropped.job_id}/cancel`, { method: 'POST' });
    const { status, done, total } = await ended(dropped.job_id);
    if (status === 'cancelled' && done < (total ?? 0)) expect(await scoresNow()).toEqual(before);
    const { body: begun } = await rescore('/backfill/scores?fire_triggers=true');
    await ended(begun.job_id);
    const after = await scoresNow();
    expect(after.get(idOfLead(2))).toBe(5 * 90 + 20 * formsOf(2));
    await eventually(
      'milestones have fired',
      async () =>
        (await system.request<{ data: object[] }>('/milestone-events?limit=100')).body.data.length > 0,
    );
  }, 120_000);
});

describe('on the command line', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lead-scoring-what-if-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const command = (...words: string[]) => runCommand(system, words, { directory });
  const configurationVersion = async () =>
    Number((await system.request('/scoring/configuration')).headers.get('etag')?.replaceAll('"', ''));

  test('the file that suggest writes is what what-if takes, and what-if apply makes it live', async () => {
    const draftFile = join(directory, 'draft.yaml');
    const suggested = await command('suggest', '--outcome', 'Deal Won', '--out', draftFile);
    expect(suggested).toMatchObject({ exitCode: exitCodes.done, noted: expect.stringContaining(draftFile) });
    // Rules that there are, are named by their labels.
    expect(suggested.written).toMatch(/^(?:change|switch off) .*(?:Forms|Views)/m);
    expect(suggested.written).toMatch(/AUC of the suggestion: 0\.\d{3} \(0\.\d{3} to [01]\.\d{3}\)/);
    expect(await readFile(draftFile, 'utf8')).toMatch(/^score_type: engagement$/m);
    const tried = await command('what-if', draftFile);
    expect(tried.exitCode).toBe(exitCodes.done);
    expect(tried.written).toContain(`Of ${String(leads + 1)} leads`);
    expect(tried.written).toMatch(/^AUC \(95 % interval\) +\d\.\d{3} \(.* +\d\.\d{3} \(/m);
    const before = await configurationVersion();
    const [, job = ''] = /what-if apply (\S+)/.exec(tried.noted) ?? [];
    const applied = await command('what-if', 'apply', job);
    expect(applied.exitCode).toBe(exitCodes.done);
    const version = await configurationVersion();
    expect(version).toBeGreaterThan(before);
    expect(applied.written).toContain(`has version ${String(version)}.`);
  }, 120_000);
});
