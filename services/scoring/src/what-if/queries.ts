// The queries on jobs of the scoring service: a completed what-if has its result.
import { findJob, findListedJobs, jobAnswer, jobNotFound } from '@lead-scoring/capability';
import { jobNamed, routes, type records } from '@lead-scoring/contracts';
import { findByIds, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, problem, type BoundQuery } from '@lead-scoring/service';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';
import { leadKey, leadOfKey } from '../keys.js';
import { leads } from '../leads/documents.js';
import { whatIfResultOf } from './result-model.js';

export interface JobQueryDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
  now: () => Date;
}

export function jobQueries({ readModel, configurations, now }: JobQueryDependencies): BoundQuery[] {
  return [
    bindQuery(routes.listJobs, ({ query, context: { ouId } }) =>
      findListedJobs(readModel, ouId, query, { service: 'scoring', now: now() }),
    ),
    bindQuery(routes.getJob, async ({ params: { id }, context: { ouId } }) => {
      const job = await findJob(readModel, ouId, jobNamed(id).id);
      if (!job) throw problem(jobNotFound.code, jobNotFound.message);
      const answer = jobAnswer('scoring', job, now());
      if (job.status !== 'completed') return answer;
      const found = job.found as unknown as records.WhatIfFound;
      const [{ version }, names] = await Promise.all([
        loadOne(configurations, ouId),
        namesOf(readModel, ouId, found.movers),
      ]);
      const work = job.work as records.WhatIfWork;
      return { ...answer, result: whatIfResultOf(found, { work, version, names }) };
    }),
  ];
}

async function namesOf(
  readModel: ReadModel,
  ouId: string,
  movers: readonly { lead_id: string }[],
): Promise<Map<string, string>> {
  const found = await findByIds(
    readModel.collection(leads),
    movers.map(({ lead_id }) => leadKey(ouId, lead_id)),
  );
  return new Map(found.map(({ _id, name }) => [leadOfKey(_id), name]));
}
