// The jobs of the scoring service: the work and the findings of each kind, and the records that they have in common.
import { z } from 'zod';
import { accountBackfillFound, accountBackfillWork } from './account-backfill.js';
import { jobRecords } from './jobs.js';
import { levelBackfillFound, levelBackfillWork } from './level-backfill.js';
import { rescoringWork } from './rescoring.js';
import { suggestionFound, suggestionWork } from './suggestions.js';
import { whatIfFound, whatIfWork } from './what-if.js';

/** The parameters and the plan of each kind of job. */
export const scoringWork = z.discriminatedUnion('kind', [
  whatIfWork,
  suggestionWork,
  rescoringWork,
  accountBackfillWork,
  levelBackfillWork,
]);
export type ScoringWork = z.infer<typeof scoringWork>;
/** A rescoring finds what a what-if does: leads on two sides, the scores of now (live) and the new ones (draft). */
export const scoringJobs = jobRecords(
  'scoring',
  scoringWork,
  z.union([whatIfFound, suggestionFound, accountBackfillFound, levelBackfillFound]),
);

export const scoringJobRecords = [
  scoringJobs.continueJob,
  scoringJobs.cancelJob,
  scoringJobs.jobStarted,
  scoringJobs.jobAdvanced,
  scoringJobs.jobEnded,
  scoringJobs.jobCancelled,
] as const;
