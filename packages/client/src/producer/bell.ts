// A bell for one who waits: it is rung when there may be something to do.

export interface Bell {
  ring: () => void;
  /** Resolves at the next ring, or after this time. One caller at a time. */
  wait: (ms?: number) => Promise<void>;
}

export function bell(): Bell {
  let wake = () => {};
  return {
    ring: () => {
      wake();
    },
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
}
