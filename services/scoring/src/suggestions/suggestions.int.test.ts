// Suggestions on real servers: a job learns rules from the recorded history, a what-if takes them as they are and says the same of the
// leads, and no live score moves.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records, type routeDeclarations } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/testing/service-rig';
import { leads as leadCollection } from '../leads/documents.js';
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
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
let stopProcessor: () => Promise<void>;
const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString();
const now = new Date(day(60));
const leads = 600;
const nameOf = (index: number) => `lead ${String(index)}`;

/** Chiefs and those who saw a demo win more often; who unsubscribed did so after winning. */
function historyOf(index: number): records.EventsIngested {
  const [sawDemo, isChief] = [index % 2 === 0, index % 3 === 0];
  const chances = [7, 4, 4, 2][Number(sawDemo) + 2 * Number(isChief)] ?? 7;
  const won = Math.floor(index / 6) % chances === 0;
  const event = (event_type: string, at: number, metadata = {}) => ({
    id: idOf(`${nameOf(index)} ${event_type} ${String(at)}`),
    event_type,
    timestamp: day(at),
    metadata,
  });
  return ingested(
    nameOf(index),
    [
      event('Page View', 1, { title: isChief ? 'Chief' : 'Clerk', session: `session ${String(index)}` }),
      ...(sawDemo ? [event('Demo', 2)] : []),
      ...(won ? [event('Deal Won', 5), event('Unsubscribe', 6)] : []),
    ],
    { received_at: day(10) },
  );
}

beforeAll(async () => {
  rig = await startRig({ partitions: 3, processors: 0, now: () => now });
  stopProcessor = await rig.startProcessor();
  const base = { requested_at: day(0) };
  for (const command of [
    createRule('view', { weight: 7, cap_points: 50, ...base }),
    createRuleset('Fit', { score_type: 'profile', ...base }),
    addMapping('title', 'title', 'metadata.title'),
    createProfileRule('clerk', [{ field: 'title', operator: 'equals', value: 'Clerk' }], base),
  ])
    expect(await rig.request(command)).toMatchObject({ outcome: 'done' });
  await rig.score(Array.from({ length: leads }, (_, index) => historyOf(index)));
  await rig.score([deleted(nameOf(599), { deleted_at: day(11) })]);
}, 120_000);
afterAll(() => rig.stop(), 90_000);

let jobs = 0;
const asked = (more: Partial<records.StartSuggestion> = {}): records.StartSuggestion => ({
  ou_id: ouId,
  job_id: idOf(`suggestion ${String((jobs += 1))}`),
  outcome: { event_type: 'deal_won' },
  dimension: 'engagement',
  requested_at: now.toISOString(),
  ...more,
});
const startOf = (payload: records.StartSuggestion) =>
  rig.ask(outgoing(records.startSuggestion, { key: payload.ou_id, payload }));

async function resultOf<Result>(id: string): Promise<Result> {
  const { result } = await eventually('the job is completed', async () => {
    const { body } = (await rig.get(`/jobs/scoring-${id}`)) as unknown as { body: routeDeclarations.Job };
    if (body.status === 'failed') throw new Error(JSON.stringify(body.errors));
    return body.status === 'completed' && body;
  });
  return result as Result;
}

async function suggested(more: Partial<records.StartSuggestion> = {}) {
  const start = asked(more);
  expect(await startOf(start)).toEqual({ outcome: 'done', result: { job_id: `scoring-${start.job_id}` } });
  return resultOf<routeDeclarations.SuggestionResult>(start.job_id);
}

async function tried(
  changes: records.DraftChange[],
  score_type: 'engagement' | 'profile',
): Promise<routeDeclarations.WhatIfResult> {
  const payload: records.StartWhatIf = {
    ou_id: ouId,
    job_id: idOf(`try ${String((jobs += 1))}`),
    changes,
    score_type,
    outcome: { event_type: 'Deal Won' },
    requested_at: now.toISOString(),
  };
  expect(await rig.ask(outgoing(records.startWhatIf, { key: ouId, payload }))).toMatchObject({
    outcome: 'done',
  });
  return resultOf(payload.job_id);
}

