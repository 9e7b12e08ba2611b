// Starts the load generator in a process of its own, so that it does not share an event loop with the contender.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { WorkloadPlan } from '../workload.js';
import type { Target } from './connection.js';
import type { FloodResult, ResultMessage, ResultOf, Work, WorkMessage } from './protocol.js';
import type { ReadableBy } from './readable.js';

export interface LoadGenerator {
  /** Runs one piece of work; the caller waits for it before it sends the next. */
  perform<Kind extends Work>(work: Kind): Promise<ResultOf[Kind['do']]>;
  stop(): void;
}

export function startLoadGenerator(): LoadGenerator {
  const child = fork(fileURLToPath(new URL('./generator-process.js', import.meta.url)), [], {
    execArgv: ['--max-old-space-size=4096'],
  });
  const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let number = 0;
  child.on('message', (message: ResultMessage) => {
    const one = waiting.get(message.number);
    waiting.delete(message.number);
    if ('error' in message) one?.reject(new Error(`load generator: ${message.error}`));
    else one?.resolve(message.result as never);
  });
  child.on('exit', (code, signal) => {
    for (const { reject } of waiting.values())
      reject(new Error(`the load generator ended (${signal ?? String(code)})`));
    waiting.clear();
  });
  return {
    perform: (work) =>
      new Promise((resolve, reject) => {
        number += 1;
        waiting.set(number, { resolve, reject });
        child.send({ number, work } satisfies WorkMessage);
      }),
    stop: () => {
      if (child.connected) child.disconnect();
    },
  };
}

const floodConnections = 16;
const readableTimeoutMs = 600_000;

/**
 * Sends all events of a plan without pause, and waits until they are readable.
 * @param acceptedBefore how many events this contender has accepted before; 0 where positions alone decide
 * @throws Error when they are not readable within ten minutes
 */
export async function floodUntilReadable(
  generator: LoadGenerator,
  { target, readable }: { target: Target; readable: ReadableBy },
  plan: WorkloadPlan,
  acceptedBefore = 0,
): Promise<FloodResult & { readableMs: number }> {
  const { readableMs, ...result } = await generator.perform({
    do: 'flood',
    target,
    plan,
    connections: floodConnections,
    readable: { by: readable, timeoutMs: readableTimeoutMs, acceptedBefore },
  });
  if (readableMs === null) throw new Error('the load generator did not wait until all was readable');
  return { ...result, readableMs };
}
