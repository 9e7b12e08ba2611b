// Tells what is going on, and for how long: a first start downloads and builds for a minute or two, and
// whoever waits must see that it moves.

export interface Progress {
  say(message: string): void;
  /** Runs one step, saying when it begins, every ten seconds that it goes on, and when it has ended. */
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
