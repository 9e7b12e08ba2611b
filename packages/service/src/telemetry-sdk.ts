// The interface between telemetry.ts and an OpenTelemetry SDK, and a small SDK for processes that export no traces. The
// small one loads a third of sdk-node's modules: without an export, its exporters would be unused.
import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { registerInstrumentations, type Instrumentation } from '@opentelemetry/instrumentation';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { AlwaysOffSampler, NoopSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

export interface TelemetryOptions {
  serviceName: string;
  namespace: string;
  exporter: PrometheusExporter;
  instrumentations: Instrumentation[];
}

export interface TelemetrySdk {
  shutdown(): Promise<void>;
}

/** Starts metrics and trace ids, which are passed on and logged. No span is recorded. */
export function startWithoutTraces(options: TelemetryOptions): TelemetrySdk {
  const { serviceName, namespace, exporter, instrumentations } = options;
  registerInstrumentations({ instrumentations });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  const resource = resourceFromAttributes({ 'service.namespace': namespace })
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes({ 'service.name': serviceName }));
  const meters = new MeterProvider({ resource, readers: [exporter] });
  metrics.setGlobalMeterProvider(meters);
  for (const instrumentation of instrumentations) instrumentation.setMeterProvider(meters);
  const tracers = new TracerProvider({
    resource,
    sampler: new AlwaysOffSampler(),
    spanProcessors: [new NoopSpanProcessor()],
  });
  trace.setGlobalTracerProvider(tracers);
  return {
    shutdown: async () => {
      await Promise.all([tracers.shutdown(), meters.shutdown()]);
    },
  };
}
