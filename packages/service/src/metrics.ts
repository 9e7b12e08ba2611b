// GET /metrics: Prometheus text of every metric that this process records through the OpenTelemetry API.
import type { RequestHandler } from 'express';
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus';

/** The telemetry that telemetry.ts has started in this process. */
export interface ProcessTelemetry {
  exporter: PrometheusExporter;
  /** Sends the spans that are still buffered. */
  shutdown(): Promise<void>;
}

// telemetry.ts is loaded by `--import`, before the service's own modules and apart from them. Both find each other
// through a registered symbol, as in OpenTelemetry's own API.
const place = Symbol.for('lead-scoring.telemetry');
const processWide = globalThis as { [place]?: ProcessTelemetry };

export function provideTelemetry(telemetry: ProcessTelemetry): void {
  processWide[place] = telemetry;
}

/** Undefined when the process was started without `--import @lead-scoring/service/telemetry`. */
export function processTelemetry(): ProcessTelemetry | undefined {
  return processWide[place];
}

/** Express handler of `GET /metrics`. */
export const metricsHandler: RequestHandler = (req, res) => {
  const telemetry = processTelemetry();
  if (telemetry) {
    telemetry.exporter.getMetricsRequestHandler(req, res);
    return;
  }
  res
    .type('text/plain; version=0.0.4')
    .send('# telemetry is off: start with --import @lead-scoring/service/telemetry\n');
};
