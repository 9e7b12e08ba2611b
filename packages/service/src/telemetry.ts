// Loaded with `node --import @lead-scoring/service/telemetry`: metrics, and traces when there is an endpoint for them.
// It must load first, because it patches modules while they are loaded.
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { metricDeclarations, type MetricDeclaration } from '@lead-scoring/contracts';
import { context, metrics, type MetricOptions, type Span } from '@opentelemetry/api';
import { isTracingSuppressed } from '@opentelemetry/core';
import type { Instrumentation } from '@opentelemetry/instrumentation';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { provideTelemetry } from './metrics.js';
import { loggedPath } from './secret-paths.js';
import { startWithoutTraces, type TelemetryOptions } from './telemetry-sdk.js';

const endpoint =
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT ?? process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? '';
const exportsTraces = endpoint !== '';

/** Each sample of the event loop's delay wakes the process up: every 20 ms, they were a third of an idle service's processor time. */
const sampleEveryMs = 100;

const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });

const quiet = new Set(['/healthz', '/readyz', '/metrics']);
const instrumentations: Instrumentation[] = [
  new HttpInstrumentation({
    ignoreIncomingRequestHook: ({ url }) => quiet.has(url ?? ''),
    requestHook: (span, request) => {
      hideSecret(span, 'path' in request ? request.path : (request.url ?? ''));
    },
  }),
  new UndiciInstrumentation({
    // Requests to foreign servers carry no trace ids, and no span or metric has their addresses.
    ignoreRequestHook: () => isTracingSuppressed(context.active()),
    requestHook: (span, { path }) => {
      hideSecret(span, path);
    },
  }),
];
// There is no instrumentation of kafkajs: it patches the producer and the consumer, which no record passes (packages/event-log). The event log
// writes the traceparent of a record and makes the span of a batch itself.

// Exporters, propagators and switches of OTEL_* need the complete SDK, which is loaded only when one of them is used.
const needsNodeSdk =
  exportsTraces ||
  ['OTEL_PROPAGATORS', 'OTEL_SDK_DISABLED', 'OTEL_LOG_LEVEL'].some((name) => process.env[name] !== undefined);
const options: TelemetryOptions = {
  serviceName: process.env.OTEL_SERVICE_NAME ?? serviceName(process.argv[1] ?? ''),
  namespace: process.env.NAMESPACE ?? 'lead-scoring',
  exporter,
  instrumentations,
};
const sdk = needsNodeSdk
  ? (await import('./telemetry-node-sdk.js')).startNodeSdk(options, exportsTraces)
  : startWithoutTraces(options);
patchHttp();
observeProcess();

provideTelemetry({ exporter, shutdown: () => sdk.shutdown() });

/**
 * Patches http and https: requiring Node's own modules changes them in place, and the names that ES modules import are
 * synchronised. No loader hook is needed, because all modules share the one object.
 */
function patchHttp(): void {
  const require = createRequire(import.meta.url);
  require('node:http');
  require('node:https');
  syncBuiltinESMExports();
}

/** Replaces a secret in the path of a span. */
function hideSecret(span: Span, path: string): void {
  const logged = loggedPath(path);
  if (logged === path) return;
  const [pathname = ''] = logged.split('?');
  // Under the attribute names of both the old and the stable conventions: the operator chooses which are in use.
  span.setAttributes({
    'http.target': logged,
    'http.url': logged,
    'url.full': logged,
    'url.path': pathname,
  });
}

/** The service's name from the path of its script: `services/gateway/dist/main.js` is the gateway. */
function serviceName(script: string): string {
  return /services[\\/]([^\\/]+)[\\/]/.exec(script)?.[1] ?? 'lead-scoring';
}

function observeProcess(): void {
  const meter = metrics.getMeter('@lead-scoring/service');
  const { residentMemory, heapUsed, eventLoopDelay, processorTime } = metricDeclarations;
  const delay = monitorEventLoopDelay({ resolution: sampleEveryMs });
  delay.enable();
  meter.createObservableGauge(residentMemory.name, optionsOf(residentMemory)).addCallback((result) => {
    result.observe(process.memoryUsage.rss());
  });
  meter.createObservableGauge(heapUsed.name, optionsOf(heapUsed)).addCallback((result) => {
    result.observe(process.memoryUsage().heapUsed);
  });
  meter.createObservableGauge(eventLoopDelay.name, optionsOf(eventLoopDelay)).addCallback((result) => {
    // A sample is the time since the one before.
    result.observe(Math.max(0, delay.percentile(99) / 1e9 - sampleEveryMs / 1e3));
    delay.reset();
  });
  meter.createObservableCounter(processorTime.name, optionsOf(processorTime)).addCallback((result) => {
    const { user, system } = process.cpuUsage();
    result.observe((user + system) / 1e6);
  });
}

function optionsOf({ unit, meaning }: MetricDeclaration): MetricOptions {
  return { unit, description: meaning };
}
