// Reads the messages of a body that a client of Segment's tracking API has sent, and the write key in it.
import { routeDeclarations, unreadableBatch, type SentEvent } from '@lead-scoring/contracts';
import { parseJson, parseOrErrors, parseOrProblem } from '@lead-scoring/service';
import { noBatch } from '../intake/read-events.js';
import { clockSkewMs } from './clock-skew.js';
import { eventOfMessage } from './event-of-message.js';

const { segmentBodies, segmentEnvelope, segmentMessages, segmentTypes } = routeDeclarations;
type SegmentType = routeDeclarations.SegmentType;

/**
 * The events of a parsed body.
 * @param type of the only message, which the path of the request names; null: the body is a batch
 * @throws ProblemError 400 when the body is no batch
 */
export function messagesIn(body: unknown, type: SegmentType | null, receivedAt: string): SentEvent[] {
  if (type !== null) return [messageOf(body, type, { receivedAt })];
  // What is wrong with the list is said in the words of every batch.
  if (isObject(body) && Array.isArray(body.batch) && body.batch.length === 0)
    throw noBatch(unreadableBatch('batch', 'must hold at least one message'));
  const { batch, sentAt, context } = parseOrProblem(segmentEnvelope, body, 'body');
  const skewMs = sentAt == null ? null : clockSkewMs(sentAt, receivedAt);
  return batch.map((message) =>
    messageOf(message, typeOf(message), { receivedAt, isInBatch: true, skewMs, context }),
  );
}

/** What the request says about a message. */
interface Surroundings {
  receivedAt: string;
  isInBatch?: boolean;
  /** By the time at which the batch was sent; null: the batch does not say it. */
  skewMs?: number | null;
  context?: object | null | undefined;
}

function messageOf(
  sent: unknown,
  type: SegmentType | null,
  { receivedAt, isInBatch = false, skewMs = null, context }: Surroundings,
): SentEvent {
  if (!isObject(sent)) return { problems: [{ path: '', message: 'must be an object' }] };
  if (type === null)
    return {
      problems: [
        {
          path: 'type',
          message: sent.type === undefined ? 'is required' : `must be one of ${segmentTypes.join(', ')}`,
        },
      ],
    };
  const parsed = parseOrErrors(isInBatch ? segmentMessages[type] : segmentBodies[type], sent, 'body');
  if ('errors' in parsed)
    return {
      problems: parsed.errors.map(({ path, message }) => ({ path: path.replace(/^body\.?/, ''), message })),
    };
  const { data: message } = parsed;
  return eventOfMessage(
    type,
    { ...message, context: { ...context, ...message.context } },
    skewMs ?? (message.sentAt == null ? null : clockSkewMs(message.sentAt, receivedAt)),
  );
}

function typeOf(message: unknown): SegmentType | null {
  const named = isObject(message) ? message.type : undefined;
  return segmentTypes.find((type) => type === named) ?? null;
}

/**
 * The write key in the text of a body; undefined where there is none.
 * @throws ProblemError 400 when the text is not JSON
 */
export function writeKeyIn(text: string): string | undefined {
  const body = parseJson(text, { maximumDepth: Infinity });
  const key = isObject(body) ? body.writeKey : undefined;
  return typeof key === 'string' && key !== '' ? key : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
