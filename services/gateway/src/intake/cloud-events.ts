// Turns CloudEvents into events of leads. `cloudEvent` is their form; `cloudEventFields` names the field that each attribute becomes.
import type { IncomingHttpHeaders } from 'node:http';
import {
  eventsWithinLimit,
  routeDeclarations,
  unreadableBatch,
  type SentEvent,
  type UnreadableBatch,
} from '@lead-scoring/contracts';
import { parseOrErrors } from '@lead-scoring/service';

const { cloudEvent, cloudEventFields, subjectForm } = routeDeclarations;

/** The events of a parsed body that is a batch of CloudEvents. */
export function eventsOfCloudEvents(body: unknown): SentEvent[] | UnreadableBatch {
  if (!Array.isArray(body)) return unreadableBatch('', 'must be an array of CloudEvents');
  return eventsWithinLimit(body.length, () => body.map(eventOfCloudEvent));
}

export function eventOfCloudEvent(sent: unknown): SentEvent {
  const parsed = parseOrErrors(cloudEvent, sent, 'body');
  if ('errors' in parsed)
    return {
      problems: parsed.errors.map(({ path, message }) => ({ path: path.replace(/^body\.?/, ''), message })),
    };
  const { data } = parsed;
  if (data.data_base64 !== undefined)
    return {
      problems: [{ path: 'data_base64', message: 'is not taken; send data, a JSON object, in its place' }],
    };
  return { sent: eventOf(data) };
}

function eventOf({ id, type, subject, time, data }: routeDeclarations.CloudEvent) {
  const [, alias_kind, alias] = subjectForm.exec(subject) ?? [];
  return {
    alias_kind,
    alias,
    event_type: type,
    event_id: id,
    ...(time !== undefined && { timestamp: time }),
    ...(data !== undefined && { metadata: data }),
  };
}

/** The names of attributes in the errors of an event, in place of the fields that they became. */
export function pathInCloudEvent(path: string): string {
  const [field, ...rest] = path.split('.');
  return [attributeOf.get(field) ?? field, ...rest].join('.');
}

const attributeOf = new Map<string | undefined, string>([
  ['alias_kind', 'subject'],
  ...Object.entries(cloudEventFields).map(([attribute, field]) => [field, attribute] as const),
]);

/** Whether a request is a CloudEvent in binary mode: its attributes are headers, and its body is the data. */
export function isBinaryCloudEvent(headers: IncomingHttpHeaders): boolean {
  return headers['ce-specversion'] !== undefined;
}

/** @param data the parsed body; undefined without one */
export function eventOfBinaryCloudEvent(headers: IncomingHttpHeaders, data: unknown): SentEvent {
  const attributes = Object.fromEntries(
    attributeHeaders(headers).map(([name, value]) => [name.slice(prefix.length), decoded(value)]),
  );
  return eventOfCloudEvent({ ...attributes, ...(data !== undefined && { data }) });
}

/** The attributes of a CloudEvent in binary mode, as texts that tell it from others with the same data. */
export function binaryAttributes(headers: IncomingHttpHeaders): string[] {
  return attributeHeaders(headers).flat();
}

const prefix = 'ce-';

function attributeHeaders(headers: IncomingHttpHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(prefix) && value !== undefined ? [[name, String(value)] as [string, string]] : [],
  );
}

/** In a header, characters other than printable ASCII are percent-encoded as UTF-8. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
