// The stored statistics of event types: one document per OU, type and partition, and one per OU and partition; reads add them up.
import { nameBasedId, type JsonValue } from '@lead-scoring/contracts';
import {
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import { eventTypeOf, type EventType, type EventTypeShare } from './fold.js';
import type { UnitShare } from './unit-fold.js';

export interface EventTypeDocument extends GuardedDocument {
  _id: Binary;
  /** What lists say of the type, as JSON text because names may contain any character: an EventType, or null without events. */
  summary: string;
  /** The whole share as JSON text. */
  share: string;
}

export const eventTypes = defineCollection<EventTypeDocument>({ name: 'event_types', indexes: [] });

export function eventTypeDocumentId(ouId: string, key: string, partition: number): Binary {
  return uuidToBinary(nameBasedId(ouId, `event-type:${String(partition)}:${key}`));
}

export function toDocument(
  share: EventTypeShare,
  at: { partition: number; offset: number },
): EventTypeDocument {
  return {
    _id: eventTypeDocumentId(share.ou_id, share.key, at.partition),
    summary: packJson(eventTypeOf(share) as JsonValue),
    share: packJson(share as unknown as JsonValue),
    ...at,
  };
}

export function toShare({ share }: Pick<EventTypeDocument, 'share'>): EventTypeShare {
  return unpackJson(share) as unknown as EventTypeShare;
}

export function toSummary({ summary }: Pick<EventTypeDocument, 'summary'>): EventType | null {
  return unpackJson(summary) as unknown as EventType | null;
}

export interface UnitDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  /** A UnitShare as JSON text. */
  share: string;
}

export const eventUnits = defineCollection<UnitDocument>({
  name: 'event_units',
  indexes: [{ key: { ou: 1 } }],
});

export function unitDocumentId(ouId: string, partition: number): Binary {
  return uuidToBinary(nameBasedId(ouId, `event-unit:${String(partition)}`));
}

export function toUnitDocument(share: UnitShare, at: { partition: number; offset: number }): UnitDocument {
  return {
    _id: unitDocumentId(share.ou_id, at.partition),
    ou: uuidToBinary(share.ou_id),
    share: packJson(share as unknown as JsonValue),
    ...at,
  };
}

export function toUnitShare({ share }: Pick<UnitDocument, 'share'>): UnitShare {
  return unpackJson(share) as unknown as UnitShare;
}
