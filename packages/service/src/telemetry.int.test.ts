// Telemetry in a separate process, started like the services: with --import, and with ES modules that import patched
// modules.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..');

/** A server that returns its trace id: directly, and after a further request by fetch and by node:http. */
const program = `
import { createServer, request } from 'node:http';
import express from 'express';
import { context, metrics, trace } from '@opentelemetry/api';
import { createLogger, metricsHandler, nameRoute } from '@lead-scoring/service';

metrics.getMeter('test').createCounter('records.folded').add(3);
const lines = [];
const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(JSON.parse(line)) } });
const seen = (req) => ({ trace: trace.getSpanContext(context.active())?.traceId, traceparent: req.headers.traceparent });
const app = express();
app.get('/metrics', metricsHandler);
app.get('/items/:id', nameRoute('/items/{id}'), (req, res) => res.json(seen(req)));
app.get('/outer', async (req, res) => {
  logger.info('within a request');
  const port = req.socket.localPort;
  const byFetch = await (await fetch('http://127.0.0.1:' + port + '/items/1')).json();
  const byRequest = await new Promise((resolve) =>
    request({ host: '127.0.0.1', port, path: '/items/2' }, async (message) => {
      let text = '';
      for await (const chunk of message) text += chunk;
      resolve(JSON.parse(text));
    }).end(),
  );
  res.json({ own: seen(req), byFetch, byRequest });
});
const server = createServer(app).listen(0, '127.0.0.1', async () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  const outer = await (await fetch(url + '/outer')).json();
  const text = await (await fetch(url + '/metrics')).text();
  process.stdout.write(JSON.stringify({ outer, text, logged: lines[0].trace_id }), () => process.kill(process.pid, 'SIGTERM'));
});
import { runService } from '@lead-scoring/service';
runService({
  name: 'test',
  logger: createLogger({ name: 'test', destination: { write: () => undefined } }),
  shutdownTimeoutMs: 5_000,
  open: async () => ({ port: 0 }),
});
`;

interface Outcome {
  outer: Record<'own' | 'byFetch' | 'byRequest', { trace: string; traceparent?: string }>;
  text: string;
  logged: string;
}

async function run(environment: Record<string, string>): Promise<Outcome> {
  const { stdout } = await execute(
    process.execPath,
    ['--import', '@lead-scoring/service/telemetry', '--input-type=module', '--eval', program],
    { cwd: root, env: { PATH: process.env.PATH ?? '', ...environment }, timeout: 30_000 },
  );
  return JSON.parse(stdout) as Outcome;
}

/** The trace id of all requests: they have the same one, which came with the first request. */
function traceOf({ outer, logged }: Outcome): string {
  const traces = new Set([outer.own.trace, outer.byFetch.trace, outer.byRequest.trace, logged]);
  for (const { traceparent } of Object.values(outer)) traces.add(traceparent?.split('-')[1] ?? 'none');
  expect(traces.size).toBe(1);
  return outer.own.trace;
}

describe('telemetry', () => {
  beforeAll(async () => {
    await execute(
      process.execPath,
      [join(root, '../../node_modules/@typescript/native/bin/tsc'), '-b', root],
      {
        timeout: 110_000,
      },
    );
  }, 120_000);

  test('without an endpoint a trace id goes on from request to request and into the log', async () => {
    const outcome = await run({});
    expect(traceOf(outcome)).toMatch(/^[0-9a-f]{32}$/);
    expect(outcome.outer.byRequest.traceparent).toMatch(/-00$/);
  }, 60_000);

  test('metrics are Prometheus text, requests named by their route', async () => {
    const { text } = await run({ OTEL_SERVICE_NAME: 'scoring', NAMESPACE: 'test' });
    expect(text).toMatch(
      /^target_info\{.*service_namespace="test".*service_name="scoring"|service_name="scoring".*service_namespace="test"/m,
    );
    expect(text).toMatch(/^records_folded_total 3$/m);
    expect(text).toMatch(/^http_server_request_duration_count\{.*http_route="\/items\/\{id\}".*\} 2$/m);
    expect(text).toMatch(/^nodejs_eventloop_delay_p99 /m);
    expect(text).toMatch(/^process_cpu_time_total /m);
  }, 60_000);

  test('with an endpoint the spans have been sent when the process ends', async () => {
    const received: string[] = [];
    const collector = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => {
        received.push(`${req.url ?? ''} ${body}`);
        res.setHeader('Content-Type', 'application/json').end('{}');
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    try {
      const endpoint = `http://127.0.0.1:${String((collector.address() as AddressInfo).port)}`;
      const outcome = await run({
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      });
      expect(received.join('\n')).toContain('/v1/traces');
      expect(received.join('\n')).toContain(traceOf(outcome));
    } finally {
      collector.close();
    }
  }, 60_000);
});
