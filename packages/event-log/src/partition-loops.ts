// The partition loops of a process, started and stopped as the group assigns partitions.
import type { PartitionLoop } from './partition-loop.js';

export class PartitionLoops {
  readonly #loops = new Map<number, PartitionLoop>();
  readonly #closing = new Map<number, Promise<void>>();
  #wanted: ReadonlySet<number> = new Set();
  #isStopped = false;

  constructor(private readonly start: (partition: number) => PartitionLoop) {}

  /** Runs loops for exactly these partitions. */
  assign(partitions: readonly number[]): void {
    this.#wanted = new Set(partitions);
    for (const [partition, loop] of this.#loops)
      if (!this.#wanted.has(partition)) this.#close(partition, loop);
    for (const partition of this.#wanted) this.#open(partition);
  }

  all(): PartitionLoop[] {
    return [...this.#loops.values()];
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const [partition, loop] of [...this.#loops]) this.#close(partition, loop);
    await Promise.all(this.#closing.values());
  }

  /** Starts a loop after the previous loop of the same partition has ended. */
  #open(partition: number): void {
    if (this.#isStopped || this.#loops.has(partition) || !this.#wanted.has(partition)) return;
    const before = this.#closing.get(partition);
    if (before) void before.then(() => this.#open(partition));
    else this.#loops.set(partition, this.start(partition));
  }

  #close(partition: number, loop: PartitionLoop): void {
    this.#loops.delete(partition);
    const closed = loop.stop().finally(() => this.#closing.delete(partition));
    this.#closing.set(partition, closed);
  }
}
