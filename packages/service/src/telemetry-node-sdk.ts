// OpenTelemetry's complete SDK, configured by the OTEL_* variables: for processes that export traces.
import { NodeSDK, resources, tracing } from '@opentelemetry/sdk-node';
import type { TelemetryOptions, TelemetrySdk } from './telemetry-sdk.js';

/** @param exportsTraces false: trace ids are made and passed on, but no span is recorded */
export function startNodeSdk(options: TelemetryOptions, exportsTraces: boolean): TelemetrySdk {
  const { serviceName, namespace, exporter, instrumentations } = options;
  const sdk = new NodeSDK({
    serviceName,
    resource: resources.resourceFromAttributes({ 'service.namespace': namespace }),
    resourceDetectors: [resources.envDetector],
    metricReaders: [exporter],
    instrumentations,
    ...(!exportsTraces && {
      sampler: new tracing.AlwaysOffSampler(),
      spanProcessors: [new tracing.NoopSpanProcessor()],
    }),
  });
  sdk.start();
  return sdk;
}
