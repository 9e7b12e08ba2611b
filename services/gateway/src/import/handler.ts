// POST /import: historical events, as a job. NDJSON and CSV with partial=true are read as they arrive, at any size; other bodies are read
// whole, within the limits of POST /ingest, and taken whole or not at all.
import { randomUUID } from 'node:crypto';
import { eventsOfJson, routeDeclarations, validateEvents } from '@lead-scoring/contracts';
import type { Requester } from '@lead-scoring/event-log';
import {
  decodeUtf8,
  parseJson,
  parseOrProblem,
  parseQuery,
  ProblemError,
  readBodyParts,
  requestIdOf,
  type Body,
} from '@lead-scoring/service';
import type { Request } from 'express';
import type { Caller } from '../credentials/authenticate.js';
import { actorOf } from '../edge/request.js';
import {
  readInto,
  refuseLoop,
  senderOf,
  takeOnce,
  type IntakeDependencies,
  type RepeatableAnswer,
} from '../intake/handler.js';
import { noBatch } from '../intake/read-events.js';
import { invalidEvents } from '../intake/submission.js';
import { ImportJob } from './job.js';
import { partsOf } from './parts.js';
import { csvRows, ndjsonRows, textOf, type SentRow } from './rows.js';
import { answerTo, digestOf, ImportRun } from './upload.js';

export interface ImportHandlerDependencies extends IntakeDependencies {
  requester: Requester;
  replyTimeoutMs: number;
}

const { importEvents: route, intakeLimits } = routeDeclarations;
/** The memory of a streamed upload: the parts that are being written, and the row that is being read. */
const streamBytes = 5_000_000;

interface Import {
  req: Request;
  caller: Caller;
  ouId: string;
  jobId: string;
  isPartial: boolean;
  isRepeatable: boolean;
  fireTriggers: boolean;
}

export function createImportHandler(
  dependencies: ImportHandlerDependencies,
): (req: Request, ouId: string) => Promise<RepeatableAnswer> {
  return async (req, ouId) => {
    refuseLoop(req);
    const sent = importOf(req, ouId);
    const room = dependencies.bytesInFlight.open(sent.caller);
    try {
      const rowsIn = sent.isPartial ? rowReaders[mediaTypeOf(req)] : undefined;
      if (rowsIn) {
        room.add(streamBytes);
        return await takeStream(sent, rowsIn, dependencies);
      }
      const { leastRate } = dependencies;
      const body = await readInto(room, { req, types: route.bodyTypes, leastRate }).catch(withAdvice);
      return await takeWhole(sent, body, dependencies);
    } finally {
      room.release();
    }
  };
}

/** @throws ProblemError 400 when the query or the Idempotency-Key is not as declared */
function importOf(req: Request, ouId: string): Import {
  const { partial, skip_triggers } = parseOrProblem(route.query, parseQuery(req.url), 'query');
  const { id: jobId, ...sender } = senderOf(req, route.name);
  const fireTriggers = skip_triggers === 'false';
  return { req, ouId, jobId, isPartial: partial === 'true', fireTriggers, ...sender };
}

type RowsIn = (texts: AsyncIterable<string>) => AsyncIterable<readonly SentRow[]>;
const rowReaders: Readonly<Record<string, RowsIn | undefined>> = {
  'application/x-ndjson': ndjsonRows,
  'text/csv': csvRows,
};

