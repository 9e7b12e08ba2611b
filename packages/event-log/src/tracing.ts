// Spans of batches: the trace that a record carries goes on through deciding, committing and folding.
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Link,
} from '@opentelemetry/api';
import type { IncomingRecord } from './records.js';

const maxLinks = 32;

/**
 * Runs the handling of a batch within a span that continues the trace of its first record and links to the others'.
 * Costs next to nothing when tracing is off.
 */
export async function withinSpan<Value>(
  operation: string,
  records: readonly IncomingRecord[],
  attributes: Record<string, string | number>,
  run: () => Promise<Value>,
): Promise<Value> {
  const tracer = trace.getTracer('@lead-scoring/event-log');
  const traced = records.filter(({ headers }) => headers.traceparent !== undefined);
  const [first, ...others] = traced;
  const parent = first ? propagation.extract(ROOT_CONTEXT, first.headers) : ROOT_CONTEXT;
  const links = others.slice(0, maxLinks).flatMap((record): Link[] => {
    const spanContext = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, record.headers));
    return spanContext ? [{ context: spanContext }] : [];
  });
  const span = tracer.startSpan(operation, { kind: SpanKind.CONSUMER, attributes, links }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), run);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    if (error instanceof Error) span.recordException(error);
    throw error;
  } finally {
    span.end();
  }
}
