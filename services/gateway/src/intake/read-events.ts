// Reads the events of a body in any of the declared media types.
import type { IncomingHttpHeaders } from 'node:http';
import {
  eventsOfJson,
  eventsOfNdjson,
  routeDeclarations,
  type SentEvent,
  type UnreadableBatch,
} from '@lead-scoring/contracts';
import { decodeUtf8, parseJson, ProblemError, type Body } from '@lead-scoring/service';
import {
  eventOfBinaryCloudEvent,
  eventOfCloudEvent,
  eventsOfCloudEvents,
  isBinaryCloudEvent,
  pathInCloudEvent,
} from './cloud-events.js';

const { cloudEventTypes } = routeDeclarations;

/** The events of a body before they are checked. */
export interface SentBatch {
  events: readonly SentEvent[];
  /** The name that a field of an event, as POST /ingest has it, has in the body's own format. */
  nameOf: (path: string) => string;
}

/**
 * @param headers those of the request: a CloudEvent in binary mode has its attributes there
 * @throws ProblemError 400 when the body cannot be read as a batch of events
 */
export function batchOf({ type, bytes }: Body, headers: IncomingHttpHeaders): SentBatch {
  const text = decodeUtf8(bytes);
  const isBinary = isBinaryCloudEvent(headers);
  const read = isBinary ? [eventOfBinaryCloudEvent(headers, dataIn(text))] : eventsIn(type, text);
  if (!Array.isArray(read)) throw noBatch(read);
  const isCloudEvent = isBinary || Object.values<string>(cloudEventTypes).includes(type);
  return { events: read, nameOf: isCloudEvent ? pathInCloudEvent : (path) => path };
}

export function noBatch(read: UnreadableBatch): ProblemError {
  const errors = read.errors.map(({ path, message }) => ({
    path: path === '' ? 'body' : `body.${path}`,
    message,
  }));
  const [first] = errors;
  return new ProblemError(400, read.code, `${first?.path ?? 'body'} ${first?.message ?? 'is not valid'}.`, {
    errors,
  });
}

function eventsIn(type: string, text: string): SentEvent[] | UnreadableBatch {
  if (type === 'application/x-ndjson') return eventsOfNdjson(text);
  const body = jsonIn(text);
  if (type === cloudEventTypes.one) return [eventOfCloudEvent(body)];
  return type === cloudEventTypes.batch ? eventsOfCloudEvents(body) : eventsOfJson(body);
}

/** The data of a CloudEvent in binary mode. */
function dataIn(text: string): unknown {
  return text === '' ? undefined : jsonIn(text);
}

function jsonIn(text: string): unknown {
  // The nesting depth is checked later for each event, where the error can name the event.
  return parseJson(text, { maximumDepth: Infinity });
}
