// All events of a type are deleted while ingest and scoring are killed: the deletion ends as its dry run said, another organizational unit
// keeps its events, and neither a rebuild nor a repeat brings an event back. `npm run test:chaos` kills them twenty times.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { leadIdOf } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import { killService } from './kill-service.js';
import { rebuild } from './rebuild.js';
import { startTestSystem, upToScoring, type TestSystem } from './test-system.js';

const { leads, seconds, kills } = isFullSize
  ? { leads: 2_000, seconds: 20_000, kills: 20 }
  : { leads: 150, seconds: 2_400, kills: 3 };
const seed = Number(process.env['SEED'] ?? 20_261_130);
const random = seededRandom(seed);

const deleted = 'Brochure Download';
const kept = 'Page View';
/** Points of an event. */
const points: Readonly<Record<string, number>> = { [deleted]: 7, [kept]: 2 };
const eventsPerRequest = 1_000;
/** The first event's time; each further one is a second later, because a step of the deletion takes some hundred seconds. */
const begin = Date.now() - seconds * 1_000 - 3_600_000;

/** Each second has an event of the type that is deleted; every fourth has one of the other type as well. */
const sent = Array.from({ length: seconds }, (_, second) =>
  (second % 4 === 0 ? [deleted, kept] : [deleted]).map((event_type) => ({
    alias_kind: 'email',
    alias: `lead-${String(second % leads)}@deletion.example`,
    event_type,
    event_id: `${event_type} ${String(second)}`,
    timestamp: new Date(begin + second * 1_000).toISOString(),
  })),
).flat();
const countOf = (type: string) => sent.filter(({ event_type }) => event_type === type).length;

let system: TestSystem;
let otherUnit: string;
/** The rule for the events that are deleted. */
let rule: string;

beforeAll(async () => {
  system = await startTestSystem({ instances: upToScoring });
  otherUnit = (await asked<{ id: string }>('/org-units', { body: { name: 'Other' } }, 201)).id;
  for (const unit of [otherUnit, system.ouId]) {
    for (const [event_type, weight] of Object.entries(points)) {
      const body = { event_type, weight };
      const { id } = await asked<{ id: string }>('/engagement-scoring/rules', { unit, body }, 201);
      if (event_type === deleted) rule = id;
    }
    for (let from = 0; from < sent.length; from += eventsPerRequest)
      await post(unit, sent.slice(from, from + eventsPerRequest));
  }
}, 300_000);
afterAll(() => system.stop(), 60_000);

async function asked<Body>(
  path: string,
  { unit = system.ouId, ...options }: { unit?: string; body?: unknown; method?: string } = {},
  expected = 200,
): Promise<Body> {
  const { status, body } = await system.request<Body>(path, { ...options, headers: { 'x-ou-id': unit } });
  expect({ path, status, body }).toMatchObject({ status: expected });
  return body;
}

/** Resolves once the events are scored. */
async function post(unit: string, events: readonly object[]): Promise<void> {
  const { position } = await asked<{ position: string }>('/ingest', { unit, body: events }, 202);
  for (const list of ['leads', 'events']) await asked(`/${list}?limit=1&min_position=${position}`, { unit });
}

/** The scores of the leads, in their order. */
async function scores(unit: string): Promise<(number | undefined)[]> {
  const found = new Map<string, number>();
  for (let page = 1; found.size === (page - 1) * 100; page += 1) {
    const path = `/leads?limit=100&page=${String(page)}`;
    const { data } = await asked<{ data: { id: string; score: number }[] }>(path, { unit });
    for (const { id, score } of data) found.set(id, score);
  }
  return Array.from({ length: leads }, (_, lead) =>
    found.get(leadIdOf(unit, 'email', `lead-${String(lead)}@deletion.example`)),
  );
}

function expectedScores(types: readonly string[]): number[] {
  const expected = new Map<string, number>();
  for (const { alias, event_type } of sent)
    expected.set(
      alias,
      (expected.get(alias) ?? 0) + (types.includes(event_type) ? (points[event_type] ?? 0) : 0),
    );
  return [...expected.values()];
}

