// Prometheus scrapes a running system: each query of the dashboards returns data, and the rules of the alerts are the rules of
// deploy/alerts.yaml, each of which is tested by promtool.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { alertDeclarations, dashboardDeclarations } from '@lead-scoring/contracts';
import { freePort } from '@lead-scoring/platform';
import { eventually } from '@lead-scoring/platform/waiting';
import { toolPath } from './deploy-tools.js';
import {
  openProducersKafka,
  startKafkaSource,
  type KafkaSource,
  type ProducersKafka,
} from './kafka-sources.js';
import { runProgram } from './run-program.js';
import { startNotifiedSystem, type FiredNotification, type NotifiedSystem } from './notified-system.js';
import { startWebhookReceiver, type WebhookReceiver } from './receivers/index.js';
import { checkout } from './test-system.js';

const alertsFile = join(checkout, 'deploy/alerts.yaml');

describe('alerts', () => {
  test('promtool accepts each rule, and each is quiet before its time and fires after it', async () => {
    const promtool = toolPath('promtool');
    const checked = await runProgram(promtool, ['check', 'rules', alertsFile]);
    expect(checked).toMatchObject({
      code: 0,
      output: expect.stringContaining(`${String(alertDeclarations.length)} rules`),
    });
    expect(
      await runProgram(promtool, ['test', 'rules', join(checkout, 'deploy/alerts.test.yaml')]),
    ).toMatchObject({ code: 0, output: expect.stringContaining('SUCCESS') });
  });
});

interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

const panels = dashboardDeclarations.flatMap(({ name, panels: own }) =>
  own.flatMap(({ title, queries }) =>
    queries.map(({ expression }) => ({ panel: `${name}: ${title}`, expression })),
  ),
);

