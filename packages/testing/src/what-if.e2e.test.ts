// Tests what-ifs, suggestions, rescorings, deletions of events and challengers through the gateway: each status that a route declares is answered,
// and each job ends once with the right result although the test kills its service.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exitCodes } from '@lead-scoring/cli';
import { leadIdOf, type routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { runCommand } from './command-line.js';
import { isFullSize } from './full-size.js';
import { rebuild } from './rebuild.js';
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

test('triggers fire in a what-if as often as their simulations say by the live rules, and by the draft as its points say', async () => {
  const channel = await system.request<{ id: string }>('/notification-channels', {
    body: {
      name: 'What if',
      type: 'slack',
      config: { channel_id: 'C0000000001', channel_name: 'What if' },
    },
  });
  const common = { channel_ids: [channel.body.id] };
  const create = async (path: string, body: object) => {
    const created = await system.request<{ id: string }>(path, { body: { ...common, ...body } });
    expect(created.status).toBe(201);
    return { path, id: created.body.id };
  };
  const triggers = [
    await create('/triggers', { name: 'Twenty', score_threshold: 20, score_type: 'engagement' }),
    await create('/surge-triggers', {
      ...{ name: 'Ten in three days', threshold: 10, score_type: 'engagement' },
      ...{ window_seconds: 3 * 24 * 3_600, cooldown_seconds: 0, event_type: null },
    }),
    await create('/sequences', {
      ...{ name: 'Form, then won', ordered: true, event_types: ['Form Submit', 'Deal Won'] },
      ...{ window_seconds: 20 * 24 * 3_600, cooldown_seconds: 0 },
    }),
  ];
  const range = { from: day(-1), to: day(20) };
  const simulated = await Promise.all(
    triggers.map(async ({ path, id }) => {
      const { body } = await system.request<{ total: number; truncated: boolean }>(`${path}/${id}/simulate`, {
        body: range,
      });
      expect(body.truncated).toBe(false);
      return [id, body.total] as const;
    }),
  );
  expect(Math.min(...simulated.map(([, total]) => total))).toBeGreaterThan(0);
  const result = await eventually(
    'scoring knows the triggers',
    async () => {
      const { body } = await start(drafted());
      const { result: found } = await completed(body.job_id);
      return found?.triggers.length === triggers.length && found;
    },
    60_000,
  );
  expect(new Map(result.triggers.map(({ id, live }) => [id, live]))).toEqual(new Map(simulated));
  // By the draft a view gives one point and a form twenty: the first form of a lead takes it to twenty.
  const [twenty] = triggers;
  const crossing = Array.from({ length: leads }, (_, lead) => formsOf(lead)).filter((forms) => forms > 0);
  expect(result.triggers.find(({ id }) => id === twenty?.id)).toMatchObject({
    name: 'Twenty',
    kind: 'milestone',
    draft: crossing.length,
  });
  for (const { path, id } of triggers) await system.request(`${path}/${id}`, { method: 'DELETE' });
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

describe('the deletion of the events of a type', () => {
  const guests = 60;
  const guest = (number: number) => `guest${String(number)}@example.com`;
  const idOf = (number: number) => leadIdOf(system.ouId, 'email', guest(number));
  const path = (type: string) => `/settings/ou/event-types/${encodeURIComponent(type)}`;
  /** Two events of the type of each guest, in one spelling each, and one of another. */
  const eventsOf = (type: string, part: string) =>
    Array.from({ length: guests }, (_, number) =>
      [type, type.toLowerCase().replaceAll(' ', '_'), 'Deletion Stays'].map((event_type, index) => ({
        alias_kind: 'email',
        alias: guest(number),
        event_type,
        event_id: `${part} ${String(number)} ${String(index)}`,
        timestamp: day(10 + number),
        metadata: { name: `Guest ${String(number)}`, topic: part },
      })),
    ).flat();
  const take = async (events: object[]) => {
    const { body } = await system.request<{ position: string }>('/ingest', { body: events });
    await eventually('the events are scored', async () => {
      const read = await system.request(`/leads?limit=1&min_position=${body.position}`);
      return read.status === 200;
    });
    return body.position;
  };
  const ruleFor = async (event_type: string) =>
    (
      await system.request<{ id: string }>('/engagement-scoring/rules', {
        body: { event_type, weight: 7, label: `Points of ${event_type}` },
      })
    ).body.id;
  /** Takes the rule away; its points stay given, and the type may be deleted. */
  const removeRule = async (ruleId: string, type: string) => {
    await system.request(`/rules/${ruleId}`, { method: 'DELETE' });
    await eventually('no rule uses the type', async () => {
      const { body } =
        await system.request<routeDeclarations.EventTypeSettings[]>('/settings/ou/event-types');
      return body.find(({ name }) => name === type)?.deletable === true;
    });
  };
  const remove = (type: string, options = {}) =>
    system.request<
      routeDeclarations.Job & { code?: string; detail?: string; errors?: { message: string }[] }
    >(`${path(type)}/events`, { method: 'DELETE', ...options });
  const read = async <Body>(path: string) => {
    const { status, body } = await system.request<Body>(path);
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const scores = async () =>
    Promise.all(
      [0, 1, 59].map(async (number) => (await read<{ score: number }>(`/score/${idOf(number)}`)).score),
    );

  /** No read of any service has the events of a type. */
  async function expectNothingOf(type: string): Promise<void> {
    const named = encodeURIComponent(type);
    expect(await read(`/events?event_type=${named}`)).toMatchObject({ total: 0, data: [] });
    expect(await read(`/events?event_type=${named}&from=${day(0)}&to=${day(200)}`)).toMatchObject({
      total: 0,
    });
    expect(await read<string[]>('/event-types')).not.toContain(type);
    const stats = await read<routeDeclarations.EventStats>('/event-stats');
    expect(stats.event_types?.map(({ event_type }) => event_type)).not.toContain(type);
    const series = await read<{ total: number }>(
      `/events-analytics?event_type=${named}&granularity=month&from=${day(0)}&to=${day(200)}`,
    );
    expect(series.total).toBe(0);
    const ofLead = await read<{ data: { event_type: string }[] }>(`/events/${idOf(0)}?limit=100`);
    expect(ofLead.data.map(({ event_type }) => event_type)).not.toContain(type);
    const csv = await read<string>(`/events/export?event_type=${named}`);
    expect(csv.trim().split('\n')).toHaveLength(1);
    expect(await read(`${path(type)}/dry-run-delete`)).toEqual({ events_count: 0, event_scores_count: 0 });
    const explained = await read<routeDeclarations.ScoreExplanation>(
      `/lead/${idOf(0)}/score-explain?range_hours=876000`,
    );
    expect(explained.unattributed).toBe(0);
    expect(explained.entries.map(({ event_type }) => event_type)).not.toContain(type);
    expect(explained.top_drivers.map(({ event_type }) => event_type)).not.toContain(type);
  }

  test('is refused while a rule uses the type; then no read has the events, points are taken back, leads stay, and later events count', async () => {
    await ruleFor('Deletion Stays');
    await take(eventsOf('Other Webinar', 'before'));
    const before = await scores();
    const leadsBefore = (await read<{ total: number }>('/leads?limit=1')).total;
    const ruleId = await ruleFor('Webinar');
    const events = eventsOf('Webinar', 'webinar').filter(({ event_type }) => event_type !== 'Deletion Stays');
    await take(events);
    expect(await scores()).toEqual(before.map((score) => score + 14));
    const refused = await remove('webinar');
    expect(refused).toMatchObject({ status: 409, body: { code: 'event_type_protected' } });
    expect(refused.body.detail).toContain(ruleId);
    expect(refused.body.errors).toEqual([{ path: 'rules', message: ruleId }]);
    const shared = await read<{ data: object[] }>('/leads?limit=1');
    expect(shared.data).toHaveLength(1);
    const share = await system.request<{ token: string }>(`/leads/${idOf(0)}/share-explain`, {
      method: 'POST',
    });
    await removeRule(ruleId, 'Webinar');
    expect(await read(`${path('Webinar')}/dry-run-delete`)).toEqual({
      events_count: 2 * guests,
      event_scores_count: 2 * guests,
    });
    expect(await remove('Webinar')).toMatchObject({
      status: 200,
      body: {
        event_type: 'Webinar',
        events_deleted: 2 * guests,
        event_scores_deleted: 2 * guests,
        leads_affected: guests,
      },
    });
    await expectNothingOf('Webinar');
    expect(await scores()).toEqual(before);
    expect((await read<{ total: number }>('/leads?limit=1')).total).toBe(leadsBefore);
    const page = await read<routeDeclarations.PublicScoreExplanation>(
      `/public/score-explain/${share.body.token}`,
    );
    expect(page).toMatchObject({ lead_name: 'Guest 0', score: before[0] });
    expect(page.top_drivers.map(({ event_type }) => event_type)).not.toContain('Webinar');
    // The same event_id stays a repeat, and a new event counts.
    await take([...events, { ...events[0], event_id: 'new' }]);
    expect(await read('/events?event_type=Webinar')).toMatchObject({ total: 1 });
    expect(await remove('Webinar')).toMatchObject({
      status: 200,
      body: { events_deleted: 1, event_scores_deleted: 0, leads_affected: 0 },
    });
  }, 120_000);

  test('is done once and whole, although ingest and scoring are killed meanwhile, and rebuilt afterwards', async () => {
    await take(eventsOf('Yet Another', 'kept'));
    const before = await scores();
    const ruleId = await ruleFor('Trade Fair');
    await take(eventsOf('Trade Fair', 'fair').filter(({ event_type }) => event_type !== 'Deletion Stays'));
    await removeRule(ruleId, 'Trade Fair');
    const deleting = remove('Trade Fair', {
      headers: { 'Idempotency-Key': 'fair' },
      timeoutMs: 60_000,
    }).catch(() => null);
    for (const service of ['ingest', 'scoring', 'ingest'] as const) {
      system.service(service).process.kill('SIGKILL');
      await eventually(
        'it answers again',
        async () => (await system.request('/leads?limit=1')).status === 200,
      );
    }
    await deleting;
    await eventually('the deletion has ended', async () => {
      const jobs = await system.request<{ data: { kind: string; status: string }[] }>('/jobs?limit=100');
      const deletions =
        jobs.status === 200 ? jobs.body.data.filter(({ kind }) => kind === 'event-deletion') : [];
      return deletions.length === 3 && deletions.every(({ status }) => status === 'completed');
    });
    const again = await remove('Trade Fair', { headers: { 'Idempotency-Key': 'fair' } });
    if (again.status === 200)
      expect(again.body).toMatchObject({ events_deleted: 2 * guests, leads_affected: guests });
    await expectNothingOf('Trade Fair');
    expect(await scores()).toEqual(before);
    await rebuild(system, ['ingest', 'scoring'], 180_000);
    await expectNothingOf('Trade Fair');
    await expectNothingOf('Webinar');
    expect(await scores()).toEqual(before);
  }, 300_000);
});

test('the figures of a challenger are those of a what-if of the same time, although scoring is killed while they grow', async () => {
  const form = { ...drafted(), outcome: { event_type: 'Deal Won' } };
  const begun = new Date().toISOString();
  const started = await system.request<{ id: string }>('/scoring/challengers', {
    body: { name: 'Forms', ...form },
  });
  expect(started.status).toBe(201);
  const shown = async () => {
    const { status, body } = await system.request<routeDeclarations.ChallengerFigures>(
      `/scoring/challengers/${started.body.id}`,
    );
    return status === 200 ? body : null;
  };
  const guests = 30;
  for (const part of [0, 1, 2]) {
    const timestamp = new Date().toISOString();
    const { body } = await system.request<{ position: string }>('/ingest', {
      body: Array.from({ length: guests }, (_, number) =>
        [
          'Page View',
          ...(number % 2 === part % 2 ? ['Form Submit'] : []),
          ...(part === 2 && number % 3 === 0 ? ['Deal Won'] : []),
        ].map((event_type) => ({
          alias_kind: 'email',
          alias: `challenged${String(number)}@example.com`,
          event_type,
          timestamp,
        })),
      ).flat(),
    });
    if (isFullSize || part === 1) system.service('scoring').process.kill('SIGKILL');
    await eventually(
      'the events are scored',
      async () => (await system.request(`/leads?limit=1&min_position=${body.position}`)).status === 200,
      60_000,
    );
  }
  const all = new Date().toISOString();
  const { figures } = await eventually(
    'the figures have everything',
    async () => {
      const body = await shown();
      return (body?.as_of ?? '') > all && body;
    },
    60_000,
  );
  const { body } = await start({ ...form, from: begun });
  const { result } = await completed(body.job_id);
  expect(result).toMatchObject({ leads: guests });
  expect(withoutRuleIds(figures ?? undefined)).toEqual(withoutRuleIds(result));
  expect((await system.request(`/scoring/challengers/${started.body.id}`, { method: 'DELETE' })).status).toBe(
    204,
  );
}, 240_000);
