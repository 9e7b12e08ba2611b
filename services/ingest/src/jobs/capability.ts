// The jobs of the ingest service.
import { jobs, type StepErrorListener } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { RecordWriter } from '@lead-scoring/event-log';
import { eventDeletion, type EventDeletionOptions } from '../event-deletions/job.js';
import { eventTypeBackfill, type EventTypeBackfillOptions } from '../event-type-recounts/job.js';
import { eventImport } from '../imports/job.js';
import { leadImport, type LeadImportOptions } from '../lead-imports/job.js';
import { leadMerge } from '../merges/job.js';

export interface IngestJobsDependencies {
  onStepError: StepErrorListener;
  /** Sends the service its own commands. */
  writer: Pick<RecordWriter, 'write'>;
  eventDeletion: EventDeletionOptions;
  eventTypeBackfill: EventTypeBackfillOptions;
  leadImport: LeadImportOptions;
}

/** @param listedTypes the most event types of an OU that lists show from one partition */
export function ingestJobs({ onStepError, writer, ...options }: IngestJobsDependencies, listedTypes: number) {
  return jobs({
    service: 'ingest',
    records: records.ingestJobs,
    kinds: [
      eventDeletion(options.eventDeletion),
      eventImport,
      eventTypeBackfill(options.eventTypeBackfill, listedTypes),
      leadImport(options.leadImport),
      leadMerge,
    ],
    writer,
    onStepError,
  });
}
