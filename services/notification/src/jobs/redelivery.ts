// The redelivery job: delivers a channel's notifications since a time once more. It runs in the channel's partition, so that a step
// sees all folded notifications.
import type { BatchEffect, Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { jobIdOf, records } from '@lead-scoring/contracts';
import type { ConfigurationLoader } from '../delivery/configuration-in-force.js';
import type { Delivery } from '../delivery/capability.js';
import type { RequestRange } from '../delivery/delivery-look-up.js';
import { redeliveryRecord } from '../delivery/log-records.js';

export interface RedeliveryDependencies {
  /** The capability that stores the notifications. */
  delivery: BatchEffect<Delivery>;
  configurations: ConfigurationLoader;
}

/** Maximum number of notifications in one step. */
const notificationsPerStep = 500;

const channelNotFound = {
  code: 'notification_channel_not_found',
  message: 'There is no notification channel with this id in the organizational unit.',
} as const;
const notFound: Rejection = { outcome: 'rejected', ...channelNotFound };

export function redelivery(
  dependencies: RedeliveryDependencies,
): JobKind<typeof records.startRedelivery, records.NotificationWork> {
  const storeOf = (scope: PartitionScope) => scope.opened(dependencies.delivery).decider.store;
  return {
    name: 'redelivery',
    command: records.startRedelivery,
    begin: async ({ ou_id, channel_id, since, undelivered_only, requested_at }, scope) => {
      const work = { kind: 'redelivery', channel_id, since, undelivered_only } as const;
      if (!(await isConfigured(dependencies, ou_id, work))) return notFound;
      return { work, total: await storeOf(scope).countRequestedWithin(rangeOf(work, requested_at)) };
    },
    step: async (job, scope) => {
      if (!(await isConfigured(dependencies, job.ou_id, job.work)))
        return { outcome: 'failed', error: channelNotFound };
      const found = await storeOf(scope).requestedWithin({
        ...rangeOf(job.work, job.started_at),
        after: job.cursor === null ? null : placeOf(job.cursor),
        limit: notificationsPerStep,
      });
      return stepOf(job, found);
    },
    startedResult: ({ job_id, total }) => ({
      redelivered: total ?? 0,
      job_id: jobIdOf('notification', job_id),
    }),
  };
}

async function isConfigured(
  { configurations }: Pick<RedeliveryDependencies, 'configurations'>,
  ouId: string,
  { channel_id }: records.NotificationWork,
): Promise<boolean> {
  return (await configurations.load([ouId])).get(ouId)?.channels.has(channel_id) === true;
}

function rangeOf(
  { channel_id, since, undelivered_only }: records.NotificationWork,
  until: string,
): RequestRange {
  return { channel_id, since, until, undeliveredOnly: undelivered_only };
}

function stepOf(
  { job_id, ou_id, work, started_at, actor }: Job<records.NotificationWork>,
  found: readonly { notification_id: string; requested_at: string }[],
): JobStep {
  const last = found.length === notificationsPerStep ? found.at(-1) : undefined;
  const { channel_id, undelivered_only } = work;
  const command = {
    ou_id,
    channel_id,
    redelivery_id: job_id,
    notification_ids: found.map(({ notification_id }) => notification_id),
    undelivered_only,
    requested_at: started_at,
    actor,
  };
  return {
    outcome: 'advanced',
    cursor: last ? `${last.requested_at} ${last.notification_id}` : null,
    done: found.length,
    commands: found.length === 0 ? [] : [redeliveryRecord(command)],
  };
}

function placeOf(cursor: string): { at: string; notification_id: string } {
  const [at = '', notification_id = ''] = cursor.split(' ');
  return { at, notification_id };
}
