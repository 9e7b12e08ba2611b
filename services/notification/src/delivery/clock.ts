// The deliverer's clock: the time, and timers. Tests replace it.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Calls `run` once, at the moment or a little later.
   * @returns cancels the call
   */
  at(moment: number, run: () => void): () => void;
}

/** The longest delay of a Node.js timer is 24.8 days. */
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
