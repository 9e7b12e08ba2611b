// One trace from the HTTP request through the log to the decision, and to the delivered notification.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { leadIdOf } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { startNotifiedSystem, type FiredNotification, type NotifiedSystem } from './notified-system.js';
import { readTopic, type TopicRecord } from './public-topics.js';
import { startHttpReceiver, startWebhookReceiver, type HttpReceiver } from './receivers/index.js';

/** A span as OTLP/JSON has it. */
interface Span {
  traceId: string;
  name: string;
  kind: number;
  attributes: { key: string; value: Record<string, unknown> }[];
}

const clientKind = 3;

let system: NotifiedSystem;
let collector: HttpReceiver;
const exported: string[] = [];

beforeAll(async () => {
  collector = await startHttpReceiver(({ body }) => {
    exported.push(body);
    return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  });
  system = await startNotifiedSystem([0, 1], {
    // Only notification exports its spans: trace ids go on without an exporter as well.
    environmentOf: (name): Record<string, string> =>
      name === 'notification'
        ? {
            OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
            OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
            OTEL_TRACES_SAMPLER: 'always_on',
            OTEL_BSP_SCHEDULE_DELAY: '500',
          }
        : {},
  });
}, 120_000);

afterAll(async () => {
  await system.stop();
  await collector.stop();
}, 60_000);

function exportedSpans(traceId: string): Span[] {
  return exported
    .flatMap(
      (body) =>
        (JSON.parse(body) as { resourceSpans?: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans ?? [],
    )
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .filter((span) => span.traceId === traceId);
}

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

test('the trace of an event ends with a span for each attempt to deliver; the receiver gets no trace id', async () => {
  const receiver = await startWebhookReceiver<FiredNotification>();
  receiver.behave(({ nth }) => ({ status: nth === 0 ? 503 : 200 }));
  const channel = await system.webhook('Traced', receiver.url);
  receiver.trust(channel.signing_secret);
  await system.call('createTrigger', {
    body: { name: 'Traced', score_threshold: 20, channel_ids: [channel.id] },
  });
  const id = randomBytes(16).toString('hex');
  const alias = 'delivered@example.com';
  const answer = await system.request('/ingest', {
    body: { alias_kind: 'email', alias, event_type: 'Form Submit' },
    headers: { traceparent: `00-${id}-${randomBytes(8).toString('hex')}-01` },
  });
  expect(answer.status).toBe(202);
  const attempts = await eventually(
    'both attempts are exported',
    () => {
      const spans = exportedSpans(id).filter(({ name }) => name === 'deliver webhook');
      return spans.length === 2 ? spans : undefined;
    },
    60_000,
  );
  const described = attempts.map(({ kind, attributes }) => ({
    kind,
    ...Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
  }));
  expect(described).toEqual([
    expect.objectContaining({ kind: clientKind, outcome: 'failed', attempt: 1, status: 503 }),
    expect.objectContaining({ kind: clientKind, outcome: 'delivered', attempt: 2, status: 200 }),
  ]);
  for (const { headers } of receiver.received)
    expect(Object.keys(headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(traceparent|tracestate|baggage)$/)]),
    );
  // The receiver's address may hold a secret.
  expect(JSON.stringify(exportedSpans(id))).not.toContain(new URL(receiver.url).port);
  await receiver.stop();
}, 120_000);
