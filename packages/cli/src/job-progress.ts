// Waits for a job, with the progress bar: how far it is, its rate, and the time that is left.
import { setTimeout as delay } from 'node:timers/promises';
import type { CallAnswer, Client } from '@lead-scoring/client';
import { progressBar, type Output, type Progress } from './output.js';

const lookEveryMs = 300;

/** @returns the job, once it has ended */
export async function endOfJob(client: Client, id: string, output: Output): Promise<CallAnswer<'getJob'>> {
  let bar: Progress | undefined;
  try {
    for (;;) {
      const job = await client.call('getJob', { parameters: { id } });
      if (job.status !== 'running') return job;
      bar ??= progressBar(output, job.total ?? 0, 'records');
      bar.update(job.done, job.done);
      await delay(lookEveryMs);
    }
  } finally {
    bar?.stop();
  }
}
