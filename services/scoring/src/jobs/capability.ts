// The jobs of the scoring service.
import { jobs, type JobsCapability, type StepErrorListener } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { accountBackfill } from '../accounts/backfill-job.js';
import { levelBackfill } from '../levels/backfill-job.js';
import { rescoring, type RescoringDependencies } from '../rescoring/job.js';
import { suggestion } from '../suggestions/job.js';
import { whatIf } from '../what-if/job.js';

export interface ScoringJobsDependencies extends RescoringDependencies {
  readonly onStepError: StepErrorListener;
}

export function scoringJobs({
  onStepError,
  ...dependencies
}: ScoringJobsDependencies): JobsCapability<
  'StartWhatIf' | 'StartSuggestion' | 'StartRescoring' | 'StartAccountBackfill' | 'StartLevelBackfill'
> {
  return jobs({
    service: 'scoring',
    records: records.scoringJobs,
    kinds: [
      whatIf(dependencies),
      suggestion(dependencies),
      rescoring(dependencies),
      accountBackfill(dependencies),
      levelBackfill(dependencies),
    ],
    writer: dependencies.writer,
    onStepError,
  });
}
