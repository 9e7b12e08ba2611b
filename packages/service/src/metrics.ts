// GET /metrics: Prometheus text of everything that was counted through the OpenTelemetry API in this process.
import type { RequestHandler } from 'express';
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus';

/** What telemetry.ts leaves for the process that it was loaded into. */
export interface ProcessTelemetry {
  exporter: PrometheusExporter;
  /** Sends what is still held back. */
  shutdown(): Promise<void>;
}

// telemetry.ts is loaded by `--import`, before and apart from the service's own modules; like OpenTelemetry's API
// itself, both meet at a registered symbol of the process.
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
