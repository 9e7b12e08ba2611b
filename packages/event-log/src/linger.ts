// How long an input lingers. An input that was read to its end lingers after a batch: a batch costs much more than a
// record in it, and many small batches would take the whole processor.

/** Times are in milliseconds of one clock. */
export interface Linger {
  /** Records that arrive before this time are buffered. */
  endsAt(): number;
  /** The first record has arrived since the last batch. The silence before it counts as linger, up to `longestMs`. */
  arrived(now: number, longestMs: number): void;
  /**
   * A batch was handled.
   * @param cycleOf maps the recent batch time to the interval between the beginnings of two batches, from which
   * lingered silence is deducted
   */
  handled(begun: number, ended: number, cycleOf: (batchMs: number) => number): void;
  /** Ends the linger: the input has more to read. */
  skip(): void;
}

/**
 * Weight of the last batch in the moving average of the batch time. One delayed batch must not lengthen the linger
 * much, because callers have waited for it already.
 */
const weightOfLast = 0.2;

/** Silence counts as linger: it shortens the lingers after the next batches by up to the longest cycle in all. */
export function createLinger(now: number): Linger {
  let endsAt = now;
  let ended = now;
  let lingeredMs = 0;
  let batchMs: number | undefined;
  return {
    endsAt: () => endsAt,
    arrived(at, longestMs) {
      lingeredMs = Math.min(lingeredMs + Math.max(0, at - Math.max(ended, endsAt)), longestMs);
    },
    handled(begun, at, cycleOf) {
      batchMs = batchMs === undefined ? at - begun : batchMs + (at - begun - batchMs) * weightOfLast;
      const cycleMs = cycleOf(batchMs);
      const counted = Math.min(lingeredMs, cycleMs);
      lingeredMs -= counted;
      endsAt = begun + cycleMs - counted;
      ended = at;
    },
    skip() {
      endsAt = 0;
    },
  };
}
