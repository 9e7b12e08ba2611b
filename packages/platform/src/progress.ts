// Progress messages with the time elapsed: a first start downloads and builds for one to two minutes, and the
// user must see that it goes on.

export interface Progress {
  say(message: string): void;
  /** Runs one step, with a message when it begins, one every 10 s while it runs, and one when it has ended. */
  step<T>(label: string, work: () => Promise<T>): Promise<T>;
}

const REMINDER_MS = 10_000;

export function createProgress(onProgress: (message: string) => void): Progress {
  return {
    say: onProgress,
    async step(label, work) {
      const startedAt = performance.now();
      const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(1);
      onProgress(`${label} …`);
      const reminder = setInterval(() => onProgress(`${label} … ${seconds()} s`), REMINDER_MS);
      try {
        const result = await work();
        onProgress(`${label}: done in ${seconds()} s`);
        return result;
      } finally {
        clearInterval(reminder);
      }
    },
  };
}
