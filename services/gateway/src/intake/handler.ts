// POST /ingest and /import, the hot path: read, check, group by partition, write, and answer 202 once the log has
// acknowledged every event.
import {
  deliveryHeader,
  encodePosition,
  routeDeclarations,
  type RouteDeclaration,
} from '@lead-scoring/contracts';
import type { RecordPosition } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import { parseOrProblem, parseQuery, readBody, type Body, type LeastRate } from '@lead-scoring/service';
import type { Request } from 'express';
import type { DatabaseGate } from '../database-gate.js';
import { asLogProblem } from '../edge/log-problem.js';
import { callerOf, headerOf } from '../edge/request.js';
import { performOnce } from '../idempotency/answers.js';
import { idempotencyKeyOf, writeId } from '../idempotency/key.js';
import type { Answer } from '../idempotency/write-claim.js';
import { problem } from '../problem.js';
import type { BytesInFlight, Holding } from './bytes-in-flight.js';
import { submit, type SubmissionDependencies, type Upload } from './submission.js';

export interface IntakeDependencies extends SubmissionDependencies {
  bytesInFlight: BytesInFlight;
  /** The slowest allowed upload. */
  leastRate: LeastRate;
  readModel: ReadModel;
  gate: DatabaseGate;
}

type IntakeRoute = typeof routeDeclarations.ingest | typeof routeDeclarations.importEvents;
const { intakeLimits } = routeDeclarations;

export function createIntakeHandler(
  route: IntakeRoute,
  dependencies: IntakeDependencies,
): (req: Request, ouId: string) => Promise<Answer> {
  const { bytesInFlight, leastRate } = dependencies;
  return async (req, ouId) => {
    refuseLoop(req);
    const upload = uploadOf(route, req, ouId);
    const room = bytesInFlight.open(upload.caller);
    try {
      const body = await readInto(room, { req, types: bodyTypesOf(route), leastRate });
      const perform = () => accept(upload, body, dependencies);
      if (!upload.isRepeatable) return await perform();
      return await performOnce(dependencies, {
        id: upload.batchId,
        request: [ouId, req.url, body.type, body.bytes],
        keepAnswer: true,
        worksWithoutStore: true,
        perform,
      });
    } finally {
      room.release();
    }
  };
}

/** @throws ProblemError 400 when the query or the Idempotency-Key is not as declared */
function uploadOf(route: IntakeRoute, req: Request, ouId: string): Upload {
  const { partial, skip_triggers = 'false' } = parseOrProblem(route.query, parseQuery(req.url), 'query') as {
    partial: 'true' | 'false';
    skip_triggers?: 'true' | 'false';
  };
  const caller = callerOf(req);
  const key = idempotencyKeyOf(headerOf(req, 'idempotency-key'));
  return {
    req,
    caller,
    ouId,
    source: route.name === 'ingest' ? 'ingest' : 'import',
    isPartial: partial === 'true',
    fireTriggers: skip_triggers === 'false',
    batchId: writeId(caller.credentialId, route.name, key),
    isRepeatable: key !== null,
  };
}

/** Reads the body; the holding counts its bytes as they arrive. */
async function readInto(
  room: Holding,
  { req, types, leastRate }: { req: Request; types: readonly string[]; leastRate: LeastRate },
): Promise<Body> {
  const body = await readBody(req, {
    maximumBytes: intakeLimits.bytes,
    types,
    leastRate,
    onHeld: (bytes) => {
      room.add(bytes);
    },
  });
  room.shrinkTo(body.bytes.length);
  return body;
}

/** Resolves with 202 once the log has every event that was accepted. */
async function accept(upload: Upload, body: Body, dependencies: SubmissionDependencies): Promise<Answer> {
  const { accepted, rejected, written } = submit(upload, body, dependencies);
  const positions = await written.catch((error: unknown) => {
    throw asLogProblem(error, upload.batchId);
  });
  return {
    status: 202,
    body: JSON.stringify({
      ...(upload.source === 'import' && { job_id: upload.batchId }),
      accepted,
      ...(upload.isPartial && { rejected }),
      batch_id: upload.batchId,
      ...(positions.length > 0 && { position: positionOf(positions) }),
    }),
  };
}

/** Refuses a notification of this system that was sent back to it as an event: it would cause the next notification. */
function refuseLoop(req: Request): void {
  const delivery = headerOf(req, deliveryHeader);
  if (delivery === undefined) return;
  throw problem(
    'delivery_loop',
    `This is a notification of this system (${deliveryHeader}), sent back to it as an event, which would cause notifications in an endless loop. Give the webhook channel another address.`,
  );
}

function bodyTypesOf(route: RouteDeclaration): readonly string[] {
  return route.bodyTypes ?? ['application/json'];
}

function positionOf(positions: readonly RecordPosition[]): string {
  const last = new Map<number, bigint>();
  for (const { partition, offset } of positions)
    if (offset >= (last.get(partition) ?? 0n)) last.set(partition, offset);
  return encodePosition(last);
}
