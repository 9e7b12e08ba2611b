// Whether an event that comes again says what the event said that is stored under its id.
import { isDeepStrictEqual } from 'node:util';
import type { records } from '@lead-scoring/contracts';

/** What the sender said of an event, as far as it is stored. */
export interface EventBody {
  event_type: string;
  /** null where the sender gave none: it was the time of receipt then. */
  timestamp: string | null;
  metadata: unknown;
}

export function bodyOf(
  event: Pick<records.ChunkEvent, 'event_type' | 'timestamp' | 'metadata'>,
  receivedAt: string,
): EventBody {
  const { event_type, timestamp, metadata } = event;
  return { event_type, timestamp: timestamp === receivedAt ? null : timestamp, metadata: metadata ?? null };
}

/** The order of keys says nothing, and neither does a time that one of the two leaves to us. */
export function differs(one: EventBody, other: EventBody): boolean {
  if (one.event_type !== other.event_type) return true;
  if (one.timestamp !== null && other.timestamp !== null && one.timestamp !== other.timestamp) return true;
  return !isDeepStrictEqual(one.metadata, other.metadata);
}
