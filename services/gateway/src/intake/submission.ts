// Reads the events of one upload, checks them, groups them by partition, and passes them to the writer of the log.
import { validateEvents, type RejectedEvent } from '@lead-scoring/contracts';
import type { RecordPosition, RecordWriter } from '@lead-scoring/event-log';
import { ProblemError, requestIdOf } from '@lead-scoring/service';
import type { Request } from 'express';
import type { Caller } from '../credentials/authenticate.js';
import type { RequestQuotas } from '../quotas/request-quotas.js';
import { chunkRecords } from './chunks.js';
import { countOutcome, type CountEvents } from './event-metrics.js';
import type { SentBatch } from './read-events.js';

/** A request for intake, without its events. */
export interface Upload {
  req: Request;
  caller: Caller;
  ouId: string;
  /** Whether valid events are accepted when others are invalid. */
  isPartial: boolean;
  batchId: string;
  /** Whether it has an Idempotency-Key: repeats of it have the same `batchId`. */
  isRepeatable: boolean;
}

export interface Submission {
  /** Events that are valid. */
  accepted: number;
  rejected: readonly RejectedEvent[];
  /** Resolves once the log has acknowledged every valid event. @throws ProblemError 429 when a quota of events has no room for them */
  written: Promise<readonly RecordPosition[]>;
}

/** The events of an upload, which are read when they are submitted. */
export interface SentEvents {
  /** The size of the body that they are read from. */
  bytes: number;
  /** @throws ProblemError 400 when the body cannot be read as a batch of events */
  read: (receivedAt: string) => SentBatch;
  /** The problem answer for a batch that is refused because of invalid events. */
  refusal: (rejected: readonly RejectedEvent[], sent: number) => ProblemError;
}

export interface SubmissionDependencies {
  writer: RecordWriter;
  quotas: RequestQuotas;
  /** Counts what becomes of the events. */
  countEvents: CountEvents;
  partitionOf: (key: string) => number;
}

/** The errors that a problem answer lists at most. */
export const maximumErrors = 100;

/**
 * Does not wait for the log, so that the parsed events can be collected before the log answers.
 * @throws ProblemError when the body is not a batch of events, or has an invalid event and the upload is not partial: `refusal`
 */
export function submit(
  { req, caller, ouId, isPartial, batchId, isRepeatable }: Upload,
  { bytes, read, refusal }: SentEvents,
  { writer, quotas, countEvents, partitionOf }: SubmissionDependencies,
): Submission {
  const receivedAt = new Date().toISOString();
  const { events: sent, nameOf } = read(receivedAt);
  const { events, rejected: found } = validateEvents(sent, {
    ouId,
    receivedAt,
    repeatableBatchId: isRepeatable ? batchId : null,
  });
  const rejected = found.map(({ index, errors }) => ({
    index,
    errors: errors.map(({ path, message }) => ({ path: nameOf(path), message })),
  }));
  const isRefused = rejected.length > 0 && !isPartial;
  countEvents('invalid', isRefused ? sent.length : rejected.length);
  if (isRefused) throw refusal(rejected, sent.length);
  const chunks = chunkRecords(
    {
      ouId,
      batchId,
      source: 'ingest',
      fireTriggers: true,
      receivedAt,
      events,
      // An event grows by its ids.
      estimatedBytes: bytes + 200 * events.length,
      headers: { id: batchId, ou: ouId, actor: caller.actor, 'correlation-id': requestIdOf(req) },
    },
    partitionOf,
  );
  const written = countOutcome(
    quotas.take(caller, 'events', events.length, req.res).then(() => writer.write(chunks)),
    (outcome) => {
      countEvents(outcome, events.length);
    },
  );
  return { accepted: events.length, rejected, written };
}

/** 400 with index and reason of the first hundred problems. */
export function invalidEvents(rejected: readonly RejectedEvent[], sent: number): ProblemError {
  const errors = rejected
    .slice(0, maximumErrors)
    .flatMap(({ index, errors: problems }) =>
      problems.map(({ path, message }) => ({
        path: path === '' ? `body.events[${String(index)}]` : `body.events[${String(index)}].${path}`,
        message,
      })),
    )
    .slice(0, maximumErrors);
  const [first] = errors;
  return new ProblemError(
    400,
    'invalid_request',
    `${String(rejected.length)} of ${String(sent)} events are not valid, so none was accepted; ${first ? `the first: ${first.path} ${first.message}. ` : ''}Correct them, or send with partial=true to have the valid ones accepted.`,
    { errors },
  );
}
