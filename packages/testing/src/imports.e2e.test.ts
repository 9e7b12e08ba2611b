// A large upload of historical events through the gateway, while the services that take part in it are killed: sent again under the same
// Idempotency-Key, it counts every event once.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { leadIdOf, type routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { startTestSystem, upToScoring, type TestSystem } from './test-system.js';

let system: TestSystem;

const leads = 50;
const visits = 600;
const points = 3;
const aliasOf = (lead: number) => `past${String(lead)}@example.com`;
const startOf2026 = Date.UTC(2026, 0, 1);
/** Lines of NDJSON with a visit of each lead; the events have no ids of their own. */
const parts = Array.from({ length: visits }, (_, visit) =>
  Array.from(
    { length: leads },
    (_unused, lead) =>
      `${JSON.stringify({
        alias_kind: 'email',
        alias: aliasOf(lead),
        event_type: 'Past Visit',
        timestamp: new Date(startOf2026 + visit * 3_600_000).toISOString(),
        metadata: { path: `/${String(visit % 7)}` },
      })}\n`,
  ).join(''),
);

beforeAll(async () => {
  system = await startTestSystem({ instances: upToScoring });
  const rule = await system.request('/engagement-scoring/rules', {
    body: { event_type: 'Past Visit', weight: points, label: 'Past visits' },
  });
  expect(rule.status).toBe(201);
}, 120_000);
afterAll(() => system.stop(), 60_000);

interface Answer {
  status: number;
  body: { job_id: string; accepted: number; position: string };
}

/** @param before called before each part is sent */
async function upload(before: (part: number) => Promise<void>): Promise<Answer> {
  const body = new ReadableStream<Uint8Array>({
    async start(stream) {
      for (const [number, part] of parts.entries()) {
        await before(number);
        stream.enqueue(Buffer.from(part));
      }
      stream.close();
    },
  });
  const response = await fetch(`${system.url}/import?partial=true`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${system.token}`,
      'content-type': 'application/x-ndjson',
      'idempotency-key': 'past-visits',
    },
    body,
    duplex: 'half',
    signal: AbortSignal.timeout(120_000),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** The gateway ends an upload of which nothing comes for ten seconds. */
const mayPauseMs = 5_000;

/** Kills the service in the middle of its work, and waits for its successor, for no longer than an upload may pause. */
async function kill(service: 'gateway' | 'ingest' | 'scoring'): Promise<void> {
  system.service(service).process.kill('SIGKILL');
  const answers = () =>
    system.request('/leads?limit=1', { timeoutMs: 1_000 }).then(
      ({ status }) => status === 200,
      () => false,
    );
  for (const until = Date.now() + mayPauseMs; Date.now() < until && !(await answers());) await delay(100);
}

test('an upload that breaks off because its services are killed counts every event once when it is sent again', async () => {
  const killsBefore = new Map<number, () => Promise<void>>([
    [100, () => kill('scoring')],
    [200, () => kill('ingest')],
    [300, () => kill('gateway')],
  ]);
  const broken = upload(async (part) => killsBefore.get(part)?.());
  await expect(broken).rejects.toThrow();
  await eventually('the gateway answers again', async () => (await system.request('/jobs')).status === 200);

  const again = await upload(async (part) => (part === 400 ? kill('scoring') : undefined));
  expect(again).toMatchObject({ status: 202, body: { accepted: leads * visits } });
  const repeated = await upload(() => Promise.resolve());
  expect(repeated).toMatchObject({ status: 202, body: { accepted: leads * visits } });

  await eventually(
    'every event is scored',
    async () => {
      const { status } = await system.request(`/leads?limit=1&min_position=${again.body.position}`);
      return status === 200;
    },
    120_000,
  );
  for (let lead = 0; lead < leads; lead += 1) {
    const id = leadIdOf(system.ouId, 'email', aliasOf(lead));
    const { body } = await system.request<{ score: number }>(`/score/${id}`);
    expect([aliasOf(lead), body.score]).toEqual([aliasOf(lead), visits * points]);
  }
  expect((await system.request('/events?event_type=Past+Visit&limit=1')).body).toMatchObject({
    total: leads * visits,
  });
  const job = await eventually('the job has ended', async () => {
    const { body } = await system.request<routeDeclarations.Job>(`/jobs/${repeated.body.job_id}`);
    return body.status !== 'running' && body;
  });
  expect(job).toMatchObject({ kind: 'import', status: 'completed', done: leads * visits });
}, 300_000);
