// The time as the deliverer sees it, and how it is told that a moment has come.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Runs this once, at the moment or a little later.
   * @returns forgets it
   */
  at(moment: number, run: () => void): () => void;
}

/** Timers cannot wait longer than 24 days. */
const longestWaitMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  at: (moment, run) => {
    let timer: NodeJS.Timeout;
    const wait = () => {
      const left = moment - Date.now();
      timer =
        left > longestWaitMs
          ? setTimeout(wait, longestWaitMs)
          : setTimeout(run, Math.max(0, Math.ceil(left)));
    };
    wait();
    return () => {
      clearTimeout(timer);
    };
  },
};
