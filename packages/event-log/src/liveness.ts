// Whether the work on a partition moves. A process that lives while its work does not is the worst state: the group takes
// it for healthy, and nobody else takes the partition.

/** What long work calls now and then, to say that it moves. */
export type Touch = () => void;

export interface Liveness {
  touch: Touch;
  /** Milliseconds for which nothing has moved while this process ran. */
  quietMs(): number;
  stop(): void;
}

/** Work that moves touches at least every second: a fetch that finds nothing returns after half of one. */
export const quietUntilUnreadyMs = 10_000;
/**
 * Longer than one request that is not answered (30 s) and the attempt that follows it; with the 10 s of an orderly stop, the
 * process has ended 60 s after the last movement.
 */
const stallMs = 42_000;
const tickMs = 1_000;

/** @param onStall called once when nothing has moved for too long */
export function watchLiveness(onStall: (quietMs: number) => void): Liveness {
  let quietMs = 0;
  let tickedAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    // While a process is suspended, or computes, nothing can move: only the time between two ticks that could is counted.
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
