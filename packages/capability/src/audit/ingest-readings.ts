// What the events of ingest say of event types, leads and jobs. Of a lead, only ids: no alias, no metadata.
import { eventTypeKey, type JsonObject, type records } from '@lead-scoring/contracts';
import { cancelledJob, startedJob } from './job-readings.js';
import type { Readings, SubjectChange } from './subject-change.js';

/** What a job changes; null: nothing. */
function workOf(work: records.IngestWork): JsonObject | null {
  switch (work.kind) {
    case 'event-deletion':
      return { work: work.kind, event_type: work.event_type };
    case 'import':
      return { work: work.kind, fire_triggers: work.fire_triggers };
    case 'lead-import':
      return { work: work.kind, file_id: work.file_id };
    case 'event-type-backfill':
      return work.dry_run ? null : { work: work.kind };
    case 'lead-merge': {
      // LeadDeleted and AliasUnlinked say what has become of each lead that had events. An alias without events has only this.
      const { kind, change, target_id, sources } = work;
      return { work: kind, change, target_id, source_ids: sources.map(({ lead_id }) => lead_id) };
    }
  }
}

/** A lead that is deleted, or that a caller lets join another. */
function endedLead({ lead_id: id, actor, linked_to, joined_to }: records.LeadDeleted): SubjectChange[] {
  // Deleted with the lead that it was linked to, or sent again when a merge is taken back: that makes an entry of its own.
  if (linked_to !== undefined || joined_to === id) return [];
  if (joined_to === undefined) return [{ id, before: {}, after: () => null }];
  // A visitor who becomes known joins without anybody asking for it.
  if (actor === undefined) return [];
  return [{ id, action: 'merged', before: { merged_into: null }, after: () => ({ merged_into: joined_to }) }];
}

/** The most names of fields in an entry. */
const maximumNames = 100;

/** The names of the fields that somebody has set or removed: the values are the lead's, and stay out of the trail. */
function patchedLead({ lead_id: id, patch }: records.LeadMetadataPatched): SubjectChange[] {
  if (patch === undefined) return [];
  const fields = Object.keys(patch).slice(0, maximumNames);
  return [{ id, before: {}, after: () => ({ set_fields: fields }) }];
}

export const ingestReadings: Readings<'ingest'> = {
  LeadDeleted: endedLead,
  AliasUnlinked: ({ alias_lead_id: id, lead_id }) => [
    { id, before: { merged_into: lead_id }, after: () => ({ merged_into: null }) },
  ],
  LeadMetadataPatched: patchedLead,
  EventTypeVisibilityChanged: ({ event_type, hidden }) => [
    {
      id: eventTypeKey(event_type),
      initially: { event_type, hidden: false },
      after: () => ({ event_type, hidden }),
    },
  ],
  JobStarted: startedJob(workOf),
  JobCancelled: cancelledJob,
};
