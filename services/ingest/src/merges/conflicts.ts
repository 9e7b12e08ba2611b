// Leads that events named together although each is a person of their own, as a projection.
import { projection, type PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord } from '@lead-scoring/event-log';
import {
  deleteFound,
  insertMissing,
  keysWithin,
  orderedKey,
  readUuid,
  bytesOf,
  uuidBytes,
  type Binary,
} from '@lead-scoring/read-model';
import { leadConflicts, type LeadConflictDocument } from './documents.js';

export const leadConflictProjection = projection({
  name: 'lead-conflicts',
  events: { LeadConflicted: records.leadConflicted, LeadDeleted: records.leadDeleted },
  collections: [leadConflicts],
  open: (scope) => openConflicts(scope),
});

/** The two leads of a conflict: that of the further alias, and that for which the event counted. */
export function leadsInConflict(id: Binary): { readonly alias_lead_id: string; readonly lead_id: string } {
  const bytes = bytesOf(id);
  return { alias_lead_id: readUuid(bytes, uuidBytes), lead_id: readUuid(bytes, 2 * uuidBytes) };
}

function openConflicts({ readModel, partition }: PartitionScope) {
  const stored = readModel.collection(leadConflicts);
  const insert = async (conflicts: LeadConflictDocument[]) => {
    if (conflicts.length > 0) await insertMissing(stored, conflicts);
  };
  return {
    async fold(folded: readonly FoldedRecord[]): Promise<void> {
      let open: LeadConflictDocument[] = [];
      for (const record of folded)
        if (isRecord(record, records.leadConflicted)) {
          const { ou_id, alias_lead_id, lead_id, named_at } = record.payload;
          open.push({ _id: orderedKey([ou_id, alias_lead_id, lead_id]), named_at, partition });
        } else if (isRecord(record, records.leadDeleted) && record.payload.joined_to === undefined) {
          const { ou_id, lead_id } = record.payload;
          await insert(open);
          open = [];
          await deleteFound(stored, { _id: keysWithin([ou_id, lead_id], uuidBytes) });
        }
      await insert(open);
    },
  };
}
