// Requests to analysed sites carry no trace headers, and traces and metrics do not contain their addresses. Tested in a process of its
// own, started like the service.
import { execFile } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..');

/** Within a span: a request through outbound, and one like those between the system's services. */
const program = `
import { createOutbound } from '@lead-scoring/outbound';
import { createLogger, metricsHandler, runService } from '@lead-scoring/service';
import { createServer } from 'node:http';

const site = new URL(process.env.SITE);
const port = Number(site.port);
const outbound = createOutbound({ userAgent: 'test/1.0', allowedPrivateTargets: [{ host: '127.0.0.1', fromPort: port, toPort: port }] });
const server = createServer(async (req, res) => {
  if (req.url === '/metrics') return metricsHandler(req, res);
  const options = { signal: AbortSignal.timeout(10_000), maxBytes: 1_000, maxRedirects: 1 };
  await outbound.request(new URL('/theirs?secret=outbound', site), options);
  await fetch(new URL('/ours', site));
  res.end();
}).listen(0, '127.0.0.1', async () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  await (await fetch(url + '/within')).text();
  const metrics = await (await fetch(url + '/metrics')).text();
  process.stdout.write(metrics, () => process.kill(process.pid, 'SIGTERM'));
});
const logger = createLogger({ name: 'test', destination: { write: () => undefined } });
runService({ name: 'test', logger, shutdownTimeoutMs: 5_000, open: async () => ({ port: 0 }) });
`;

beforeAll(async () => {
  await execute(process.execPath, [join(root, '../../node_modules/@typescript/native/bin/tsc'), '-b', root], {
    timeout: 110_000,
  });
}, 120_000);

test('they carry no trace, also after redirects, and no span and no metric names them', async () => {
  const asked = new Map<string, IncomingHttpHeaders>();
  let exported = '';
  const server = createServer((req, res) => {
    const path = req.url ?? '';
    if (path.startsWith('/v1/')) req.on('data', (chunk: Buffer) => (exported += chunk.toString()));
    else asked.set(path, req.headers);
    req.resume().on('end', () => {
      if (path.startsWith('/theirs')) res.writeHead(302, { location: '/moved?secret=outbound' });
      res.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  try {
    const { stdout: metrics } = await execute(
      process.execPath,
      ['--import', '@lead-scoring/service/telemetry', '--input-type=module', '--eval', program],
      {
        cwd: root,
        env: {
          PATH: process.env.PATH ?? '',
          SITE: origin,
          OTEL_EXPORTER_OTLP_ENDPOINT: origin,
          OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        },
        timeout: 30_000,
      },
    );
    expect([...asked.keys()]).toEqual(['/theirs?secret=outbound', '/moved?secret=outbound', '/ours']);
    expect(asked.get('/ours')).toHaveProperty('traceparent');
    for (const path of ['/theirs?secret=outbound', '/moved?secret=outbound'])
      for (const header of ['traceparent', 'tracestate', 'baggage'])
        expect(asked.get(path)).not.toHaveProperty(header);
    expect(exported).toContain('/ours');
    expect(exported).not.toMatch(/secret=|\/theirs|\/moved/);
    const counts = [...metrics.matchAll(/^http_client_request_duration_count\{.*\} (\d+)$/gm)].map(
      ([, count]) => Number(count),
    );
    // The two requests of fetch; outbound's are not counted, because each host would be a series of its own.
    expect(counts).toEqual([1, 1]);
  } finally {
    server.close();
  }
}, 60_000);
