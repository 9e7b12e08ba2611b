// The result of a what-if as pictures.
import { findJob, jobNotFound } from '@lead-scoring/capability';
import { pictureHeaders, renderWhatIf } from '@lead-scoring/charts';
import { jobIdOf, jobNamed, routes, type records } from '@lead-scoring/contracts';
import { bindQuery, problem, RenderedAnswer, type BoundQuery } from '@lead-scoring/service';
import type { JobQueryDependencies } from '../jobs/queries.js';
import { whatIfResultOf } from './result-model.js';

const kinds: Record<records.WhatIfWork['score_type'], string> = {
  engagement: 'Engagement score',
  profile: 'Profile score',
};

export function pictureQueries({ readModel }: Pick<JobQueryDependencies, 'readModel'>): BoundQuery[] {
  return [
    bindQuery(routes.drawWhatIf, async ({ params, query: { chart, width }, context: { ouId } }) => {
      const job = await findJob(readModel, ouId, jobNamed(params.job).id);
      const work = job?.work as records.ScoringWork | undefined;
      if (!job || work?.kind !== 'what-if') throw problem(jobNotFound.code, jobNotFound.message);
      if (job.status !== 'completed')
        throw problem(
          'job_not_completed',
          `The what-if ${jobIdOf('scoring', job.job_id)} is ${job.status}, so there is nothing to draw. Wait until it is completed, or start it again.`,
        );
      const result = whatIfResultOf(job.found as unknown as records.WhatIfFound, {
        work,
        version: work.configuration_version,
        names: new Map(),
      });
      return new RenderedAnswer(
        'image/svg+xml; charset=utf-8',
        renderWhatIf({ ...result, kind: kinds[work.score_type] }, chart, width),
        { headers: pictureHeaders },
      );
    }),
  ];
}