describe('a Prometheus beside a running system', () => {
  let system: NotifiedSystem;
  let receiver: WebhookReceiver<FiredNotification>;
  let kafka: ProducersKafka;
  let topic: string;
  let source: KafkaSource;
  let prometheus: ChildProcess;
  let url: string;
  let folder: string;

  beforeAll(async () => {
    const program = toolPath('prometheus');
    system = await startNotifiedSystem([0, 1]);
    receiver = await startWebhookReceiver<FiredNotification>();
    kafka = await openProducersKafka(system);
    topic = await kafka.createTopic('orders', 2);
    source = await connectTopic();
    folder = await mkdtemp(join(tmpdir(), 'lead-scoring-prometheus-'));
    url = `http://127.0.0.1:${String(await freePort())}`;
    const targets = [
      ...system.system.services.map(({ metricsUrl }) => metricsUrl),
      ...source.processes.map((process) => process.url),
    ].map((address) => new URL(address).host);
    const scraping = {
      global: { scrape_interval: '1s', evaluation_interval: '5s' },
      rule_files: [alertsFile],
      scrape_configs: [{ job_name: 'lead-scoring', static_configs: [{ targets }] }],
    };
    // YAML reads JSON.
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(scraping));
    prometheus = spawn(
      program,
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${new URL(url).host}`,
      ],
      { stdio: 'ignore' },
    );
    await eventually(
      'Prometheus has scraped every process',
      async () => (await ask('up{job="lead-scoring"} == 1').catch(() => [])).length === targets.length,
      60_000,
    );
    await useSystem();
  }, 300_000);

  afterAll(async () => {
    if (prometheus.exitCode === null) {
      prometheus.kill('SIGTERM');
      await once(prometheus, 'exit');
    }
    await receiver.stop();
    await source.stop();
    await kafka.stop();
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  async function answerOf<Data>(path: string): Promise<Data> {
    const response = await fetch(`${url}${path}`);
    const { status, data, error } = (await response.json()) as { status: string; data: Data; error?: string };
    if (status !== 'success') throw new Error(`${path}: ${error ?? status}`);
    return data;
  }

  async function ask(expression: string): Promise<Sample[]> {
    const { result } = await answerOf<{ result: Sample[] }>(
      `/api/v1/query?query=${encodeURIComponent(expression)}`,
    );
    return result;
  }

  /** A topic of the producer's own as a source of events. */
  async function connectTopic(): Promise<KafkaSource> {
    const secret = await system.request<{ client_id: string; client_secret: string }>('/secrets', {
      body: { name: 'Orders', scopes: ['ingest'], ou_ids: [system.ouId] },
    });
    return startKafkaSource(system, {
      credential: `${secret.body.client_id}.${secret.body.client_secret}`,
      file: {
        name: 'orders',
        topic,
        format: 'json',
        event: {
          event_type: { fixed: 'Order Placed' },
          alias_kind: { fixed: 'email' },
          alias: { value: 'email' },
        },
      },
    });
  }

  /** Events that are taken and refused, a delivery that fails and one that arrives, and reads. */
  async function useSystem(): Promise<void> {
    const channel = await system.webhook('Observed', receiver.url);
    receiver.trust(channel.signing_secret);
    receiver.behave(({ nth }) => ({ status: nth === 0 ? 503 : 200 }));
    await system.call('createTrigger', {
      body: { name: 'Hot', score_threshold: 20, channel_ids: [channel.id] },
    });
    const refused = await system.request('/ingest', { body: { alias_kind: 'email' } });
    expect(refused.status).toBe(400);
    await system.happen('seen@example.com', { event_type: 'Form Submit' });
    await system.settled('seen@example.com');
    expect((await system.request(`/score/${system.leadOf('seen@example.com')}`)).status).toBe(200);
  }

  test('what happened is in the numbers', async () => {
    const totals = {
      'gateway_events_total{outcome="accepted"}': 3,
      'gateway_events_total{outcome="invalid"}': 1,
      'notification_attempts_total{outcome="failed",attempt="first"}': 1,
      'notification_attempts_total{outcome="delivered",attempt="repeat"}': 1,
      'event_log_decided_records_total{type="MilestoneFired"}': 1,
      'http_server_request_duration_count{http_route="/ingest",http_response_status_code="400"}': 1,
    };
    for (const [expression, total] of Object.entries(totals))
      await eventually(
        `${expression} is ${String(total)}`,
        async () => Number((await ask(`sum(${expression})`))[0]?.value[1] ?? NaN) === total,
        30_000,
      );
  }, 120_000);

  describe('while events come in', () => {
    const stopping = new AbortController();
    let traffic: Promise<void>;
    beforeAll(() => {
      traffic = sendUntil(stopping.signal);
    });
    afterAll(async () => {
      stopping.abort();
      await traffic;
    }, 60_000);

    /** Each lead reaches the threshold of the trigger, and then one event is not valid; a record of the source is an event, one is not. */
    async function sendUntil(signal: AbortSignal): Promise<void> {
      for (let lead = 0; !signal.aborted; lead++) {
        const event = { alias_kind: 'email', alias: `lead-${String(lead)}@example.com` };
        await system.request('/ingest', { body: { ...event, event_type: 'Form Submit' } });
        await system.request('/ingest', { body: event });
        await system.request(`/score/${system.leadOf(event.alias)}`);
        await kafka.producer.send({
          topic,
          messages: [{ value: JSON.stringify({ email: event.alias }) }, { value: '{' }],
        });
        await pause(300);
      }
    }

    test.each(panels)(
      '$panel has data',
      async ({ expression }) => {
        const samples = await eventually(
          `data for ${expression}`,
          async () => {
            const found = await ask(expression);
            return found.some(({ value }) => Number.isFinite(Number(value[1]))) ? found : undefined;
          },
          60_000,
        );
        expect(samples.length).toBeLessThan(500);
      },
      90_000,
    );
  });

  test('every rule is loaded and healthy', async () => {
    const { groups } = await answerOf<{ groups: { rules: { name: string; health: string }[] }[] }>(
      '/api/v1/rules',
    );
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.map(({ name }) => name).sort()).toEqual(alertDeclarations.map(({ name }) => name).sort());
    expect(rules.filter(({ health }) => health === 'err')).toEqual([]);
  });

  test('a process has at most 3,000 series', async () => {
    for (const { metric, value } of await ask('count by (instance) ({job="lead-scoring"})'))
      expect({ metric, series: Number(value[1]) < 3_000 }).toEqual({ metric, series: true });
  });
});
