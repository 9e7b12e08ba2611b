// Divides a batch of events into sections at deletions of leads, so that events before a deletion are folded before it, and later
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

export interface DeletedLead {
  payload: records.LeadDeleted;
  offset: number;
}

/** Records that are folded together: first the events and all other records, then the deletions. */
export interface Section {
  ingested: FoldedEvents[];
  others: FoldedRecord[];
  deleted: DeletedLead[];
}

export function sectionsOf(folded: readonly FoldedRecord[]): Section[] {
  let open: Section = { ingested: [], others: [], deleted: [] };
  const sections = [open];
  for (const record of folded) {
    if (isRecord(record, records.leadDeleted)) {
      open.deleted.push({ payload: record.payload, offset: offsetToNumber(record.offset) });
      continue;
    }
    if (open.deleted.length > 0) {
      open = { ingested: [], others: [], deleted: [] };
      sections.push(open);
    }
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
