// A process with a producer of the client, whose queue is on disk, that can be killed as it sends.
import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@lead-scoring/platform/waiting';
import type { TestSystem } from './test-system.js';

export interface ProducerRun {
  /** A folder for the queue, and for the reports of the process. */
  folder: string;
  /** The events that the process sends: their numbers, from and below. */
  from: number;
  below: number;
  /** The leads that they are of, in turn. */
  aliases: readonly string[];
  /** Kills the process with SIGKILL when so many events are in the queue. Default: it ends when all are answered. */
  killedAfter?: number;
}

/** The number of an event is in its metadata, as `index`. It gets its id from the producer. */
const program = `
  import { createProducer } from '@lead-scoring/client';
  const { baseUrl, token, folder, from, below, aliases } = JSON.parse(process.env.PRODUCER_RUN);
  const producer = await createProducer({ baseUrl, token, batchEvents: 50, lingerMs: 5, disk: { folder: folder + '/queue' } });
  for (let index = from; index < below; index += 1) {
    const alias = aliases[index % aliases.length];
    await producer.send({ alias_kind: 'email', alias, event_type: 'Page View', metadata: { path: '/', index } });
    process.stdout.write(index + '\\n');
  }
  if (!(await producer.close({ timeoutMs: 100_000 }))) process.exitCode = 1;
`;

/**
 * Runs the process to its end.
 * @returns the numbers of the events that the producer took, and the exit code; null when it was killed
 */
export async function runProducer(
  { url, token }: TestSystem,
  { killedAfter, ...run }: ProducerRun,
): Promise<{ taken: number[]; code: number | null }> {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  // A report in a file outlives the process; a report to a pipe may still wait in the process when it is killed.
  const report = await open(join(run.folder, `taken-from-${String(run.from)}`), 'w+');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    env: { ...environment, PRODUCER_RUN: JSON.stringify({ baseUrl: url, token, ...run }) },
    stdio: ['ignore', report.fd, 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const taken = async () =>
    (await readFile(join(run.folder, `taken-from-${String(run.from)}`), 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map(Number);
  if (killedAfter !== undefined) {
    await eventually(
      'the producer has taken so many events',
      async () => (await taken()).length >= killedAfter,
      60_000,
      5,
    );
    child.kill('SIGKILL');
  }
  const code = await ended;
  await report.close();
  return { taken: await taken(), code };
}
