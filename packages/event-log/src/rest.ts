// When an input is to be handled next. Whoever has read it to its end rests after a batch: a batch costs much more than a
// record in it, and without rest many small ones would take all that the machine has.

/** Times are in milliseconds of one clock. */
export interface Rest {
  /** Until then what comes in is gathered. */
  until(): number;
  /** Something came in, and nothing had been there since the last batch or the rest after it. */
  came(now: number, longestMs: number): void;
  /**
   * A batch was handled.
   * @param cycleOf from the time that a batch takes lately, the time from the beginning of this one to that of the next, but
   * for what was rested before
   */
  handled(begun: number, ended: number, cycleOf: (batchMs: number) => number): void;
  /** There is more to read. */
  end(): void;
}

/**
 * How much of the time that a batch takes lately is that of the last one. One that was held up is no reason to rest: people
 * have waited for it.
 */
const weightOfLast = 0.2;

/** While nothing comes an input rests as well: that counts for the rests after the next batches, up to the longest. */
export function createRest(now: number): Rest {
  let until = now;
  let ended = now;
  let restedMs = 0;
  let batchMs: number | undefined;
  return {
    until: () => until,
    came(at, longestMs) {
      restedMs = Math.min(restedMs + Math.max(0, at - Math.max(ended, until)), longestMs);
    },
    handled(begun, at, cycleOf) {
      batchMs = batchMs === undefined ? at - begun : batchMs + (at - begun - batchMs) * weightOfLast;
      const cycleMs = cycleOf(batchMs);
      const counted = Math.min(restedMs, cycleMs);
      restedMs -= counted;
      until = begun + cycleMs - counted;
      ended = at;
    },
    end() {
      until = 0;
    },
  };
}
