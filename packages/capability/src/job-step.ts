// Takes one step of a job. A step that throws ends its job as failed, so that the job does not show as running for ever.
import { isRetriable } from '@lead-scoring/event-log';
import type { Job, JobStep } from './job-model.js';

/** Gets the error of a step that has thrown, for the service's log. */
export type StepErrorListener = (error: unknown, job: Pick<Job<unknown>, 'job_id' | 'step'>) => void;

/**
 * @param onError gets the error itself: the recorded one is answered to callers, and must not contain internals
 * @throws a retriable error, such as that of an absent database: the step is taken again
 */
export async function takeStep(
  job: Pick<Job<unknown>, 'job_id' | 'step'>,
  step: () => Promise<JobStep>,
  onError: StepErrorListener,
): Promise<JobStep> {
  try {
    return await step();
  } catch (error) {
    if (isRetriable(error)) throw error;
    onError(error, job);
    return {
      outcome: 'failed',
      error: {
        code: 'step_failed',
        message: `Step ${String(job.step + 1)} failed because of an error in the service. What earlier steps have done stays. Start another job, or give the operator the id of this one.`,
      },
    };
  }
}
