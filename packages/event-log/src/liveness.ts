// Detects partitions without progress. A process that runs while its work is stuck is the worst state: the group counts
// it as healthy, so no other process takes the partition.

/** Called repeatedly during long work to report progress. */
export type Touch = () => void;

export interface Liveness {
  touch: Touch;
  /** Milliseconds without progress, not counting the time in which the process was suspended. */
  quietMs(): number;
  stop(): void;
}

/** A partition with progress calls `touch` at least every second: a fetch without records returns after 0.5 s. */
export const quietUntilUnreadyMs = 10_000;
/**
 * Longer than one unanswered request (30 s) and the following attempt; with the 10 s of an orderly stop, the process
 * ends within 60 s of the last progress.
 */
const stallMs = 42_000;
const tickMs = 1_000;

/** @param onStall called once when there was no progress for too long */
export function watchLiveness(onStall: (quietMs: number) => void): Liveness {
  let quietMs = 0;
  let tickedAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    // A suspended or computing process cannot make progress: each tick counts for at most two intervals.
    quietMs += Math.min(now - tickedAt, 2 * tickMs);
    tickedAt = now;
    if (quietMs < stallMs) return;
    clearInterval(timer);
    onStall(quietMs);
  }, tickMs);
  return {
    touch: () => {
      quietMs = 0;
    },
    quietMs: () => quietMs,
    stop: () => {
      clearInterval(timer);
    },
  };
}