async function counted(unit: string, type: string): Promise<number> {
  const path = `/events?limit=1&event_type=${encodeURIComponent(type)}`;
  return (await asked<{ total: number }>(path, { unit })).total;
}

/** Compares the events and scores of both units with those after the deletion of the type in one of them. */
async function expectDeleted(): Promise<void> {
  expect(await counted(system.ouId, deleted)).toBe(0);
  expect(await counted(system.ouId, kept)).toBe(countOf(kept));
  expect(await scores(system.ouId)).toEqual(expectedScores([kept]));
  const lead = leadIdOf(system.ouId, 'email', sent[0]?.alias ?? '');
  const explained = await asked<object>(`/lead/${lead}/score-explain?range_hours=876000`);
  expect(explained).toMatchObject({ unattributed: 0 });
  expect(JSON.stringify(explained)).not.toContain(deleted);
  expect(await counted(otherUnit, deleted)).toBe(countOf(deleted));
  expect(await scores(otherUnit)).toEqual(expectedScores([deleted, kept]));
}

interface DeletionJob {
  id: string;
  kind: string;
  status: string;
  result?: object;
}

/** The job of the deletion; undefined while ingest does not answer. */
async function job(): Promise<DeletionJob | undefined> {
  const { status, body } = await system.request<{ data: DeletionJob[] }>('/jobs?limit=100');
  return status === 200 ? body.data.find(({ kind }) => kind === 'event-deletion') : undefined;
}

const path = `/settings/ou/event-types/${encodeURIComponent(deleted)}`;

test(`a deletion whose services are killed ${String(kills)} times (seed ${String(seed)}) ends as its dry run said`, async () => {
  expect(await scores(system.ouId)).toEqual(expectedScores([deleted, kept]));
  await asked(`/rules/${rule}`, { method: 'DELETE' }, 204);
  const dryRun = await asked(`${path}/dry-run-delete`);
  expect(dryRun).toEqual({ events_count: countOf(deleted), event_scores_count: countOf(deleted) });
  await eventually('no rule protects the type', async () => {
    const types = await asked<{ name: string; deletable: boolean }[]>('/settings/ou/event-types');
    return types.find(({ name }) => name === deleted)?.deletable;
  });

  const answered = system.request(`${path}/events`, { method: 'DELETE' }).catch(() => undefined);
  await eventually('the deletion runs', async () => (await job())?.status === 'running', 30_000, 20);
  // The job waits for scoring, so that it runs at these two kills.
  await Promise.all([
    killService(system, 'scoring'),
    delay(random.between(0, 200)).then(() => killService(system, 'ingest')),
  ]);
  for (let number = 2; number < kills; number += 1) {
    await delay(random.between(0, 1_500));
    await killService(system, random.pick(['ingest', 'scoring'] as const));
  }
  await answered;
  const { id } = await eventually(
    'the deletion has ended',
    async () => {
      const found = await job();
      return found && found.status !== 'running' && found;
    },
    120_000,
  );
  expect(await asked(`/jobs/${id}`)).toMatchObject({
    status: 'completed',
    result: {
      events_deleted: countOf(deleted),
      event_scores_deleted: countOf(deleted),
      leads_affected: leads,
    },
  });
  await expectDeleted();
}, 300_000);

test('a rebuild of both services brings nothing back', async () => {
  await rebuild(system, ['ingest', 'scoring'], 180_000);
  await expectDeleted();
}, 300_000);

test('an event that was deleted stays a repeat, and a new one counts', async () => {
  const again = sent.filter(({ event_type }) => event_type === deleted).slice(0, 3);
  await post(system.ouId, again);
  await expectDeleted();
  await post(system.ouId, [{ ...again[0], event_id: 'new' }]);
  expect(await counted(system.ouId, deleted)).toBe(1);
}, 60_000);
