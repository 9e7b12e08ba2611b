// The jobs of the scoring service.
import { jobs, type JobsCapability, type StepErrorListener } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { RecordWriter } from '@lead-scoring/event-log';
import { suggestion } from '../suggestions/job.js';
import { whatIf, type WhatIfDependencies } from './job.js';

export interface ScoringJobsDependencies extends WhatIfDependencies {
  readonly writer: Pick<RecordWriter, 'write'>;
  readonly onStepError: StepErrorListener;
}

export function scoringJobs({
  writer,
  onStepError,
  ...dependencies
}: ScoringJobsDependencies): JobsCapability<'StartWhatIf' | 'StartSuggestion'> {
  return jobs({
    service: 'scoring',
    records: records.scoringJobs,
    kinds: [whatIf(dependencies), suggestion(dependencies)],
    writer,
    onStepError,
  });
}
