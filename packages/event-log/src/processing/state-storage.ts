// When a partition's state is stored: beside the batches, one at a time, and no more often than asked for.
import { timed, type ProcessingMetrics } from '../metrics.js';
import type { Checkpoint } from '../processor-options.js';

const atOnce = AbortSignal.abort();

export interface StorageOptions {
  metrics: ProcessingMetrics;
  /** Milliseconds between two beginnings of storing while batches follow each other. */
  everyMs: number;
  write: (checkpoint: Checkpoint, awaited: AbortSignal) => Promise<void>;
  /** What is folded as of now. */
  checkpoint: () => Checkpoint;
}

export class StateStorage {
  #storedAt = performance.now();
  #isStored = true;
  /** The storing that is under way, or how the last one ended. */
  #storing: Promise<void> = Promise.resolve();
  #isStoring = false;
  /** Aborted when somebody waits for the end of what is under way. */
  #awaited = new AbortController();

  constructor(private readonly options: StorageOptions) {}

  isDue(): boolean {
    return performance.now() - this.#storedAt >= this.options.everyMs;
  }

  /** Spreads the partitions of a process: the first storing comes by this part of the interval earlier. */
  advance(phase: number): void {
    this.#storedAt -= this.options.everyMs * phase;
  }

  /** Stores as of a checkpoint that a catch-up has reached. */
  async storeAt(checkpoint: Checkpoint): Promise<void> {
    await this.options.write(checkpoint, atOnce);
    this.#storedAt = performance.now();
  }

  /** Stores what is folded as of now, and waits for it. */
  storeNow(): Promise<void> {
    return this.#store(atOnce);
  }

  /** Stores beside the next batches where it is time, after what is under way: a failure is that of a later batch. */
  async storeInTime(): Promise<void> {
    this.#isStored = false;
    if (!this.isDue()) return;
    await this.untilStored();
    this.storeBeside();
  }

  storeBeside(): void {
    this.#isStoring = true;
    this.#awaited = new AbortController();
    this.#storing = this.#store(this.#awaited.signal).finally(() => {
      this.#isStoring = false;
    });
    this.#storing.catch(() => undefined);
  }

  /** Resolves once what is under way is stored. @throws the error of storing */
  untilStored(): Promise<void> {
    this.#awaited.abort();
    return this.#storing;
  }

  /** Stores what is not stored yet: at the end it is waited for, and between two batches it is not. */
  async storeRest(isLast: boolean): Promise<void> {
    if (!isLast) {
      this.#awaited.abort();
      if (this.#isStoring) return;
    }
    await this.untilStored();
    if (this.#isStored) return;
    if (isLast) await this.storeNow();
    else this.storeBeside();
  }

  async #store(awaited: AbortSignal): Promise<void> {
    const { metrics, write, checkpoint } = this.options;
    this.#storedAt = performance.now();
    this.#isStored = true;
    const reached = checkpoint();
    await timed(metrics, 'store', () => write(reached, awaited));
  }
}
