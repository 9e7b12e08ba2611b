// Writes documents that change with nearly every batch, and that nobody waits for, once in some seconds. The checkpoint names the first
// event that they lack, so that the next owner of the partition folds it again.
import type { WriteBehind } from './write-behind.js';

export class RareWrites {
  /** The first event whose changes no write has taken. */
  #unwritten: bigint | null = null;
  /** The same of each write that has not ended, or has failed; in their order. */
  readonly #beingWritten = new Set<{ readonly from: bigint }>();
  #timer: NodeJS.Timeout | undefined;

  /** @param everyMs milliseconds from the first change to the write of it and of those that have come meanwhile */
  constructor(
    private readonly behind: WriteBehind,
    private readonly everyMs: number,
  ) {}

  /** The first event that the documents lack; null: they have all. */
  get from(): bigint | null {
    const [first] = this.#beingWritten;
    return first?.from ?? this.#unwritten;
  }

  /** To be called when changes were put in. @param from the first event that they come from */
  changed(from: bigint): void {
    this.#unwritten ??= from;
  }

  /**
   * Sees to it that the changes are written within the interval.
   * @param awaited aborted already: somebody waits, and they are written before this resolves
   * @throws the error of an earlier write
   */
  async write(awaited: AbortSignal): Promise<void> {
    if (awaited.aborted) await this.#writeNow();
    else if (this.#unwritten !== null)
      this.#timer ??= setTimeout(() => {
        // Later writes, and folds, throw what has failed here.
        this.#writeNow().catch(() => undefined);
      }, this.everyMs).unref();
  }

  async #writeNow(): Promise<void> {
    this.#stopTimer();
    const taken = this.#unwritten === null ? null : { from: this.#unwritten };
    this.#unwritten = null;
    if (taken) this.#beingWritten.add(taken);
    await this.behind.write();
    if (taken) this.#beingWritten.delete(taken);
  }

  forget(): void {
    this.close();
    this.#unwritten = null;
    this.#beingWritten.clear();
    this.behind.forget();
  }

  /** What is not written yet is folded again by the next owner. */
  close(): void {
    this.#stopTimer();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
