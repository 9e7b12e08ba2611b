// The frame of a test of a backfill: asks a service for the job by its command, and waits for its result.
import { randomUUID } from 'node:crypto';
import { jobIdOf, routes, type RecordDeclaration, type ServiceWithJobs } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { outgoing } from '@lead-scoring/event-log';
import type { ServiceRig } from './service-rig.js';

export interface AskedBackfill {
  ou_id: string;
  job_id: string;
  dry_run: boolean;
  requested_at: string;
}

export interface BackfillFrame<Asked extends AskedBackfill, Result> {
  /** A request of a job of its own; default: of the OU of the test, not a dry run. */
  asked: (more?: Partial<Asked>) => Asked;
  start: (request: Asked) => ReturnType<ServiceRig['request']>;
  /** Resolves with the completed job. */
  completed: (
    request: Asked,
  ) => Promise<{ kind: string; done: number; total: number | null; result: Result }>;
  /** Starts one, and resolves with its result, once it has dealt with everything that it was to deal with. */
  backfilled: (more?: Partial<Asked>) => Promise<Result>;
}

/**
 * @param rig looked at when it is needed, so that a frame may be made before the rig
 * @param options.usual what a request has besides the fields of every backfill
 */
export function backfillFrame<Asked extends AskedBackfill, Result>(
  rig: () => Pick<ServiceRig, 'get'> & { ask: ServiceRig['request'] },
  options: {
    service: ServiceWithJobs;
    kind: string;
    command: RecordDeclaration;
    ouId: string;
    usual: Omit<Asked, keyof AskedBackfill>;
  },
): BackfillFrame<Asked, Result> {
  const { service, kind, command, ouId, usual } = options;
  const asked: BackfillFrame<Asked, Result>['asked'] = (more = {}) =>
    ({
      ...{ ou_id: ouId, job_id: randomUUID(), dry_run: false, requested_at: '2026-01-31T09:30:00.000Z' },
      ...usual,
      ...more,
    }) as Asked;
  const start = (payload: Asked) => rig().ask(outgoing(command, { key: payload.ou_id, payload }));
  const completed: BackfillFrame<Asked, Result>['completed'] = ({ job_id, ou_id }) =>
    eventually('the backfill has ended', async () => {
      const { body } = await rig().get(`/jobs/${jobIdOf(service, job_id)}`, { ou: ou_id });
      const job = routes.getJob.responses[200].schema.parse(body);
      if (job.status === 'failed') throw new Error(`the job has failed: ${JSON.stringify(job.errors)}`);
      return job.status === 'completed' ? { ...job, result: job.result as Result } : undefined;
    });
  return {
    asked,
    start,
    completed,
    backfilled: async (more) => {
      const request = asked(more);
      const { outcome } = await start(request);
      const job = await completed(request);
      if (outcome !== 'done' || job.kind !== kind || job.done !== job.total)
        throw new Error(`not a whole ${kind}: ${JSON.stringify({ outcome, ...job })}`);
      return job.result;
    },
  };
}
