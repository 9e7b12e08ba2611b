// The stored form of merges: the last ends of leads, the records of leads that are being divided, and conflicts.
import type { records } from '@lead-scoring/contracts';
import { defineCollection, uuidToBinary, type Binary, type GuardedDocument } from '@lead-scoring/read-model';
import type { EventRecordDocument } from '../events/documents.js';

/** The last end of a lead: it was deleted, has joined another lead, or was divided. `_id` is the lead's id. */
export interface LeadEndDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  end_id: string;
  /** Absent for a deletion. */
  joined_to?: string;
}

/** Two leads that an event named together. `_id` has the OU, the lead of the further alias, and the lead for which the event counted. */
export interface LeadConflictDocument {
  _id: Binary;
  named_at: string;
  partition: number;
}

export const leadEnds = defineCollection<LeadEndDocument>({ name: 'lead_ends', indexes: [] });
/** Records of leads that are being divided, until they are sent again. `_id` is recordId. */
export const dividedRecords = defineCollection<EventRecordDocument>({ name: 'divided_records', indexes: [] });
export const leadConflicts = defineCollection<LeadConflictDocument>({ name: 'lead_conflicts', indexes: [] });

export function leadEndDocument(
  { ou_id, lead_id, deletion_id, joined_to }: records.LeadDeleted,
  at: { partition: number; offset: number },
): LeadEndDocument {
  return {
    _id: uuidToBinary(lead_id),
    ou: uuidToBinary(ou_id),
    end_id: deletion_id,
    ...(joined_to !== undefined && { joined_to }),
    ...at,
  };
}
