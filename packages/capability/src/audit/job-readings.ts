// Jobs in the audit trail: those that change something, when they start and when somebody cancels them.
import type { JsonObject, records } from '@lead-scoring/contracts';
import type { Reading } from './subject-change.js';

/** @param workOf what the job changes; null: it only computes something, and has no entry */
export function startedJob<Work>(
  workOf: (work: Work) => JsonObject | null,
): Reading<Pick<records.JobStarted<Work>, 'job_id' | 'work'>> {
  return ({ job_id: id, work: asked }) => {
    const work = workOf(asked);
    return work === null ? [] : [{ id, after: () => ({ ...work, cancelled: false }) }];
  };
}

/** A job without an entry of its start has none of its end. */
export const cancelledJob: Reading<records.JobCancelled> = ({ job_id: id }) => [
  { id, after: (before) => (before === null ? undefined : { ...before, cancelled: true }) },
];
