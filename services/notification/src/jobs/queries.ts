// The queries on jobs of the notification service.
import { errorLines, findJob, findListedJobs, jobAnswer, jobNotFound } from '@lead-scoring/capability';
import { jobNamed, routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, problem, StreamedAnswer, type BoundQuery } from '@lead-scoring/service';

export function jobQueries(readModel: ReadModel, now: () => Date): BoundQuery[] {
  return [
    bindQuery(routes.listJobs, ({ query, context: { ouId } }) =>
      findListedJobs(readModel, ouId, query, { service: 'notification', now: now() }),
    ),
    bindQuery(routes.getJob, async ({ params: { id }, context: { ouId } }) => {
      const job = await findJob(readModel, ouId, jobNamed(id).id);
      if (!job) throw problem(jobNotFound.code, jobNotFound.message);
      return jobAnswer('notification', job, now());
    }),
    bindQuery(routes.listJobErrors, async ({ params: { id }, context: { ouId } }) => {
      const job = await findJob(readModel, ouId, jobNamed(id).id);
      if (!job) throw problem(jobNotFound.code, jobNotFound.message);
      return new StreamedAnswer('text/csv; charset=utf-8', errorLines(job));
    }),
  ];
}
