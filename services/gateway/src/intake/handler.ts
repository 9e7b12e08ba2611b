// POST /ingest and /import, the hot path: read, check, group by partition, write, and answer 202 once the log has
// acknowledged every event.
import {
  deliveryHeader,
  encodePosition,
  routeDeclarations,
  validateEvents,
  type RejectedEvent,
  type RouteDeclaration,
} from '@lead-scoring/contracts';
import type { RecordPosition, RecordWriter } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  parseOrProblem,
  parseQuery,
  ProblemError,
  readBody,
  requestIdOf,
  type LeastRate,
} from '@lead-scoring/service';
import type { Request } from 'express';
import type { DatabaseGate } from '../database-gate.js';
import { asLogProblem } from '../edge/log-problem.js';
import { callerOf, headerOf } from '../edge/request.js';
import { performOnce, type Answer } from '../idempotency/answers.js';
import { idempotencyKeyOf, writeId } from '../idempotency/key.js';
import { problem } from '../problem.js';
import type { BytesInFlight } from './bytes-in-flight.js';
import { chunksOf } from './chunks.js';
import { eventsOf } from './read-events.js';

export interface IntakeDependencies {
  writer: RecordWriter;
  partitionOf: (key: string) => number;
  bytesInFlight: BytesInFlight;
  /** The least that an upload must bring. */
  leastRate: LeastRate;
  readModel: ReadModel;
  gate: DatabaseGate;
}

type IntakeRoute = typeof routeDeclarations.ingest | typeof routeDeclarations.importEvents;
const { intakeLimits } = routeDeclarations;
const maximumErrors = 100;

export function createIntakeHandler(
  route: IntakeRoute,
  { writer, partitionOf, bytesInFlight, leastRate, readModel, gate }: IntakeDependencies,
): (req: Request, ouId: string) => Promise<Answer> {
  return async (req, ouId) => {
    refuseLoop(req);
    const { partial, skip_triggers = 'false' } = parseOrProblem(
      route.query,
      parseQuery(req.url),
      'query',
    ) as {
      partial: 'true' | 'false';
      skip_triggers?: 'true' | 'false';
    };
    const caller = callerOf(req);
    const key = idempotencyKeyOf(headerOf(req, 'idempotency-key'));
    const batchId = writeId(caller.credentialId, route.name, key);
    const room = bytesInFlight.open(caller);
    try {
      const body = await readBody(req, {
        maximumBytes: intakeLimits.bytes,
        types: bodyTypesOf(route),
        leastRate,
        onHeld: (bytes) => {
          room.add(bytes);
        },
      });
      room.shrinkTo(body.bytes.length);
      // Apart from waiting for the log: the parsed events are let go before it answers.
      const submit = () => {
        const receivedAt = new Date().toISOString();
        const sent = eventsOf(body);
        const { events, rejected } = validateEvents(sent, {
          ouId,
          receivedAt,
          repeatableBatchId: key === null ? null : batchId,
        });
        if (rejected.length > 0 && partial === 'false') throw notTaken(rejected, sent.length);
        const chunks = chunksOf(
          {
            ouId,
            batchId,
            source: route.name === 'ingest' ? 'ingest' : 'import',
            fireTriggers: skip_triggers === 'false',
            receivedAt,
            events,
            // Beside its own fields an event carries ids; a CSV row also the names of its columns.
            estimatedBytes: body.type === 'text/csv' ? Infinity : body.bytes.length + 200 * events.length,
            headers: { id: batchId, ou: ouId, actor: caller.actor, 'correlation-id': requestIdOf(req) },
          },
          partitionOf,
        );
        return { accepted: events.length, rejected, written: writer.write(chunks) };
      };
      const perform = async (): Promise<Answer> => {
        const { accepted, rejected, written } = submit();
        const positions = await written.catch((error: unknown) => {
          throw asLogProblem(error, batchId);
        });
        return {
          status: 202,
          body: JSON.stringify({
            ...(route.name === 'importEvents' && { job_id: batchId }),
            accepted,
            ...(partial === 'true' && { rejected }),
            batch_id: batchId,
            ...(positions.length > 0 && { position: positionOf(positions) }),
          }),
        };
      };
      if (key === null) return await perform();
      return await performOnce(
        { readModel, gate },
        {
          id: batchId,
          request: [ouId, req.url, body.type, body.bytes],
          keepAnswer: true,
          worksWithoutStore: true,
          perform,
        },
      );
    } finally {
      room.release();
    }
  };
}

/** Whoever sends a notification here would cause the next. */
function refuseLoop(req: Request): void {
  const delivery = headerOf(req, deliveryHeader);
  if (delivery === undefined) return;
  throw problem(
    'delivery_loop',
    `This is a notification of this system (${deliveryHeader}), sent back to it as an event: it would cause itself for ever. Give the webhook channel another address.`,
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

/** 400 with index and reason of the first hundred problems. */
function notTaken(rejected: readonly RejectedEvent[], sent: number): ProblemError {
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
    `${String(rejected.length)} of ${String(sent)} events are not valid and none was taken; ${first ? `the first: ${first.path} ${first.message}. ` : ''}Correct them, or send with partial=true to have the others taken.`,
    { errors },
  );
}
