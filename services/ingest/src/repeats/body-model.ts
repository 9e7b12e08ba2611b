// Compares a repeated event with the stored event of the same id.
import { isDeepStrictEqual } from 'node:util';
import type { records } from '@lead-scoring/contracts';

/** The sender's fields of an event, as far as they are stored. */
export interface EventBody {
  event_type: string;
  /** null when the sender gave none, and the event has the time of receipt. */
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

/** Ignores the order of keys, and the time when one of the two has none of its own. */
export function differs(one: EventBody, other: EventBody): boolean {
  if (one.event_type !== other.event_type) return true;
  if (one.timestamp !== null && other.timestamp !== null && one.timestamp !== other.timestamp) return true;
  return !isDeepStrictEqual(one.metadata, other.metadata);
}
