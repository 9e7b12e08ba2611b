// The stored form of event type statistics: one document per OU, type and partition; reads add them up.
import { nameBasedId, type JsonValue } from '@lead-scoring/contracts';
import {
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { EventTypeShare } from './fold.js';

export interface EventTypeDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  count: number;
  /** The whole share as JSON text, because names and metadata keys may contain any character. */
  share: string;
}

export const eventTypes = defineCollection<EventTypeDocument>({
  name: 'event_types',
  indexes: [{ key: { ou: 1 } }],
});

export function eventTypeDocumentId(ouId: string, key: string, partition: number): Binary {
  return uuidToBinary(nameBasedId(ouId, `event-type:${String(partition)}:${key}`));
}

export function toDocument(
  share: EventTypeShare,
  at: { partition: number; offset: number },
): EventTypeDocument {
  return {
    _id: eventTypeDocumentId(share.ou_id, share.key, at.partition),
    ou: uuidToBinary(share.ou_id),
    count: share.count,
    share: packJson(share as unknown as JsonValue),
    ...at,
  };
}

export function toShare(document: EventTypeDocument): EventTypeShare {
  return unpackJson(document.share) as unknown as EventTypeShare;
}
