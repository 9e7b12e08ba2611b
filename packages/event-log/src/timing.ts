// Pauses, time limits, and turns.
import { setImmediate } from 'node:timers/promises';

/** Milliseconds of a turn. */
const turnMs = 5;

/** Divides a long computation into turns: between two of them, the process serves its requests and its other partitions. */
export class Turns {
  #end = performance.now() + turnMs;

  /** To be called between two pieces of the computation, each far shorter than a turn: it gives way when the turn is over. */
  async giveWay(): Promise<void> {
    if (performance.now() < this.#end) return;
    await setImmediate();
    this.#end = performance.now() + turnMs;
  }
}

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/** The promise's outcome, or a rejection with `late()` after `ms` milliseconds. */
export async function within<Value>(promise: Promise<Value>, ms: number, late: () => Error): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(late());
        }, ms);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** The promise's outcome, or undefined as soon as the signal is aborted; a later outcome is dropped. */
export async function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  promise.catch(() => undefined);
  if (signal.aborted) return undefined;
  let stop: (() => void) | undefined;
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => {
      resolve(undefined);
    };
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (stop) signal.removeEventListener('abort', stop);
  }
}
