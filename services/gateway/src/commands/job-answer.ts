// The answer of a command that has started a job: its result where it is done soon (200), else the job (202).
import {
  isProblemCode,
  problemTypeOf,
  type records,
  type RouteDeclaration,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import { ProblemError } from '@lead-scoring/service';
import type { Answer } from '../idempotency/write-claim.js';

/** Milliseconds between two looks at the job. */
const lookEveryMs = 50;

type Job = routeDeclarations.Job;

/** Asks the service that runs a job for it. */
export type FindJob = (jobId: string) => Promise<Job>;

/** @param reply of the command that has started the job: its result names it */
export async function jobAnswerOf(
  { waitsForJobMs = 0 }: Pick<RouteDeclaration, 'waitsForJobMs'>,
  reply: Extract<records.CommandReplied, { outcome: 'done' }>,
  findJob: FindJob,
): Promise<Answer> {
  const { job_id } = reply.result as { job_id: string };
  const until = Date.now() + waitsForJobMs;
  for (;;) {
    const job = await findJob(job_id);
    if (job.status === 'completed') return { status: 200, body: JSON.stringify(job.result) };
    if (job.status === 'failed') throw failed(job);
    if (Date.now() >= until) return { status: 202, body: JSON.stringify(job) };
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

function failed({ id, errors }: Job): ProblemError {
  const { code = 'internal_error', message = 'The job has failed.' } = errors.at(-1) ?? {};
  return isProblemCode(code)
    ? new ProblemError(problemTypeOf(code).status, code, message)
    : new ProblemError(500, 'internal_error', `${message} It is the job ${id}.`);
}
