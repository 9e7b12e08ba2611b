// POST /v1/track and its like: takes messages of Segment's clients as POST /ingest takes events, and answers as these clients expect.
import { routeDeclarations, type RejectedEvent, type RouteDeclaration } from '@lead-scoring/contracts';
import { decodeUtf8, parseJson, ProblemError, type Body } from '@lead-scoring/service';
import type { Request } from 'express';
import { asLogProblem } from '../edge/log-problem.js';
import type { GatewayRequest } from '../edge/request.js';
import type { Answer } from '../idempotency/write-claim.js';
import type { Holding } from '../intake/bytes-in-flight.js';
import {
  positionOf,
  readInto,
  refuseLoop,
  senderOf,
  takeOnce,
  type IntakeDependencies,
} from '../intake/handler.js';
import { maximumErrors, submit, type Upload } from '../intake/submission.js';
import { pathInMessage } from './event-of-message.js';
import { messagesIn } from './read-messages.js';

const declarations = routeDeclarations;
type SegmentType = routeDeclarations.SegmentType;

/** The routes, and the type of the message that each takes; null: a batch. */
export const segmentRoutes: readonly (readonly [RouteDeclaration, SegmentType | null])[] = [
  [declarations.sendSegmentTrack, 'track'],
  [declarations.sendSegmentIdentify, 'identify'],
  [declarations.sendSegmentPage, 'page'],
  [declarations.sendSegmentScreen, 'screen'],
  [declarations.sendSegmentGroup, 'group'],
  [declarations.sendSegmentAlias, 'alias'],
  [declarations.sendSegmentBatch, null],
];

/** The handler of one of these routes. */
export function createSegmentHandler(
  route: RouteDeclaration,
  type: SegmentType | null,
  dependencies: IntakeDependencies,
): (req: Request, ouId: string) => Promise<Answer> {
  const { bytesInFlight, leastRate } = dependencies;
  const types = route.bodyTypes ?? [];
  return async (req, ouId) => {
    refuseLoop(req);
    const { id: batchId, ...sender } = senderOf(req, route.name);
    // An Idempotency-Key promises that a refused write has changed nothing.
    const upload: Upload = { req, ouId, batchId, isPartial: !sender.isRepeatable, ...sender };
    const room = bytesInFlight.open(upload.caller);
    try {
      const body = keyedBodyOf(req, room) ?? (await readInto(room, { req, types, leastRate }));
      const write = { id: batchId, isRepeatable: sender.isRepeatable, req, ouId, body };
      return await takeOnce(write, dependencies, () => accept(upload, type, body, dependencies));
    } finally {
      room.release();
    }
  };
}

/** The body that was read for its write key; its bytes now count as the caller's. */
function keyedBodyOf(req: GatewayRequest, room: Holding): Body | undefined {
  const { keyed } = req;
  if (!keyed) return undefined;
  room.add(keyed.body.bytes.length);
  keyed.holding.release();
  return keyed.body;
}

/**
 * Resolves with 200 once the log has every message.
 * @throws ProblemError 400 when some messages are not valid: then the log has the others, unless there is an Idempotency-Key
 */
async function accept(
  upload: Upload,
  type: SegmentType | null,
  body: Body,
  dependencies: IntakeDependencies,
): Promise<Answer> {
  const { accepted, rejected, written } = submit(
    upload,
    {
      bytes: body.bytes.length,
      read: (receivedAt) => ({
        // The nesting depth is checked later for each message, where the error can name the message.
        events: messagesIn(parseJson(decodeUtf8(body.bytes), { maximumDepth: Infinity }), type, receivedAt),
        nameOf: pathInMessage,
      }),
      refusal: (found) => invalidMessages(found, 0, type),
    },
    dependencies,
  );
  const positions = await written.catch((error: unknown) => {
    throw asLogProblem(error, upload.batchId);
  });
  if (rejected.length > 0) throw invalidMessages(rejected, accepted, type);
  return {
    status: 200,
    body: JSON.stringify({
      success: true,
      accepted,
      batch_id: upload.batchId,
      position: positionOf(positions),
    }),
  };
}

/** 400 with the place and reason of the first hundred problems. */
function invalidMessages(
  rejected: readonly RejectedEvent[],
  taken: number,
  type: SegmentType | null,
): ProblemError {
  const errors = rejected
    .slice(0, maximumErrors)
    .flatMap(({ index, errors: problems }) =>
      problems.map(({ path, message }) => {
        const at = type === null ? `body.batch[${String(index)}]` : 'body';
        return { path: path === '' ? at : `${at}.${path}`, message };
      }),
    )
    .slice(0, maximumErrors);
  const [first] = errors;
  const reason = first ? ` The first problem: ${first.path} ${first.message}.` : '';
  const sent = rejected.length + taken;
  const outcome =
    type !== null
      ? 'The message is not valid.'
      : taken === 0
        ? `${String(rejected.length)} of ${String(sent)} messages are not valid, and none was taken.`
        : `${String(rejected.length)} of ${String(sent)} messages are not valid; the other ${String(taken)} were taken, and count once if they come again with the same messageId.`;
  return new ProblemError(400, 'invalid_request', `${outcome}${reason}`, { errors });
}
