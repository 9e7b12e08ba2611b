// Divides a batch of events into sections at deletions, so that events before a deletion are folded before it, and later
// events after it.
import { records } from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord } from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';

export interface FoldedEvents {
  payload: records.EventsIngested;
  /** The payload's own text. */
  json: Buffer;
  offset: number;
}

/** A record of events as it is read from the documents. */
export type RecordedEvents = Omit<FoldedEvents, 'json'>;

export interface DeletedLead {
  payload: records.LeadDeleted;
  offset: number;
}

/** A record of the deletion of a type's events. */
export type TypeDeletion =
  | { type: 'EventsOfTypeDeleted'; payload: records.EventsOfTypeDeleted; offset: number }
  | { type: 'DeletedEventsCleared'; payload: records.DeletedEventsCleared; offset: number };

/** A record of a recount of event types. */
export type Recount =
  | { type: 'RecountBegun'; payload: records.RecountBegun; offset: number }
  | { type: 'EventTypesRecounted'; payload: records.EventTypesRecounted; offset: number };

/** Records that are folded together: first the events and all other records, then the deletions of leads; or one record alone. */
export interface Section {
  ingested: FoldedEvents[];
  others: FoldedRecord[];
  deleted: DeletedLead[];
  ofType?: TypeDeletion;
  recount?: Recount;
}

export function sectionsOf(folded: readonly FoldedRecord[]): Section[] {
  let open: Section = { ingested: [], others: [], deleted: [] };
  const sections = [open];
  const begin = () => {
    open = { ingested: [], others: [], deleted: [] };
    sections.push(open);
  };
  for (const record of folded) {
    const [ofType, recount] = [typeDeletion(record), recountIn(record)];
    if (ofType || recount) {
      sections.push({
        ...{ ingested: [], others: [], deleted: [] },
        ...(ofType && { ofType }),
        ...(recount && { recount }),
      });
      begin();
      continue;
    }
    if (isRecord(record, records.leadDeleted)) {
      open.deleted.push({ payload: record.payload, offset: offsetToNumber(record.offset) });
      continue;
    }
    if (open.deleted.length > 0) begin();
    if (isRecord(record, records.eventsIngested))
      open.ingested.push({
        payload: record.payload,
        json: record.json,
        offset: offsetToNumber(record.offset),
      });
    else open.others.push(record);
  }
  return sections;
}

function typeDeletion(record: FoldedRecord): TypeDeletion | null {
  const offset = offsetToNumber(record.offset);
  if (isRecord(record, records.eventsOfTypeDeleted))
    return { type: 'EventsOfTypeDeleted', payload: record.payload, offset };
  if (isRecord(record, records.deletedEventsCleared))
    return { type: 'DeletedEventsCleared', payload: record.payload, offset };
  return null;
}

function recountIn(record: FoldedRecord): Recount | null {
  const offset = offsetToNumber(record.offset);
  if (isRecord(record, records.recountBegun))
    return { type: 'RecountBegun', payload: record.payload, offset };
  if (isRecord(record, records.eventTypesRecounted))
    return { type: 'EventTypesRecounted', payload: record.payload, offset };
  return null;
}
