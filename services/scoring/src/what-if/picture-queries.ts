// The result of a what-if as pictures.
import { findJob, jobNotFound } from '@lead-scoring/capability';
import { renderWhatIf } from '@lead-scoring/charts';
import { jobIdOf, jobNamed, routes, type records } from '@lead-scoring/contracts';
import { bindQuery, problem, type BoundQuery, type QueryInput } from '@lead-scoring/service';
import type { JobQueryDependencies } from '../jobs/queries.js';
import { pngAnswer, svgAnswer, type PictureDependencies } from '../pictures.js';
import { whatIfResultOf } from './result-model.js';

const kinds: Record<records.WhatIfWork['score_type'], string> = {
  engagement: 'Engagement score',
  profile: 'Profile score',
};

type PictureQueryDependencies = Pick<JobQueryDependencies, 'readModel'> & PictureDependencies;

export function pictureQueries(dependencies: PictureQueryDependencies): BoundQuery[] {
  return [
    bindQuery(routes.drawWhatIf, async (input) => svgAnswer(await drawn(dependencies, input))),
    bindQuery(routes.paintWhatIf, async (input) => pngAnswer(await drawn(dependencies, input), dependencies)),
  ];
}

/** What both routes take. */
type PictureInput = Pick<QueryInput<typeof routes.drawWhatIf>, 'params' | 'query' | 'context'>;

/** @throws ProblemError 404 `job_not_found`, 409 `job_not_completed` */
async function drawn(
  { readModel }: PictureQueryDependencies,
  { params, query: { chart, width }, context: { ouId } }: PictureInput,
): Promise<string> {
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
  return renderWhatIf({ ...result, kind: kinds[work.score_type] }, chart, width);
}
