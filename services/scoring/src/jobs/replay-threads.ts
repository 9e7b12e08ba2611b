// Threads that perform tasks of scoring's jobs. A thread is started for a task that finds none idle, performs one task after another, and is
// ended when it has been idle for a while. The operating system gives live work far more of the processor.
import { availableParallelism, constants } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Component } from '@lead-scoring/service';
import { watchBusyShare, type BusyShareWatch } from './live-share.js';
import type { TaskInput, TaskName, TaskPerformer, TaskResult } from './replay-tasks.js';

export type TaskMessage<Name extends TaskName = TaskName> = {
  readonly [One in Name]: { readonly name: One; readonly input: TaskInput<One> };
}[Name];

export type TaskAnswer =
  | { readonly outcome: 'done'; readonly result: TaskResult<TaskName> }
  | { readonly outcome: 'failed'; readonly error: unknown; readonly isRetriable: boolean };

/** Of the threads: a tenth of what live work gets where both want the processor, so that a job goes on under full load too. */
export const lowPriority = constants.priority.PRIORITY_BELOW_NORMAL;

/** More would need more memory than they are worth: each holds the state of a group of leads. */
const mostThreads = 4;
const idleMs = 10_000;
/** Most of what a replay makes is short-lived: a larger young generation is collected less often. */
const youngGenerationMiB = 48;

export interface ReplayThreadsOptions {
  /** The program of a thread; default: `replay-thread.js`. */
  readonly program?: URL;
  /** How many tasks are performed at a time. Default: one for each processor, at most 4. */
  readonly width?: number;
}

export function createReplayThreads(options: ReplayThreadsOptions = {}): Component<TaskPerformer> {
  return {
    name: 'replay threads',
    start: () => {
      const threads = new ReplayThreads(options);
      return Promise.resolve({ value: threads, stop: () => threads.stop() });
    },
  };
}

class ReplayThreads implements TaskPerformer {
  readonly width: number;
  readonly #program: URL;
  readonly #idle = new Set<ReplayThread>();
  readonly #all = new Set<ReplayThread>();
  readonly #live: BusyShareWatch = watchBusyShare();

  constructor({
    program = new URL('./replay-thread.js', import.meta.url),
    width = Math.min(mostThreads, availableParallelism()),
  }: ReplayThreadsOptions) {
    this.#program = program;
    this.width = width;
  }

  async perform<Name extends TaskName>(
    name: Name,
    input: TaskInput<Name>,
    signal: AbortSignal,
  ): Promise<TaskResult<Name>> {
    signal.throwIfAborted();
    const [idle] = this.#idle;
    const thread = idle ?? this.#started();
    this.#idle.delete(thread);
    try {
      return await thread.perform({ name, input }, signal);
    } finally {
      if (this.#all.has(thread)) this.#idle.add(thread);
    }
  }

  apart<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#live.apart(work);
  }

  async stop(): Promise<void> {
    this.#live.stop();
    await Promise.all([...this.#all].map((thread) => thread.end()));
  }

  #started(): ReplayThread {
    const thread = new ReplayThread(this.#program, this.#live.share, () => {
      this.#all.delete(thread);
      this.#idle.delete(thread);
    });
    this.#all.add(thread);
    return thread;
  }
}

class ReplayThread {
  readonly #worker: Worker;
  #settle: ((answer: TaskAnswer) => void) | null = null;
  #idleTimer: NodeJS.Timeout | undefined;

  /**
   * @param busyShare that of the thread of live events
   * @param onEnd called when the thread takes no more tasks, whatever the reason; maybe twice
   */
  constructor(
    program: URL,
    busyShare: SharedArrayBuffer,
    private readonly onEnd: () => void,
  ) {
    // Telemetry, which the process loads first, stays with the process.
    const worker = new Worker(program, {
      execArgv: ['--enable-source-maps'],
      workerData: busyShare,
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMiB },
    });
    this.#worker = worker;
    let failure: unknown = new Error('the thread has ended before its task was done');
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', () => {
      clearTimeout(this.#idleTimer);
      this.onEnd();
      this.#settle?.({ outcome: 'failed', error: failure, isRetriable: false });
    });
    worker.on('message', (answer: TaskAnswer) => this.#settle?.(answer));
  }

  async perform<Name extends TaskName>(
    message: { readonly name: Name; readonly input: TaskInput<Name> },
    signal: AbortSignal,
  ): Promise<TaskResult<Name>> {
    clearTimeout(this.#idleTimer);
    const abort = () => void this.end();
    signal.addEventListener('abort', abort, { once: true });
    try {
      const answer = await new Promise<TaskAnswer>((resolve) => {
        this.#settle = resolve;
        this.#worker.postMessage(message);
      });
      signal.throwIfAborted();
      if (answer.outcome === 'done') return answer.result;
      throw answer.isRetriable ? retriable(answer.error) : answer.error;
    } finally {
      this.#settle = null;
      signal.removeEventListener('abort', abort);
      this.#idleTimer = setTimeout(abort, idleMs);
      this.#idleTimer.unref();
    }
  }

  async end(): Promise<void> {
    // At once, and not when it has ended: a task that it got in between would be lost.
    this.onEnd();
    await this.#worker.terminate();
  }
}

/** An error that was copied from another thread has lost its class. */
function retriable(error: unknown): Error {
  return Object.assign(new Error('a server is away', { cause: error }), { retriable: true });
}
