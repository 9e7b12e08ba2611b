// Stores a partition's state concurrently with the batches (write-behind), one store at a time, at most once per
// interval.
import { timed, type ProcessingMetrics } from '../metrics.js';
import type { Checkpoint } from '../processor-options.js';

const alreadyAwaited = AbortSignal.abort();

export interface StorageOptions {
  metrics: ProcessingMetrics;
  /** Minimum interval between the beginnings of two stores while batches follow each other, in milliseconds. */
  everyMs: number;
  write: (checkpoint: Checkpoint, awaited: AbortSignal) => Promise<void>;
  /** Whether a write has left something that it writes when it is awaited. */
  hasUnwritten: () => boolean;
  /** The checkpoint of the folded state. */
  checkpoint: () => Checkpoint;
}

export class StateStorage {
  #storedAt = performance.now();
  #isStored = true;
  /** The running store, or the outcome of the last one. */
  #storing: Promise<void> = Promise.resolve();
  #isStoring = false;
  /** Aborted when a caller waits for the running store. */
  #awaited = new AbortController();

  constructor(private readonly options: StorageOptions) {}

  isDue(): boolean {
    return performance.now() - this.#storedAt >= this.options.everyMs;
  }

  /** Spreads the stores of a process' partitions: the first store comes earlier by this fraction of the interval. */
  advance(phase: number): void {
    this.#storedAt -= this.options.everyMs * phase;
  }

  /** Stores at a checkpoint that a catch-up has reached. */
  async storeAt(checkpoint: Checkpoint): Promise<void> {
    await this.options.write(checkpoint, alreadyAwaited);
    this.#storedAt = performance.now();
  }

  /** Starts a store when the interval is over, after the running one; a failure surfaces in a later batch. */
  async storeIfDue(): Promise<void> {
    this.#isStored = false;
    if (!this.isDue()) return;
    await this.untilStored();
    this.startStore();
  }

  /**
   * Begins to store the state of a partition whose inputs are idle, once `everyMs` is over since the last store began. A running
   * store goes on alone.
   * @throws the error of the last store
   */
  async storeRest(): Promise<void> {
    if (this.#isStoring) return;
    await this.#storing;
    if (this.isDue()) this.#startRemaining();
  }

  /**
   * Starts a store where folds are not stored yet. Where all folds are stored, it starts one that writes the rarely written documents,
   * if any of them are still in memory alone.
   */
  #startRemaining(): void {
    if (!this.#isStored) this.startStore();
    else if (this.options.hasUnwritten()) this.startStore(true);
  }

  startStore(isAwaited = false): void {
    this.#isStoring = true;
    this.#awaited = new AbortController();
    if (isAwaited) this.#awaited.abort();
    this.#storing = this.#store(this.#awaited.signal).finally(() => {
      this.#isStoring = false;
    });
    this.#storing.catch(() => undefined);
  }

  /** Waits for the running store. @throws its error */
  untilStored(): Promise<void> {
    this.#awaited.abort();
    return this.#storing;
  }

  /** Stores the remaining state; waits for it only at the end of the session. */
  async flush(isLast: boolean): Promise<void> {
    if (!isLast) {
      this.#awaited.abort();
      if (this.#isStoring) return;
    }
    await this.untilStored();
    if (!isLast) this.#startRemaining();
    else if (!this.#isStored || this.options.hasUnwritten()) await this.#store(alreadyAwaited);
  }

  async #store(awaited: AbortSignal): Promise<void> {
    const { metrics, write, checkpoint } = this.options;
    this.#storedAt = performance.now();
    this.#isStored = true;
    const reached = checkpoint();
    await timed(metrics, 'store', () => write(reached, awaited));
  }
}
