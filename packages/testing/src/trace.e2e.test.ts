// One trace from the HTTP request through the log to the decision.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { leadIdOf } from '@lead-scoring/contracts';
import { readTopic, type TopicRecord } from './public-topics.js';
import { startTestSystem, type TestSystem } from './test-system.js';

let system: TestSystem;

beforeAll(async () => {
  system = await startTestSystem();
}, 120_000);

afterAll(() => system.stop(), 60_000);

test('a sender’s trace continues through ingest.commands, ingest.events and scoring.events', async () => {
  const traces = Array.from({ length: 3 }, (_, n) => ({
    id: randomBytes(16).toString('hex'),
    alias: `trace-${n}@example.com`,
  }));
  for (const { id, alias } of traces) {
    const answer = await system.request<{ position: string }>('/ingest', {
      body: { alias_kind: 'email', alias, event_type: 'Page View' },
      headers: { traceparent: `00-${id}-${randomBytes(8).toString('hex')}-01` },
    });
    expect(answer.status).toBe(202);
    const visible = await system.request(
      `/score/${leadIdOf(system.ouId, 'email', alias)}?min_position=${answer.body.position}`,
    );
    expect(visible.status).toBe(200);
  }
  const [commands, ingested, scored] = await Promise.all(
    ['ingest.commands', 'ingest.events', 'scoring.events'].map((topic) =>
      readTopic(system.endpoints, `${system.namespace}.${topic}`),
    ),
  );
  const traceOf = (record: TopicRecord | undefined) =>
    /^00-([0-9a-f]{32})-[0-9a-f]{16}-0[01]$/.exec(record?.headers['traceparent'] ?? '')?.[1];
  for (const { id, alias } of traces) {
    const lead = leadIdOf(system.ouId, 'email', alias);
    const of = (records: TopicRecord[] | undefined, mentions: string) =>
      records?.find(({ payload }) => JSON.stringify(payload).includes(mentions));
    expect({
      command: traceOf(of(commands, lead)),
      ingested: traceOf(of(ingested, lead)),
      scored: traceOf(of(scored, lead)),
    }).toEqual({
      command: id,
      ingested: id,
      scored: id,
    });
  }
}, 120_000);

test('a command that is answered carries the trace to its event and its reply', async () => {
  const id = randomBytes(16).toString('hex');
  const answer = await system.request<{ id: string }>('/rulesets', {
    body: { name: 'Traced', score_type: 'engagement' },
    headers: { traceparent: `00-${id}-${randomBytes(8).toString('hex')}-01` },
  });
  expect(answer.status).toBe(201);
  const events = await readTopic(system.endpoints, `${system.namespace}.scoring.events`);
  const created = events.find(({ payload }) => JSON.stringify(payload).includes(answer.body.id));
  expect(created?.headers['traceparent']).toContain(id);
}, 60_000);
