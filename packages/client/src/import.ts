// Sends historical events as one upload to POST /import.
import { randomUUID } from 'node:crypto';
import type { RejectedEvent } from '@lead-scoring/contracts';
import type { EventToSend, IngestResult } from './ingest.js';
import type { Upload } from './upload.js';

export interface ImportOptions {
  /** Default: random. An own key, with the same events, makes an import repeatable. */
  idempotencyKey?: string;
  /** Called while the events are sent. */
  onProgress?: (progress: ImportProgress) => void;
  signal?: AbortSignal;
}

export interface ImportProgress {
  /** Events that were given to the connection. */
  sent: number;
}

export interface ImportResult extends IngestResult {
  /** Number of events that are not valid. `rejected` has the first of them. */
  failed: number;
  /** The import's job, for GET /jobs/{id}; absent when there was no event. */
  job?: string;
}

interface Answer {
  job_id: string;
  accepted: number;
  rejected: RejectedEvent[];
  failed: number;
  batch_id: string;
  position?: string;
}

/** Characters that are compressed at a time. */
const partLength = 64_000;

export async function importEvents(
  upload: Upload,
  events: Iterable<EventToSend> | AsyncIterable<EventToSend>,
  { idempotencyKey = randomUUID(), onProgress, signal }: ImportOptions,
): Promise<ImportResult> {
  const parts = linesOf(events, onProgress);
  // Nothing is sent before there is an event: a slow source would cost the connection.
  const first = await parts.next();
  if (first.done === true) return { accepted: 0, rejected: [], batches: [], replayed: 0, failed: 0 };
  const { body, isReplayed } = await upload({
    path: '/import?partial=true',
    headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': idempotencyKey },
    parts: (async function* () {
      yield first.value;
      yield* parts;
    })(),
    signal,
  });
  const { accepted, rejected, failed, batch_id, job_id: job, position } = body as Answer;
  return {
    accepted,
    rejected,
    failed,
    job,
    batches: isReplayed || position === undefined ? [] : [batch_id],
    replayed: isReplayed ? accepted : 0,
    ...(position !== undefined && { position }),
  };
}

/** One line for each event, many lines a part. */
async function* linesOf(
  events: Iterable<EventToSend> | AsyncIterable<EventToSend>,
  onProgress: ImportOptions['onProgress'],
): AsyncGenerator<string, undefined> {
  let text = '';
  let sent = 0;
  for await (const event of events) {
    text += `${JSON.stringify(event)}\n`;
    sent += 1;
    if (text.length < partLength) continue;
    yield text;
    text = '';
    onProgress?.({ sent });
  }
  if (text !== '') yield text;
  onProgress?.({ sent });
  return undefined;
}
