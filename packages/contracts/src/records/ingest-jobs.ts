// The jobs of the ingest service: the work and the findings of each kind, and the records that they have in common.
import { z } from 'zod';
import { eventTypeBackfillFound, eventTypeBackfillWork } from './event-type-backfill.js';
import { importFound, importWork } from './imports.js';
import { jobRecords } from './jobs.js';
import { leadImportFound, leadImportWork } from './lead-imports.js';
import { leadMergeFound, leadMergeWork } from './lead-merges.js';

const count = z.int().min(0);

const deletionWork = z.strictObject({
  kind: z.literal('event-deletion'),
  event_type: z.string().min(1).max(100),
  partitions: z.int().min(1).describe('How many there are.'),
});
export type DeletionWork = z.infer<typeof deletionWork>;

/** The parameters of each kind of job. */
export const ingestWork = z.discriminatedUnion('kind', [
  deletionWork,
  importWork,
  eventTypeBackfillWork,
  leadImportWork,
  leadMergeWork,
]);
export type IngestWork = z.infer<typeof ingestWork>;

/** What the deletion of a type has come to. */
export const deletionFound = z.strictObject({
  events_deleted: count,
  event_scores_deleted: count,
  leads_affected: count,
});
export type DeletionFound = z.infer<typeof deletionFound>;

export const ingestJobs = jobRecords(
  'ingest',
  ingestWork,
  z.union([deletionFound, importFound, eventTypeBackfillFound, leadImportFound, leadMergeFound]),
);

export const ingestJobRecords = [
  ingestJobs.continueJob,
  ingestJobs.cancelJob,
  ingestJobs.jobStarted,
  ingestJobs.jobAdvanced,
  ingestJobs.jobEnded,
  ingestJobs.jobCancelled,
] as const;
