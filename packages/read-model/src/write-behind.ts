// Write-behind: what folds change is put into buffers in memory, and written in cycles while the next batches are decided and
// folded. A cycle writes each document once, however often it was changed since the cycle before.

/** Holds changes of one collection in memory until a cycle writes them. */
export interface WriteBuffer {
  /** Changes that no cycle has taken yet. */
  readonly size: number;
  /** Takes all changes as of this call. Later ones belong to the next cycle. */
  take(): TakenChanges;
  /** Drops everything in memory. */
  forget(): void;
}

/** What a cycle writes of one buffer. */
export interface TakenChanges {
  /** @param haste aborted when somebody waits for the end: a write that is spread out over time goes on without pauses */
  write(haste: AbortSignal): Promise<void>;
  /** Called when the whole cycle is stored. Until then, loads find these changes in memory. */
  stored(): void;
}

export interface WriteBehindOptions {
  /** Changes in memory, over all buffers, above which `room` waits. Default 100,000. */
  readonly maximumUnwritten?: number;
}

const defaultMaximumUnwritten = 100_000;
const atOnce = AbortSignal.abort();

/** May be a buffer of another write-behind, which then writes the changes of this one before its later stages. */
export class WriteBehind implements WriteBuffer {
  readonly #stages: readonly (readonly WriteBuffer[])[];
  readonly #buffers: readonly WriteBuffer[];
  readonly #maximumUnwritten: number;
  /** The last cycle that was asked for. After a failure it rejects, and so does each later one. */
  #written: Promise<void> = Promise.resolve();
  /** A cycle that was asked for and has not begun: it takes whatever is put in until then. */
  #due: AbortController | null = null;
  #running: AbortController | null = null;
  #hasFailed = false;
  /** Grows with `forget`: cycles of before begin no more. */
  #generation = 0;

  /** @param stages written one after the other; the buffers of one stage are written together */
  constructor(
    stages: readonly (WriteBuffer | readonly WriteBuffer[])[],
    { maximumUnwritten = defaultMaximumUnwritten }: WriteBehindOptions = {},
  ) {
    this.#stages = stages.map((stage) => ('take' in stage ? [stage] : stage));
    this.#buffers = this.#stages.flat();
    this.#maximumUnwritten = maximumUnwritten;
  }

  get size(): number {
    let size = 0;
    for (const buffer of this.#buffers) size += buffer.size;
    return size;
  }

  /**
   * Writes all that is put in as of this call, after the cycles that were asked for before.
   * @param awaited aborted when somebody waits for the end; default: somebody does
   * @throws the error of this cycle, or of an earlier one: the later changes would leave a gap
   */
  write(awaited: AbortSignal = atOnce): Promise<void> {
    if (!this.#due) {
      const due = (this.#due = new AbortController());
      const generation = this.#generation;
      this.#written = this.#written.then(() => this.#cycle(due, generation));
      this.#written.catch(() => {
        if (generation === this.#generation) this.#hasFailed = true;
      });
    }
    if (awaited.aborted) this.#hasten();
    else
      awaited.addEventListener(
        'abort',
        () => {
          this.#hasten();
        },
        { once: true },
      );
    return this.#written;
  }

  /** Resolves when all that was asked to be written as of this call is stored. @throws as `write` */
  written(): Promise<void> {
    this.#hasten();
    return this.#written;
  }

  /**
   * To be called before changes are put in: waits for the running cycle while too many are in memory, and starts the next one.
   * @throws the error of an earlier cycle
   */
  async room(): Promise<void> {
    if (this.#hasFailed) await this.#written;
    if (this.size <= this.#maximumUnwritten) return;
    await this.written();
    this.write(new AbortController().signal).catch(() => undefined);
  }

  /**
   * Drops everything in memory, after a fold that has failed: memory may be ahead of the log, and of what is stored. What the
   * log has after the checkpoint must be folded again.
   */
  forget(): void {
    this.#generation += 1;
    this.#hasten();
    this.#due = null;
    this.#hasFailed = false;
    this.#written = Promise.resolve();
    for (const buffer of this.#buffers) buffer.forget();
  }

  /** A cycle of its own begins before the other write-behind goes on. */
  take(): TakenChanges {
    const written = this.write();
    return { write: () => written, stored: () => undefined };
  }

  /** Resolves when nothing is being written any more; failures are dropped. */
  async close(): Promise<void> {
    await this.written().catch(() => undefined);
  }

  #hasten(): void {
    this.#running?.abort();
    this.#due?.abort();
  }

  async #cycle(haste: AbortController, generation: number): Promise<void> {
    if (generation !== this.#generation) return;
    this.#due = null;
    this.#running = haste;
    const stages = this.#stages.map((buffers) => buffers.map((buffer) => buffer.take()));
    for (const changes of stages) await allEnded(changes.map((one) => one.write(haste.signal)));
    for (const changes of stages.flat()) changes.stored();
    if (this.#running === haste) this.#running = null;
  }
}

/** Throws the first failure once all writes have ended: none may be running when the caller gets the error. */
async function allEnded(writes: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(writes))
    if (outcome.status === 'rejected') throw outcome.reason;
}
