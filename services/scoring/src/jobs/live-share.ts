// How busy the thread of live events is, as the threads of jobs see it, and how long these rest by it.
import { performance } from 'node:perf_hooks';

/** Watches the thread that has called it. */
export interface BusyShareWatch {
  /** For other threads: `readBusyShare`. */
  readonly share: SharedArrayBuffer;
  /** Does work of a job in the watched thread: while it is done, the share stays what it was. */
  apart<Result>(work: () => Promise<Result>): Promise<Result>;
  stop(): void;
}

/** Milliseconds over which the share is measured. */
const measuredMs = 500;
const thousandths = 1_000;
/** A thread that only answers questions about the job is busy for a smaller part of the time. */
const idleShare = 0.15;
/** For each tenth of the time by which the thread is busier, a job rests for so many times as long as it has worked. */
const restsPerTenth = 2;
const mostRests = 3;
/** Milliseconds. A job that has waited for an answer of the broker seems to have worked all the time. */
const longestRestMs = 500;

export function watchBusyShare(): BusyShareWatch {
  const share = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const measured = new Int32Array(share);
  let before = performance.eventLoopUtilization();
  let working = 0;
  let hasWorked = false;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    if (!hasWorked) Atomics.store(measured, 0, Math.round(utilization * thousandths));
    hasWorked = working > 0;
    before = now;
  }, measuredMs);
  timer.unref();
  return {
    share,
    async apart(work) {
      working += 1;
      hasWorked = true;
      try {
        return await work();
      } finally {
        working -= 1;
      }
    },
    stop() {
      clearInterval(timer);
    },
  };
}

/** The part of the last half second in which the watched thread was busy, from 0 to 1. */
export function readBusyShare(share: SharedArrayBuffer): number {
  return Atomics.load(new Int32Array(share), 0) / thousandths;
}

/** Milliseconds that a job rests after it has worked for some. */
export function restAfter(workedMs: number, busyShare: number): number {
  const rests = Math.min(mostRests, Math.max(0, busyShare - idleShare) * 10 * restsPerTenth);
  return Math.min(workedMs * rests, longestRestMs);
}