test('what leads did before the outcome makes rules that tell held out leads apart, and no live score moves', async () => {
  const before = await rig.documents([leadCollection]);
  const result = await suggested();
  const added = result.changes.flatMap((change) => (change.op === 'add' ? [change.rule] : []));
  expect(added).toContainEqual(expect.objectContaining({ event_type: 'Demo', max_count: 1, label: 'Demo' }));
  const types = added.map((rule) => ('event_type' in rule ? rule.event_type : ''));
  expect(types).not.toContain('Deal Won');
  expect(types).not.toContain('Unsubscribe');
  expect(JSON.stringify(result)).not.toContain('session');
  // Everybody viewed a page, so that nothing can be said of the rule about it: it stays as it is.
  expect(result.changes.every(({ op }) => op === 'add')).toBe(true);
  expect(result.support).toHaveLength(result.changes.length);
  const { learned_from, held_out } = result;
  expect(learned_from.leads + held_out.leads).toBe(leads - 1);
  expect(held_out.leads).toBeGreaterThan(leads / 6);
  expect(held_out.live.auc).toBe(0.5);
  expect(held_out.auc).toBeGreaterThan(0.55);
  expect(held_out.auc_interval).not.toBeNull();
  for (const { with: having, without } of result.support)
    expect(having.leads + without.leads).toBe(learned_from.leads);
  expect(await rig.documents([leadCollection])).toEqual(before);
  expect(result.overtaken).toBe(false);
  const whatIf = await tried(result.changes, 'engagement');
  expect(whatIf.draft.auc).toBeGreaterThan(0.55);
}, 120_000);

test('profiles as they were make conditions of profile rules, and a rule that there is gets another weight', async () => {
  const { changes, held_out } = await suggested({ dimension: 'profile' });
  const [change] = changes;
  expect(changes[0]).toMatchObject({ op: 'change', rule_id: idOf('clerk') });
  expect(change?.op === 'change' && Number(change.rule.weight)).toBeLessThan(0);
  expect(held_out.auc).toBeGreaterThan(0.55);
  // The live rule has clerks on top.
  expect(held_out.live.auc).toBeLessThan(0.45);
  expect((await tried(changes, 'profile')).draft.auc).toBeGreaterThan(0.55);
}, 120_000);

test('an outcome that nobody had, and a range in which nothing happened, suggest nothing', async () => {
  const nothing = { changes: [], support: [], held_out: { auc: null, auc_interval: null } };
  expect(await suggested({ outcome: { event_type: 'Other' } })).toMatchObject(nothing);
  expect(await suggested({ from: day(40) })).toMatchObject({ ...nothing, learned_from: { leads: 0 } });
}, 120_000);

test('one runs at a time in an OU, and ends once with the same result when its owner goes', async () => {
  const alone = await suggested();
  const start = asked();
  await startOf(start);
  const second = await startOf(asked());
  await stopProcessor();
  const { body: left } = await rig.get(`/jobs/scoring-${start.job_id}`);
  stopProcessor = await rig.startProcessor();
  const result = await resultOf<routeDeclarations.SuggestionResult>(start.job_id);
  if (left.status === 'running')
    expect(second).toMatchObject({
      outcome: 'rejected',
      code: 'job_running',
      message: expect.stringContaining(`scoring-${start.job_id}`),
    });
  expect(result).toEqual(alone);
}, 120_000);

test('about profiles is refused where no profile ruleset could take the rules, and another OU has nothing to learn from', async () => {
  expect(await startOf(asked({ ou_id: otherOuId, dimension: 'profile' }))).toMatchObject({
    outcome: 'rejected',
    code: 'ruleset_not_found',
  });
  const start = asked({ ou_id: otherOuId });
  expect(await startOf(start)).toMatchObject({ outcome: 'done' });
  const { body } = await eventually('the job is completed', async () => {
    const answer = await rig.get(`/jobs/scoring-${start.job_id}`, { ou: otherOuId });
    return answer.body.status === 'completed' && answer;
  });
  expect(body).toMatchObject({ result: { changes: [], learned_from: { leads: 0, won: 0 } } });
}, 120_000);
