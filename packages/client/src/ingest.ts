// Sends events in gzipped batches, each with an Idempotency-Key, a few requests at a time.
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import {
  decodePosition,
  encodePosition,
  laterPosition,
  routeDeclarations,
  type RejectedEvent,
} from '@lead-scoring/contracts';
import { IngestFailed, RequestFailed, ServiceUnreachable } from './errors.js';
import type { Send } from './send.js';

export type EventToSend = routeDeclarations.IngestedEvent;

export interface IngestOptions {
  /** Events in a request, 1 to 5,000; default 1,000. */
  batchSize?: number;
  /** Requests at a time; default 2. With 1 the events are logged in the order given. */
  concurrency?: number;
  /** Accept the valid events and report the others. Default: one invalid event fails its batch. */
  partial?: boolean;
  /** The Idempotency-Key of the batch with this number, from 0. Default: random. Own keys make a run repeatable. */
  idempotencyKey?: (batch: number) => string;
  /** Called after each acknowledged batch. */
  onBatch?: (progress: IngestProgress) => void;
  /** Called before a batch is sent again. */
  onRetry?: (why: RequestFailed | ServiceUnreachable, waitMs: number) => void;
  signal?: AbortSignal;
}

/** The progress so far. */
export interface IngestProgress {
  batches: number;
  accepted: number;
  rejected: number;
}

export interface IngestResult {
  accepted: number;
  /** With `partial`: the rejected events, by their index among the given events. */
  rejected: RejectedEvent[];
  /** Ids of the accepted batches, for GET /event-stats, which counts their repeats once they are decided. */
  batches: string[];
  /** Number of accepted events in batches that an earlier run had sent under the same Idempotency-Key. */
  replayed: number;
  /** Position for `min_position`: a read with it sees all these events. Absent when nothing was sent. */
  position?: string;
}

interface Batch {
  number: number;
  firstIndex: number;
  events: string[];
}

/** Below the API's size limit, with room for one more event. */
const batchBytes = 5_000_000;
const compress = promisify(gzip);

export async function sendEvents(
  send: Send,
  events: Iterable<EventToSend> | AsyncIterable<EventToSend>,
  options: IngestOptions,
): Promise<IngestResult> {
  const batchSize = options.batchSize ?? 1_000;
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > routeDeclarations.intakeLimits.events)
    throw new Error(`batchSize must be a whole number from 1 to ${routeDeclarations.intakeLimits.events}`);
  const keyOf = options.idempotencyKey ?? (() => randomUUID());
  const result: IngestResult = { accepted: 0, rejected: [], batches: [], replayed: 0 };
  let acknowledged = 0;
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const failures: unknown[] = [];
  const batches = batchesOf(events, batchSize);

  const sendNext = async (): Promise<void> => {
    // The senders take batches from one generator, so each batch goes to one sender.
    for (
      let next = await batches.next();
      next.done !== true && !signal.aborted;
      next = await batches.next()
    ) {
      const batch = next.value;
      try {
        const request = {
          idempotencyKey: keyOf(batch.number),
          partial: options.partial === true,
          signal,
          ...(options.onRetry && { onRetry: options.onRetry }),
        };
        add(result, batch, await postEvents(send, batch.events, request));
      } catch (error) {
        if (error instanceof RequestFailed || error instanceof ServiceUnreachable)
          throw new IngestFailed(error, batch.firstIndex, result.accepted);
        throw error;
      }
      acknowledged += 1;
      options.onBatch?.({
        batches: acknowledged,
        accepted: result.accepted,
        rejected: result.rejected.length,
      });
    }
  };
  const senders = Array.from({ length: Math.max(1, options.concurrency ?? 2) }, () =>
    sendNext().catch((error: unknown) => {
      failures.push(error);
      stop.abort();
    }),
  );
  await Promise.all(senders);
  await batches.return(undefined);
  options.signal?.throwIfAborted();
  // The original error: an IngestFailed, or an error of the caller's iterable or callback.
  if (failures.length > 0) throw failures[0];
  result.rejected.sort((a, b) => a.index - b.index);
  return result;
}

/** The answer to a batch of events. */
export interface AcceptedBatch {
  batch_id: string;
  accepted: number;
  isReplayed: boolean;
  rejected?: RejectedEvent[];
  /** Absent when no event was accepted. */
  position?: string;
}

/** How a batch is sent. */
export interface BatchRequest {
  idempotencyKey: string;
  /** Whether the valid events are taken when others are not. */
  partial: boolean;
  signal: AbortSignal;
  onRetry?: (why: RequestFailed | ServiceUnreachable, waitMs: number) => void;
}

/**
 * Sends events to POST /ingest, gzipped when that is worth it.
 *
 * @param lines each event as JSON
 */
export async function postEvents(
  send: Send,
  lines: readonly string[],
  { idempotencyKey, partial, signal, onRetry }: BatchRequest,
): Promise<AcceptedBatch> {
  const text = `[${lines.join(',')}]`;
  const compressed = text.length > 1_000;
  const { body, isReplayed } = await send({
    method: 'POST',
    path: `/ingest${partial ? '?partial=true' : ''}`,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
      ...(compressed && { 'content-encoding': 'gzip' }),
    },
    body: compressed ? new Uint8Array(await compress(text, { level: constants.Z_BEST_SPEED })) : text,
    signal,
    ...(onRetry && { onRetry }),
  });
  return { ...(body as Omit<AcceptedBatch, 'isReplayed'>), isReplayed };
}

function add(result: IngestResult, batch: Batch, answer: AcceptedBatch): void {
  result.accepted += answer.accepted;
  for (const { index, errors } of answer.rejected ?? [])
    result.rejected.push({ index: batch.firstIndex + index, errors });
  // A batch without accepted events is not in the log.
  if (answer.position === undefined) return;
  if (answer.isReplayed) result.replayed += answer.accepted;
  else result.batches.push(answer.batch_id);
  const position = decodePosition(answer.position);
  const known = result.position === undefined ? null : decodePosition(result.position);
  result.position = position && known ? encodePosition(laterPosition(known, position)) : answer.position;
}

async function* batchesOf(
  events: Iterable<EventToSend> | AsyncIterable<EventToSend>,
  batchSize: number,
): AsyncGenerator<Batch, undefined> {
  let batch: Batch = { number: 0, firstIndex: 0, events: [] };
  let bytes = 0;
  for await (const event of events) {
    const text = JSON.stringify(event);
    const size = Buffer.byteLength(text) + 1;
    if (batch.events.length > 0 && (batch.events.length === batchSize || bytes + size > batchBytes)) {
      yield batch;
      batch = { number: batch.number + 1, firstIndex: batch.firstIndex + batch.events.length, events: [] };
      bytes = 0;
    }
    batch.events.push(text);
    bytes += size;
  }
  if (batch.events.length > 0) yield batch;
  return undefined;
}
