// POST /ingest, the hot path: read, check, group by partition, write, and answer 202 once the log has
// acknowledged every event.
import { deliveryHeader, encodePosition, routeDeclarations } from '@lead-scoring/contracts';
import type { RecordPosition } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  hasBody,
  parseOrProblem,
  parseQuery,
  readBody,
  type Body,
  type LeastRate,
} from '@lead-scoring/service';
import type { Request } from 'express';
import type { DatabaseGate } from '../database-gate.js';
import { asLogProblem } from '../edge/log-problem.js';
import type { Caller } from '../credentials/authenticate.js';
import { callerOf, headerOf } from '../edge/request.js';
import { performOnce } from '../idempotency/answers.js';
import { idempotencyKeyOf, writeId } from '../idempotency/key.js';
import type { Answer } from '../idempotency/write-claim.js';
import { problem } from '../problem.js';
import type { BytesInFlight, Holding } from './bytes-in-flight.js';
import { binaryAttributes, isBinaryCloudEvent } from './cloud-events.js';
import { batchOf } from './read-events.js';
import { invalidEvents, submit, type SubmissionDependencies, type Upload } from './submission.js';

/** An answer, and whether it was kept from the first write. */
export type RepeatableAnswer = Answer & { repeated?: boolean };

export interface IntakeDependencies extends SubmissionDependencies {
  bytesInFlight: BytesInFlight;
  /** The slowest allowed upload. */
  leastRate: LeastRate;
  readModel: ReadModel;
  gate: DatabaseGate;
}

const { ingest: route, intakeLimits } = routeDeclarations;
const types = route.bodyTypes;

export function createIntakeHandler(
  dependencies: IntakeDependencies,
): (req: Request, ouId: string) => Promise<Answer> {
  const { bytesInFlight, leastRate } = dependencies;
  return async (req, ouId) => {
    refuseLoop(req);
    const upload = uploadOf(req, ouId);
    const room = bytesInFlight.open(upload.caller);
    try {
      const body = isBinaryCloudEvent(req.headers)
        ? await readData(room, { req, leastRate })
        : await readInto(room, { req, types, leastRate });
      const write = { id: upload.batchId, isRepeatable: upload.isRepeatable, req, ouId, body };
      return await takeOnce(write, dependencies, () => accept(upload, body, dependencies));
    } finally {
      room.release();
    }
  };
}

/** @throws ProblemError 400 when the query or the Idempotency-Key is not as declared */
function uploadOf(req: Request, ouId: string): Upload {
  const { partial } = parseOrProblem(route.query, parseQuery(req.url), 'query');
  const { id: batchId, ...sender } = senderOf(req, route.name);
  return { req, ouId, isPartial: partial === 'true', batchId, ...sender };
}

/**
 * Who sends a body, and the id of the write, which a repeat with the same Idempotency-Key has too.
 * @throws ProblemError 400 when the Idempotency-Key is not as declared
 */
export function senderOf(
  req: Request,
  routeName: string,
): { caller: Caller; id: string; isRepeatable: boolean } {
  const caller = callerOf(req);
  const key = idempotencyKeyOf(headerOf(req, 'idempotency-key'));
  return { caller, id: writeId(caller.credentialId, routeName, key), isRepeatable: key !== null };
}

/** A body that was read whole, and the write that it is. */
export interface WholeWrite {
  id: string;
  /** Whether it has an Idempotency-Key: repeats of it have the same id. */
  isRepeatable: boolean;
  req: Request;
  ouId: string;
  body: Body;
}

/** Takes a body that was read whole; a repeat of it gets the answer that was kept. */
export function takeOnce(
  { id, isRepeatable, req, ouId, body }: WholeWrite,
  dependencies: Pick<IntakeDependencies, 'readModel' | 'gate'>,
  perform: () => Promise<RepeatableAnswer>,
): Promise<RepeatableAnswer> {
  if (!isRepeatable) return perform();
  return performOnce(dependencies, {
    id,
    request: [ouId, req.url, body.type, ...binaryAttributes(req.headers), body.bytes],
    keepAnswer: true,
    worksWithoutStore: true,
    perform,
  });
}

export interface Reading {
  req: Request;
  /** The media types that the body may have. */
  types: readonly string[];
  leastRate: LeastRate;
  /** Default: that of POST /ingest. */
  maximumBytes?: number;
}

/** Reads the body; the holding counts its bytes as they arrive. */
export async function readInto(
  room: Holding,
  { req, types, leastRate, maximumBytes = intakeLimits.bytes }: Reading,
): Promise<Body> {
  const body = await readBody(req, {
    maximumBytes,
    types,
    leastRate,
    onHeld: (bytes) => {
      room.add(bytes);
    },
  });
  room.shrinkTo(body.bytes.length);
  return body;
}

/** The body of a CloudEvent in binary mode: its data, or nothing. Some clients send JSON without its media type. */
function readData(room: Holding, { req, leastRate }: { req: Request; leastRate: LeastRate }): Promise<Body> {
  const types = [req.headers['content-type'] === undefined ? '' : 'application/json'];
  if (!hasBody(req)) return Promise.resolve({ type: '', bytes: Buffer.alloc(0) });
  return readInto(room, { req, types, leastRate });
}

/** Resolves with 202 once the log has every event that was accepted. */
async function accept(upload: Upload, body: Body, dependencies: SubmissionDependencies): Promise<Answer> {
  const { accepted, rejected, written } = submit(
    upload,
    {
      bytes: body.bytes.length,
      read: () => batchOf(body, upload.req.headers),
      refusal: invalidEvents,
    },
    dependencies,
  );
  const positions = await written.catch((error: unknown) => {
    throw asLogProblem(error, upload.batchId);
  });
  return {
    status: 202,
    body: JSON.stringify({
      accepted,
      ...(upload.isPartial && { rejected }),
      batch_id: upload.batchId,
      ...(positions.length > 0 && { position: positionOf(positions) }),
    }),
  };
}

/** Refuses a notification of this system that was sent back to it as an event: it would cause the next notification. */
export function refuseLoop(req: Request): void {
  const delivery = headerOf(req, deliveryHeader);
  if (delivery === undefined) return;
  throw problem(
    'delivery_loop',
    `This is a notification of this system (${deliveryHeader}), sent back to it as an event, which would cause notifications in an endless loop. Give the webhook channel another address.`,
  );
}

/** The mark in the log that these positions have reached. */
export function positionOf(positions: readonly RecordPosition[]): string {
  const last = new Map<number, bigint>();
  reach(last, positions);
  return encodePosition(last);
}

/** Moves the last offset of each partition up to these. */
export function reach(last: Map<number, bigint>, written: readonly RecordPosition[]): void {
  for (const { partition, offset } of written)
    if (offset >= (last.get(partition) ?? 0n)) last.set(partition, offset);
}
