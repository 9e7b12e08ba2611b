// The queries on jobs of the scoring service: a completed what-if, suggestion, rescoring, or backfill of accounts or levels has its result.
import {
  errorLines,
  findJob,
  findListedJobs,
  jobAnswer,
  jobNotFound,
  type Job,
} from '@lead-scoring/capability';
import { jobNamed, routes, type records, type routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, problem, StreamedAnswer, type BoundQuery } from '@lead-scoring/service';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';
import { rescoringResultOf } from '../rescoring/result-model.js';
import { suggestionResultOf } from '../suggestions/found-model.js';
import { readTriggers } from '../trigger-definitions/documents.js';
import { namesOf } from '../what-if/mover-names.js';
import { whatIfResultOf } from '../what-if/result-model.js';
import { triggersAnswered, unchangedTriggers } from '../what-if/trigger-model.js';

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
      const { version } = await loadOne(configurations, ouId);
      return { ...answer, result: await resultOf(job, { readModel, version }) };
    }),
    bindQuery(routes.listJobErrors, async ({ params: { id }, context: { ouId } }) => {
      const job = await findJob(readModel, ouId, jobNamed(id).id);
      if (!job) throw problem(jobNotFound.code, jobNotFound.message);
      return new StreamedAnswer('text/csv; charset=utf-8', errorLines(job));
    }),
  ];
}

async function resultOf(
  { ou_id, work: anyWork, found, started_at }: Job<{ readonly kind: string }>,
  { readModel, version }: { readonly readModel: ReadModel; readonly version: number },
): Promise<routeDeclarations.Job['result']> {
  const work = anyWork as records.ScoringWork;
  switch (work.kind) {
    case 'what-if': {
      const all = found as unknown as records.WhatIfFound;
      const [names, defined] = await Promise.all([
        namesOf(readModel, ou_id, all.movers),
        readTriggers(readModel, ou_id),
      ]);
      return {
        ...whatIfResultOf(all, { work, version, names }),
        triggers: triggersAnswered(unchangedTriggers(defined, { work, started_at }), all),
      };
    }
    case 'rescoring': {
      const all = found as unknown as records.WhatIfFound;
      return rescoringResultOf(all, { work, version, names: await namesOf(readModel, ou_id, all.movers) });
    }
    case 'suggestion':
      return suggestionResultOf(found as unknown as records.SuggestionFound, work, version);
    case 'account-backfill':
      return { dry_run: work.dry_run, ...(found as unknown as records.AccountBackfillFound) };
    case 'level-backfill':
      return { dry_run: work.dry_run, ...(found as unknown as records.LevelBackfillFound) };
  }
}
