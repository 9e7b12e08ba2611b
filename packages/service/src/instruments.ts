// Instruments of the metrics that contracts declare, and spans that continue the trace of a record of the log.
import type { MetricDeclaration } from '@lead-scoring/contracts';
import {
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

type LabelsOf<Metric extends MetricDeclaration> = Readonly<Record<keyof Metric['labels'], string>>;

/** Adds to the counter of a declared metric. A count of 0 makes the series, so that its first increase is seen. */
export type Count<Metric extends MetricDeclaration> = (count: number, labels: LabelsOf<Metric>) => void;

/** Records a duration of a declared metric, in seconds. */
export type Measure<Metric extends MetricDeclaration> = (seconds: number, labels: LabelsOf<Metric>) => void;

const meterName = '@lead-scoring/service';

export function counterOf<const Metric extends MetricDeclaration & { kind: 'counter' }>({
  name,
  unit,
  meaning,
}: Metric): Count<Metric> {
  const counter = metrics.getMeter(meterName).createCounter(name, { unit, description: meaning });
  return (count, labels) => {
    counter.add(count, labels);
  };
}

/** @param bucketBoundaries in seconds */
export function durationOf<const Metric extends MetricDeclaration & { kind: 'histogram' }>(
  { name, unit, meaning }: Metric,
  bucketBoundaries: readonly number[],
): Measure<Metric> {
  const histogram = metrics.getMeter(meterName).createHistogram(name, {
    unit,
    description: meaning,
    advice: { explicitBucketBoundaries: [...bucketBoundaries] },
  });
  return (seconds, labels) => {
    histogram.record(seconds, labels);
  };
}

/** The attributes of a span: no address and no name of a person. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/**
 * Runs work in a span that continues the trace of a record. Records that the work writes carry the trace on; requests to foreign
 * servers do not.
 * @param traceparent the header of the record; undefined: the span begins a trace
 * @param run gets a function that adds attributes; the span is marked as failed when `run` rejects
 */
export async function withinTraceOf<Value>(
  traceparent: string | undefined,
  name: string,
  run: (describe: (attributes: SpanAttributes) => void) => Promise<Value>,
): Promise<Value> {
  const parent =
    traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
  const span = trace.getTracer(meterName).startSpan(name, { kind: SpanKind.CLIENT }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () =>
      run((attributes) => {
        span.setAttributes(attributes);
      }),
    );
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
