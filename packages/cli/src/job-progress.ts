// Waits for a job, with the progress bar (how far it is, its rate, and the time that is left), and for what it has found.
import { setTimeout as delay } from 'node:timers/promises';
import type { CallAnswer, Client } from '@lead-scoring/client';
import { plain, progressBar, type Output, type Progress } from './output.js';

const lookEveryMs = 300;

/** @returns the job, once it has ended */
export async function endOfJob(
  client: Client,
  id: string,
  output: Output,
  unit = 'records',
): Promise<CallAnswer<'getJob'>> {
  let bar: Progress | undefined;
  try {
    for (;;) {
      const job = await client.call('getJob', { parameters: { id } });
      if (job.status !== 'running') return job;
      bar ??= progressBar(output, job.total ?? 0, unit);
      bar.update(job.done, job.done);
      await delay(lookEveryMs);
    }
  } finally {
    bar?.stop();
  }
}

type JobResult = NonNullable<CallAnswer<'getJob'>['result']>;

interface AwaitedJob<Part extends string> {
  id: string;
  /** Its work, to complete a sentence: `compares the scores`. */
  work: string;
  /** A field that only results of its kind have. */
  part: Part;
}

/**
 * Waits for a job that this command has started, and writes it as JSON if that is wanted.
 * @returns its result; null when it was cancelled or has failed, which was noted with the reason
 */
export async function resultOfJob<Part extends string>(
  client: Client,
  { id, work, part }: AwaitedJob<Part>,
  flags: { json?: boolean },
  output: Output,
): Promise<Extract<JobResult, Record<Part, unknown>> | null> {
  output.note(`Job ${id} ${work}. It goes on if this command is interrupted.\n`);
  const job = await endOfJob(client, id, output);
  if (flags.json === true) output.write(`${JSON.stringify(job, null, 2)}\n`);
  const { status, result, errors } = job;
  if (result && hasPart(result, part)) return result;
  const error = errors.at(-1);
  output.note(`The job is ${status}${error ? `: ${plain(error.message)}` : '.'}\n`);
  return null;
}

function hasPart<Part extends string>(
  result: JobResult,
  part: Part,
): result is Extract<JobResult, Record<Part, unknown>> {
  return part in result;
}
