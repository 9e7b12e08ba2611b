// The queries on jobs of the ingest service.
import { errorLines, findJob, findListedJobs, jobAnswer, jobNotFound } from '@lead-scoring/capability';
import { jobNamed, routes, type records, type routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, problem, StreamedAnswer, type BoundQuery } from '@lead-scoring/service';
import { failedRowLines } from '../lead-imports/failed-rows.js';
import { rowCountsOf } from './row-counts.js';

export function jobQueries(readModel: ReadModel, now: () => Date): BoundQuery[] {
  const jobNamedBy = async (id: string, ouId: string) => {
    const job = await findJob(readModel, ouId, jobNamed(id).id);
    if (!job) throw problem(jobNotFound.code, jobNotFound.message);
    return job;
  };
  return [
    bindQuery(routes.listJobs, ({ query, context: { ouId } }) =>
      findListedJobs(readModel, ouId, query, { service: 'ingest', now: now(), countsOf: rowCountsOf }),
    ),
    bindQuery(routes.getJob, async ({ params: { id }, context: { ouId } }) => {
      const job = await jobNamedBy(id, ouId);
      const answer = { ...jobAnswer('ingest', job, now()), ...rowCountsOf(job) };
      const work = job.work as records.IngestWork;
      const result = job.status === 'completed' && resultOf(work, job.found);
      return result ? { ...answer, result } : answer;
    }),
    bindQuery(routes.listJobErrors, async ({ params: { id }, context: { ouId } }) => {
      const job = await jobNamedBy(id, ouId);
      const lines = job.work.kind === 'lead-import' ? failedRowLines(readModel, job) : errorLines(job);
      return new StreamedAnswer('text/csv; charset=utf-8', lines, {
        'Content-Disposition': 'attachment; filename="errors.csv"',
      });
    }),
  ];
}

/** What a completed job has found; null for a kind without a result. */
function resultOf(work: records.IngestWork, found: unknown): routeDeclarations.Job['result'] | null {
  switch (work.kind) {
    case 'import':
    case 'lead-import':
      return null;
    case 'event-deletion':
      return { event_type: work.event_type, ...(found as records.DeletionFound) };
    case 'event-type-backfill': {
      const { types, has_more, list } = found as records.EventTypeBackfillFound;
      return { dry_run: work.dry_run, differing: types, has_more, list_differed: list };
    }
    case 'lead-merge': {
      const { change, target_id, sources } = work;
      const source_ids = sources.map(({ lead_id }) => lead_id);
      return { change, target_id, source_ids, ...(found as records.LeadMergeFound) };
    }
  }
}
