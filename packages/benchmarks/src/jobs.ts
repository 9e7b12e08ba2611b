// Waits for jobs of the system.
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@lead-scoring/client';

const pollMs = 50;

/**
 * Waits until the job is completed, and resolves with its result.
 * @throws Error when it is cancelled or has failed
 */
export async function resultOfJob(client: Client, id: string) {
  for (;;) {
    const { kind, status, errors, result } = await client.call('getJob', { parameters: { id } });
    if (status === 'completed') return result;
    if (status !== 'running') throw new Error(`the job ${kind} is ${status}: ${JSON.stringify(errors)}`);
    await pause(pollMs);
  }
}
