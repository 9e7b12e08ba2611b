// Loaded with `node --import @lead-scoring/service/telemetry` before anything else: metrics, and traces when there is
// somewhere to send them. It must come first, because modules are patched while they are being loaded.
import { register } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { context, metrics, type Span } from '@opentelemetry/api';
import { isTracingSuppressed } from '@opentelemetry/core';
import type { Instrumentation } from '@opentelemetry/instrumentation';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { KafkaJsInstrumentation } from '@opentelemetry/instrumentation-kafkajs';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { NodeSDK, resources, tracing } from '@opentelemetry/sdk-node';
import { provideTelemetry } from './metrics.js';
import { loggedPath } from './secret-paths.js';

// Without this hook kafkajs and node:http stay unpatched when they are imported by ES modules. Only what is patched
// goes through the hook: every module that does costs start-up time.
// eslint-disable-next-line @typescript-eslint/no-deprecated -- OpenTelemetry's hook is for it, and has no other form yet
register('@opentelemetry/instrumentation/hook.mjs', import.meta.url, {
  data: { include: ['http', 'https', 'node:http', 'node:https', 'kafkajs'] },
});

const endpoint =
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT ?? process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? '';
const exportsTraces = endpoint !== '';

const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });

const quiet = new Set(['/healthz', '/readyz', '/metrics']);
const disabled = new Set(
  (process.env.OTEL_NODE_DISABLED_INSTRUMENTATIONS ?? '').split(',').map((name) => name.trim()),
);
const instrumentations: Instrumentation[] = [
  new HttpInstrumentation({
    ignoreIncomingRequestHook: ({ url }) => quiet.has(url ?? ''),
    requestHook: (span, request) => {
      hideSecret(span, 'path' in request ? request.path : (request.url ?? ''));
    },
  }),
  new UndiciInstrumentation({
    // Requests to other people's servers carry no ids of ours, and their addresses are in no span and no metric.
    ignoreRequestHook: () => isTracingSuppressed(context.active()),
    requestHook: (span, { path }) => {
      hideSecret(span, path);
    },
  }),
];
// Its spans cost 9 us for each record produced and 15 us for each consumed, also when nothing is sampled, which is
// as much as the record itself (README). Worth it only to somebody who looks at them; the records' own traceparent
// does not need it.
if (exportsTraces && !disabled.has('kafkajs')) instrumentations.push(new KafkaJsInstrumentation());

const sdk = new NodeSDK({
  serviceName: process.env.OTEL_SERVICE_NAME ?? serviceName(process.argv[1] ?? ''),
  resource: resources.resourceFromAttributes({
    'service.namespace': process.env.NAMESPACE ?? 'lead-scoring',
  }),
  resourceDetectors: [resources.envDetector],
  metricReaders: [exporter],
  instrumentations,
  // Without an endpoint ids are made and passed on, and nothing is recorded. With one, the exporter comes from OTEL_*.
  ...(!exportsTraces && {
    sampler: new tracing.AlwaysOffSampler(),
    spanProcessors: [new tracing.NoopSpanProcessor()],
  }),
});
sdk.start();
observeProcess();

provideTelemetry({ exporter, shutdown: () => sdk.shutdown() });

/** A span tells where a request went, and must not tell a secret that its path holds. */
function hideSecret(span: Span, path: string): void {
  const logged = loggedPath(path);
  if (logged === path) return;
  const [pathname = ''] = logged.split('?');
  // By the old and by the stable conventions: which of them are in use is the operator's choice.
  span.setAttributes({
    'http.target': logged,
    'http.url': logged,
    'url.full': logged,
    'url.path': pathname,
  });
}

/** `services/gateway/dist/main.js` is the gateway. */
function serviceName(script: string): string {
  return /services[\\/]([^\\/]+)[\\/]/.exec(script)?.[1] ?? 'lead-scoring';
}

function observeProcess(): void {
  const meter = metrics.getMeter('@lead-scoring/service');
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  meter
    .createObservableGauge('process.memory.usage', { unit: 'By', description: 'Resident memory.' })
    .addCallback((result) => {
      result.observe(process.memoryUsage.rss());
    });
  meter
    .createObservableGauge('v8js.memory.heap.used', { unit: 'By', description: 'Heap in use.' })
    .addCallback((result) => {
      result.observe(process.memoryUsage().heapUsed);
    });
  meter
    .createObservableGauge('nodejs.eventloop.delay.p99', {
      unit: 's',
      description: 'Delay of the event loop since the last reading, 99th percentile.',
    })
    .addCallback((result) => {
      result.observe(delay.percentile(99) / 1e9);
      delay.reset();
    });
  meter
    .createObservableCounter('process.cpu.time', { unit: 's', description: 'Processor time used.' })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe((user + system) / 1e6);
    });
}