export function mediaTypeOf(req: Request): string {
  return (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

async function takeStream(
  sent: Import,
  rowsIn: RowsIn,
  dependencies: ImportHandlerDependencies,
): Promise<RepeatableAnswer> {
  const { req, ouId } = sent;
  const { leastRate } = dependencies;
  const { type, parts } = readBodyParts(req, { types: route.bodyTypes, leastRate });
  const digest = digestOf([ouId, req.url, type]);
  const digested = async function* () {
    for await (const part of parts) {
      digest.update(part);
      yield part;
    }
  };
  try {
    return await take(sent, partsOf(rowsIn(textOf(digested()))), () => digest.digest('hex'), dependencies);
  } catch (error) {
    throw req.complete ? error : closing(error);
  }
}

async function takeWhole(
  sent: Import,
  body: Body,
  dependencies: ImportHandlerDependencies,
): Promise<RepeatableAnswer> {
  const { req, ouId, jobId, isRepeatable } = sent;
  const { type, bytes } = body;
  const rows = await rowsOfBody(type, decodeUtf8(bytes));
  if (!sent.isPartial) refuseInvalid(sent, rows);
  const digest = () => digestOf([ouId, req.url, type]).update(bytes).digest('hex');
  return takeOnce({ id: jobId, isRepeatable, req, ouId, body }, dependencies, () =>
    take(sent, partsOf(once(rows)), digest, dependencies),
  );
}

/** @throws ProblemError 400 when the body is not a batch of events */
async function rowsOfBody(type: string, text: string): Promise<SentRow[]> {
  const rows: SentRow[] = [];
  const rowsIn = rowReaders[type];
  if (rowsIn) for await (const more of rowsIn(once(text))) rows.push(...more);
  else {
    // The nesting depth is checked later for each event, where the error can name the event.
    const events = eventsOfJson(parseJson(text, { maximumDepth: Infinity }));
    if (!Array.isArray(events)) throw noBatch(events);
    const bytes = text.length / events.length;
    rows.push(...events.map((event, index) => ({ row: index + 1, event, bytes })));
  }
  if (rows.length === 0) throw empty();
  if (rows.length > intakeLimits.events) throw tooMany();
  return rows;
}

/** @throws ProblemError 400 when an event is invalid: then none is taken */
function refuseInvalid({ ouId }: Import, rows: readonly SentRow[]): void {
  const events = rows.map(({ event }) => event);
  const context = { ouId, receivedAt: new Date().toISOString(), repeatableBatchId: null };
  const { rejected } = validateEvents(events, context);
  if (rejected.length > 0) throw invalidEvents(rejected, rows.length);
}

/** Takes the parts, and resolves with 202 once the log has all of them. */
async function take(
  { req, caller, ouId, jobId, isPartial, isRepeatable, fireTriggers }: Import,
  parts: AsyncIterable<readonly SentRow[]>,
  digest: () => string,
  dependencies: ImportHandlerDependencies,
): Promise<RepeatableAnswer> {
  const common = { ou: ouId, actor: caller.actor };
  const job = new ImportJob({
    requester: dependencies.requester,
    replyTimeoutMs: dependencies.replyTimeoutMs,
    jobId,
    ouId,
    uploadId: randomUUID(),
    by: actorOf(req),
    headers: common,
  });
  const headers = { ...common, id: jobId, 'correlation-id': requestIdOf(req) };
  const takeFromQuotas = (events: number) => dependencies.quotas.take(caller, 'events', events);
  const upload = { jobId, ouId, fireTriggers, isRepeatable, headers, takeFromQuotas };
  const run = new ImportRun(upload, job, dependencies);
  try {
    let rows = 0;
    for await (const part of parts) {
      await run.take(part);
      rows += part.length;
    }
    if (rows === 0) throw empty();
    return answerTo(await run.complete(digest()), { jobId, isPartial });
  } catch (error) {
    await run.fail(error);
    throw error;
  }
}

async function* once<One>(one: One): AsyncGenerator<One> {
  yield await Promise.resolve(one);
}

function empty(): ProblemError {
  return noBatch({
    code: 'invalid_request',
    errors: [{ path: '', message: 'must hold at least one event' }],
  });
}

const anySize = 'Send NDJSON or CSV with partial=true: of these a body may have any size.';

function tooMany(): ProblemError {
  const message = `must hold at most ${String(intakeLimits.events)} events`;
  return new ProblemError(400, 'invalid_request', `body ${message}. ${anySize}`, {
    errors: [{ path: 'body', message }],
  });
}

function withAdvice(error: unknown): never {
  if (error instanceof ProblemError && error.status === 413)
    throw new ProblemError(
      413,
      error.code,
      `The body must be at most ${String(intakeLimits.bytes)} bytes, also after decompression. ${anySize}`,
    );
  throw error;
}

/** The rest of a large upload is not read: its connection ends with the answer. */
export function closing(error: unknown): unknown {
  if (!(error instanceof ProblemError)) return error;
  return new ProblemError(error.status, error.code, error.detail, {
    ...(error.errors && { errors: error.errors }),
    headers: { ...error.headers, Connection: 'close' },
    cause: error,
  });
}
