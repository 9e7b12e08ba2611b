// The queries on jobs of the notification service.
import { findJob, findJobs, jobAnswer, listedJob } from '@lead-scoring/capability';
import { jobNamed, routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';

export function jobQueries(readModel: ReadModel, now: () => Date): BoundQuery[] {
  return [
    bindQuery(routes.listJobs, async ({ query, context: { ouId } }) => {
      const { data, ...page } = await findJobs(readModel, ouId, query);
      const asOf = now();
      return { ...page, data: data.map((job) => listedJob('notification', job, asOf)) };
    }),
    bindQuery(routes.getJob, async ({ params: { id }, context: { ouId } }) => {
      const job = await findJob(readModel, ouId, jobNamed(id).id);
      if (!job)
        throw new ProblemError(
          404,
          'job_not_found',
          'There is no job with this id in the organizational unit.',
        );
      return jobAnswer('notification', job, now());
    }),
  ];
}
