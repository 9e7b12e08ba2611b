// The jobs of the scoring service.
import { jobs, type JobsCapability, type StepErrorListener } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { RecordWriter } from '@lead-scoring/event-log';
import { accountBackfill } from '../accounts/backfill-job.js';
import { rescoring } from '../rescoring/job.js';
import { suggestion } from '../suggestions/job.js';
import { whatIf, type WhatIfDependencies } from '../what-if/job.js';

export interface ScoringJobsDependencies extends WhatIfDependencies {
  readonly writer: Pick<RecordWriter, 'write'>;
  readonly now: () => Date;
  readonly onStepError: StepErrorListener;
}

export function scoringJobs({
  writer,
  now,
  onStepError,
  ...dependencies
}: ScoringJobsDependencies): JobsCapability<
  'StartWhatIf' | 'StartSuggestion' | 'StartRescoring' | 'StartAccountBackfill'
> {
  return jobs({
    service: 'scoring',
    records: records.scoringJobs,
    kinds: [
      whatIf(dependencies),
      suggestion(dependencies),
      rescoring({ ...dependencies, writer, now }),
      accountBackfill(dependencies),
    ],
    writer,
    onStepError,
  });
}
