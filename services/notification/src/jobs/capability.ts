// The jobs capability of the notification service.
import { jobs, type JobsCapability } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { redelivery, type RedeliveryDependencies } from './redelivery.js';

export function notificationJobs(dependencies: RedeliveryDependencies): JobsCapability<'StartRedelivery'> {
  return jobs({
    service: 'notification',
    records: records.notificationJobs,
    kinds: [redelivery(dependencies)],
  });
}
