// The job of an import: the gateway reads the upload, writes its events to the log as those of POST /ingest, and tells this job of each
// part. So the job says how far the upload is, and cancelling it ends the upload.
import type { FedJobKind, JobPart } from '@lead-scoring/capability';
import { jobIdOf, type JsonValue, records } from '@lead-scoring/contracts';

/** Milliseconds without a part after which an upload has broken off. */
const idleMs = 5 * 60_000;

export const eventImport: FedJobKind<
  typeof records.startImport,
  typeof records.takeImportPart,
  records.ImportWork
> = {
  name: 'import',
  command: records.startImport,
  begin: ({ upload_id, fire_triggers }) =>
    Promise.resolve({ work: { kind: 'import', upload_id, fire_triggers }, total: null }),
  startedResult: ({ job_id, status, found }) => ({
    job_id: jobIdOf('ingest', job_id),
    status,
    ...(found as { digest?: string } | undefined),
  }),
  feed: {
    command: records.takeImportPart,
    partOf,
    // What an earlier upload has brought in has the same ids again. An upload that came to its end is all there.
    beginsAnew: ({ upload_id }, { work, status }) => work.upload_id !== upload_id && status !== 'completed',
    partResult: ({ status }) => ({ status }),
    idleMs,
    idleError: {
      code: 'upload_broke_off',
      message:
        'No further part of the upload has come for five minutes. The events up to there are in. Send the same upload again with the same Idempotency-Key: it begins anew, and no event counts twice.',
    },
  },
};

function partOf({ upload_id, part, done, errors, ends, failed }: records.TakeImportPart): JobPart {
  return {
    step: part,
    isOf: ({ work }) => (work as records.ImportWork).upload_id === upload_id,
    taken:
      ends?.as === 'failed'
        ? { outcome: 'failed', error: ends.error }
        : {
            outcome: 'advanced',
            cursor: ends ? null : String(part + 1),
            done,
            failed,
            errors,
            ...(ends && { found: { digest: ends.digest } satisfies JsonValue }),
            commands: [],
          },
  };
}
