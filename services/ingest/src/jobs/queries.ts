// The queries on jobs of the ingest service.
import { findJob, findListedJobs, jobAnswer, jobNotFound } from '@lead-scoring/capability';
import { jobNamed, routes, type records, type routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, problem, type BoundQuery } from '@lead-scoring/service';

export function jobQueries(readModel: ReadModel, now: () => Date): BoundQuery[] {
  return [
    bindQuery(routes.listJobs, ({ query, context: { ouId } }) =>
      findListedJobs(readModel, ouId, query, { service: 'ingest', now: now() }),
    ),
    bindQuery(routes.getJob, async ({ params: { id }, context: { ouId } }) => {
      const job = await findJob(readModel, ouId, jobNamed(id).id);
      if (!job) throw problem(jobNotFound.code, jobNotFound.message);
      const answer = jobAnswer('ingest', job, now());
      const work = job.work as records.IngestWork;
      const result = job.status === 'completed' && resultOf(work, job.found);
      return result ? { ...answer, result } : answer;
    }),
  ];
}

/** What a completed job has found; null for a kind without a result. */
function resultOf(work: records.IngestWork, found: unknown): routeDeclarations.Job['result'] | null {
  switch (work.kind) {
    case 'import':
      return null;
    case 'event-deletion':
      return { event_type: work.event_type, ...(found as records.DeletionFound) };
    case 'event-type-backfill': {
      const { types, has_more, list } = found as records.EventTypeBackfillFound;
      return { dry_run: work.dry_run, differing: types, has_more, list_differed: list };
    }
  }
}
