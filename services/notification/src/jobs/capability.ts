// The jobs capability of the notification service.
import { jobs, type JobsCapability } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { Logger } from '@lead-scoring/service';
import { redelivery, type RedeliveryDependencies } from './redelivery.js';

export interface JobsDependencies extends RedeliveryDependencies {
  logger: Pick<Logger, 'error'>;
}

export function notificationJobs({
  logger,
  ...dependencies
}: JobsDependencies): JobsCapability<'StartRedelivery'> {
  return jobs({
    service: 'notification',
    records: records.notificationJobs,
    kinds: [redelivery(dependencies)],
    onStepError: (error, { job_id, step }) => {
      logger.error({ err: error, job_id, step }, 'a step of a job has thrown; the job has failed');
    },
  });
}
