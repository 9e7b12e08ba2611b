// An event as the API answers it, from the record that holds it. Pure.
import type { Alias, records, routeDeclarations } from '@lead-scoring/contracts';

export type RecordedEvent = records.EventsIngested['events'][number];

export function toEvent(
  payload: records.EventsIngested,
  event: RecordedEvent,
): routeDeclarations.StoredEvent {
  return {
    lead_id: payload.lead_id,
    id: event.id,
    ...(event.event_id !== undefined && { event_id: event.event_id }),
    alias: aliasOf(payload),
    event_type: event.event_type,
    timestamp: event.timestamp,
    received_at: event.received_at ?? payload.received_at,
    source: payload.source,
    batch_id: event.batch_id ?? payload.batch_id,
    metadata: event.metadata ?? {},
  };
}

/** The alias under which a record's events came; the contract guarantees that there is one. */
export function aliasOf({ aliases: [first] }: records.EventsIngested): Alias {
  return first ?? { alias_kind: 'unknown', alias: '' };
}
