// The environment variables of OpenTelemetry that telemetry.ts reads before any configuration is parsed, with their meaning.

export const telemetrySettings = {
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT:
    'The collector of traces, as OTEL_EXPORTER_OTLP_ENDPOINT, which goes before it.',
  OTEL_SERVICE_NAME: "The name of the service in traces and metrics. Without it: the service's own.",
  OTEL_PROPAGATORS: 'How trace ids are passed on; default `tracecontext,baggage`.',
  OTEL_SDK_DISABLED: '`true`: neither traces nor metrics.',
  OTEL_LOG_LEVEL: "The least important messages of OpenTelemetry's own log.",
} as const;
