// The records of jobs: long work in bounded steps. Each service that runs jobs declares these on its own topics.
import { z } from 'zod';
import { id, text, time } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { defineRecord, type ServiceName } from './record.js';

const job = { job_id: id, ou_id: id };

/** An error that a job has met. */
export const jobError = z
  .strictObject({
    row: z.int().min(1).optional().describe('Where the work reads rows: the one that failed, from 1.'),
    code: z.string().max(64),
    message: z.string().max(1_000),
  })
  .meta({ id: 'JobError' });
export type JobError = z.infer<typeof jobError>;

/** Errors in one record, and in the state of a job. */
export const maximumJobErrors = 100;

/** A place in the work of a job, in a form that only the job knows. */
const cursor = text(200);

const continueJob = z.strictObject({
  ...job,
  step: z.int().min(0).describe('Steps that were done before. A step that is done already changes nothing.'),
});
export type ContinueJob = z.infer<typeof continueJob>;

const cancelJob = z.strictObject({ ...job, ...requested });
export type CancelJob = z.infer<typeof cancelJob>;

const jobAdvanced = z.strictObject({
  ...job,
  step: z.int().min(0).describe('Steps that were done before this one.'),
  cursor: cursor.optional().describe('Where the next step goes on; absent after the last one.'),
  done: z.int().min(0).describe('Items that this step has dealt with, failed ones included.'),
  failed: z.int().min(0),
  errors: z.array(jobError).max(maximumJobErrors).describe('Of the first failed items of the step.'),
  at: time,
});
export type JobAdvanced = z.infer<typeof jobAdvanced>;

const jobEnded = z.strictObject({
  ...job,
  outcome: z.enum(['completed', 'failed']).describe('failed: it could not go on, because of the error.'),
  error: jobError.optional(),
  at: time,
});
export type JobEnded = z.infer<typeof jobEnded>;

const jobCancelled = z.strictObject({ ...job, ...happened });
export type JobCancelled = z.infer<typeof jobCancelled>;

/** The fields of an event that starts a job, whatever its work. */
export interface JobStarted<Work> {
  job_id: string;
  ou_id: string;
  work: Work;
  total: number | null;
  at: string;
  actor?: z.infer<typeof happened.actor>;
}

/**
 * The records of a service's jobs, besides the commands that ask for them.
 * @param work what the jobs are to do: a union by `kind`, the name of the kind of job
 * @param found what steps find out for the results of their jobs; absent where no job has a result
 */
export function jobRecords<const Service extends ServiceName, Work extends z.ZodType>(
  service: Service,
  work: Work,
  found?: z.ZodType,
) {
  const onCommands = { topic: `${service}.commands`, key: 'job_id' } as const;
  const onEvents = { topic: `${service}.events`, key: 'job_id' } as const;
  return {
    continueJob: defineRecord({
      type: 'ContinueJob',
      ...onCommands,
      description:
        'Do the next step of a job. Sent by the service to itself, in the transaction of the step before.',
      schema: continueJob,
    }),
    cancelJob: defineRecord({
      type: 'CancelJob',
      ...onCommands,
      description: "Cancel a job: no further step is done. Forwarded to the job's partition, which replies.",
      schema: cancelJob,
    }),
    jobStarted: defineRecord({
      type: 'JobStarted',
      ...onEvents,
      description: 'A job has begun.',
      schema: z.strictObject({
        ...job,
        work,
        total: z.int().min(0).nullable().describe('Items that there are to do, as far as it is known.'),
        ...happened,
      }),
    }),
    jobAdvanced: defineRecord({
      type: 'JobAdvanced',
      ...onEvents,
      description: 'A step of a job is done.',
      schema: found
        ? jobAdvanced.extend({
            found: found.optional().describe('What the step has found out, for the result of the job.'),
          })
        : jobAdvanced,
    }),
    jobEnded: defineRecord({
      type: 'JobEnded',
      ...onEvents,
      description: 'A job has come to its end.',
      schema: jobEnded,
    }),
    jobCancelled: defineRecord({
      type: 'JobCancelled',
      ...onEvents,
      description: 'A job was cancelled. What its steps have done stays.',
      schema: jobCancelled,
    }),
  };
}

/** The records of any service's jobs. */
export type JobRecords = ReturnType<typeof jobRecords<ServiceName, z.ZodType>>;
