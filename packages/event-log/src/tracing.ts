// Spans of batches: they continue the trace of a record through decision, commit and fold.
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Link,
} from '@opentelemetry/api';
import type { IncomingRecord } from './records.js';

const maxLinks = 32;

/** The parent span and the linked spans of a batch. */
export interface Origin {
  parent: Context;
  links: Link[];
}

/** The trace of the batch's first traced record as parent, and links to at most 32 of the others. */
export function originOf(records: readonly IncomingRecord[]): Origin {
  const origin: Origin = { parent: ROOT_CONTEXT, links: [] };
  for (const { headers } of records) {
    if (headers.traceparent === undefined) continue;
    const found = propagation.extract(ROOT_CONTEXT, headers);
    if (origin.parent === ROOT_CONTEXT) origin.parent = found;
    else {
      const spanContext = trace.getSpanContext(found);
      if (spanContext) origin.links.push({ context: spanContext });
    }
    if (origin.links.length >= maxLinks) break;
  }
  return origin;
}

/** Runs the handling of a batch in a span that continues its origin. Costs almost nothing while tracing is off. */
export async function withinSpan<Value>(
  operation: string,
  { parent, links }: Origin,
  attributes: Record<string, string | number>,
  run: () => Promise<Value>,
): Promise<Value> {
  const tracer = trace.getTracer('@lead-scoring/event-log');
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
