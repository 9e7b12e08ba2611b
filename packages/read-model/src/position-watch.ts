// Waiting until what is stored reflects the log up to a position.
import type { TopicName } from '@lead-scoring/contracts';
import type { Checkpoint, Checkpoints } from './checkpoints.js';

export interface PositionReached {
  partition: number;
  /** The next offset that must have been reached: to wait for the record at n, n + 1. */
  offset: bigint;
}

export interface PositionWatch {
  /**
   * Waits until the stored state reflects the input topic up to the given positions.
   * @returns the checkpoints of those partitions once all are reached; null when the time is over or the signal
   *   aborted first
   */
  wait(
    topic: TopicName,
    wanted: readonly PositionReached[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Map<number, Checkpoint> | null>;
}

type Found = Map<number, Checkpoint>;

const shortestPauseMs = 10;
const longestPauseMs = 100;
/** Who has waited for a second can wait for another twentieth of it: looking often is what a busy database needs least. */
const pauseAfterWaiting = 1 / 20;

/** One look at the checkpoints serves everybody who waits: a thousand waiting readers cost the database what one does. */
export function createPositionWatch(checkpoints: Pick<Checkpoints, 'loadAll'>, name: string): PositionWatch {
  let next: { at: number; timer: NodeJS.Timeout; begin: () => void; found: Promise<Found> } | undefined;

  /** The checkpoints as of a look that begins after this call, at the latest after the pause. */
  function look(pauseMs: number): Promise<Found> {
    const at = performance.now() + pauseMs;
    if (!next) {
      let begin: () => void = () => undefined;
      const found = new Promise<void>((resolve) => {
        begin = resolve;
      }).then(() => {
        next = undefined;
        return checkpoints.loadAll(name);
      });
      next = { at, timer: setTimeout(begin, pauseMs), begin, found };
    } else if (at < next.at) {
      clearTimeout(next.timer);
      next.at = at;
      next.timer = setTimeout(next.begin, pauseMs);
    }
    return next.found;
  }

  return {
    async wait(topic, wanted, timeoutMs, signal) {
      if (wanted.length === 0) return new Map();
      const began = performance.now();
      const deadline = began + timeoutMs;
      const pauseMs = () =>
        Math.min(longestPauseMs, Math.max(shortestPauseMs, (performance.now() - began) * pauseAfterWaiting));
      for (let all = await checkpoints.loadAll(name); ; all = await look(pauseMs())) {
        if (wanted.every(({ partition, offset }) => (all.get(partition)?.positions[topic] ?? 0n) >= offset))
          return new Map([...all].filter(([partition]) => wanted.some((one) => one.partition === partition)));
        if (performance.now() >= deadline || signal?.aborted) return null;
      }
    },
  };
}
