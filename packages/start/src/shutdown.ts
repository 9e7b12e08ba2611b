// The orderly end of `npm start`: at Ctrl-C, at any time, and after an error.
import { messageOf, say } from './terminal.js';

/** Runs the registered functions, the last first, and then ends this process. */
export class Shutdown {
  readonly #ends: (() => Promise<void>)[] = [];
  readonly #begun = new AbortController();

  /** Is aborted when the end begins. */
  get signal(): AbortSignal {
    return this.#begun.signal;
  }

  /** Registers a function that ends something which was started, or is still being started. */
  add(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  onSignals(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void this.run(0));
  }

  /** Resolves never: when all functions have ended, so has this process. */
  async run(exitCode: number): Promise<void> {
    if (this.signal.aborted) return;
    this.#begun.abort();
    if (this.#ends.length > 0) say('Stopping …');
    for (const end of this.#ends.reverse())
      await end().catch((error: unknown) => {
        say(`While stopping: ${messageOf(error)}`);
      });
    process.exit(exitCode);
  }
}
