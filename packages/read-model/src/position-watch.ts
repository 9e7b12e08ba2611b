// Waits until the stored state reflects the log up to a position.
import type { TopicName } from '@lead-scoring/contracts';
import type { Checkpoint, Checkpoints } from './checkpoints.js';

export interface PositionReached {
  partition: number;
  /** The next offset to be reached: n + 1 for the record at n. */
  offset: bigint;
}

export interface PositionWatch {
  /**
   * Waits until the stored state reflects the input topic up to the given positions.
   * @returns the checkpoints of those partitions once all are reached; null after the timeout or when the signal is
   * aborted
   */
  wait(
    topic: TopicName,
    wanted: readonly PositionReached[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Map<number, Checkpoint> | null>;
}

type CheckpointsByPartition = Map<number, Checkpoint>;

const shortestPauseMs = 10;
const longestPauseMs = 100;
/** Each pause is a twentieth of the time waited so far, so that long waits do not load a busy database. */
const pauseAfterWaiting = 1 / 20;

/**
 * Creates a watch in which all waiters share each read of the checkpoints: a thousand waiters load the database like
 * one.
 */
export function createPositionWatch(checkpoints: Pick<Checkpoints, 'loadAll'>, name: string): PositionWatch {
  let next:
    | { at: number; timer: NodeJS.Timeout; begin: () => void; found: Promise<CheckpointsByPartition> }
    | undefined;

  /** The checkpoints as of a read that begins after this call, within the pause. */
  function nextRead(pauseMs: number): Promise<CheckpointsByPartition> {
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
      for (let all = await checkpoints.loadAll(name); ; all = await nextRead(pauseMs())) {
        if (wanted.every(({ partition, offset }) => (all.get(partition)?.positions[topic] ?? 0n) >= offset))
          return new Map([...all].filter(([partition]) => wanted.some((one) => one.partition === partition)));
        if (performance.now() >= deadline || signal?.aborted) return null;
      }
    },
  };
}
