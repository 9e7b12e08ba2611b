// The events of a body before they are checked, and the bodies that are no batch of events.
import { intakeLimits } from '../routes/intake.js';
import type { MetadataProblem } from '../vocabulary/metadata.js';

/** A body that is not a batch of events. */
export interface UnreadableBatch {
  code: 'invalid_request';
  errors: MetadataProblem[];
}

/** One event of the batch: its parsed value; the reason why its text cannot be parsed; or the errors of its attributes, where it is a CloudEvent. */
export type SentEvent = { sent: unknown } | { unreadable: string } | { problems: readonly MetadataProblem[] };

/** The events of a parsed JSON body: one event, an array of events, or {"events": [...]}. */
export function eventsOfJson(body: unknown): SentEvent[] | UnreadableBatch {
  if (Array.isArray(body))
    return eventsWithinLimit(body.length, () => body.map((sent: unknown) => ({ sent })));
  if (!isObject(body))
    return unreadableBatch('', 'must be an event, an array of events, or {"events": [...]}');
  if (!Object.hasOwn(body, 'events')) return [{ sent: body }];
  const { events } = body;
  const other = Object.keys(body).find((key) => key !== 'events');
  if (other !== undefined) return unreadableBatch(clip(other), 'is not known beside events');
  if (!Array.isArray(events)) return unreadableBatch('events', 'must be an array of events');
  return eventsWithinLimit(events.length, () => events.map((sent: unknown) => ({ sent })));
}

/** The events of an NDJSON body: one event a line; blank lines are skipped. */
export function eventsOfNdjson(body: string): SentEvent[] | UnreadableBatch {
  const events: SentEvent[] = [];
  for (let start = 0; start < body.length;) {
    const newline = body.indexOf('\n', start);
    const end = newline === -1 ? body.length : newline;
    const line = body.slice(start, end);
    start = end + 1;
    if (line.trim() === '') continue;
    if (events.length === intakeLimits.events) return tooMany();
    try {
      events.push({ sent: JSON.parse(line) as unknown });
    } catch {
      events.push({ unreadable: 'must be one JSON object on one line' });
    }
  }
  return events.length === 0 ? tooFew() : events;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name in an error, of bounded length. */
export function clip(path: string): string {
  return path.length > 200 ? `${path.slice(0, 199)}…` : path;
}

export function unreadableBatch(path: string, message: string): UnreadableBatch {
  return { code: 'invalid_request', errors: [{ path, message }] };
}

export function eventsWithinLimit(count: number, events: () => SentEvent[]): SentEvent[] | UnreadableBatch {
  if (count < 1) return tooFew();
  return count > intakeLimits.events ? tooMany() : events();
}

function tooFew(): UnreadableBatch {
  return unreadableBatch('', 'must hold at least one event');
}

function tooMany(): UnreadableBatch {
  return unreadableBatch(
    '',
    `must hold at most ${String(intakeLimits.events)} events; send more in several requests`,
  );
}
