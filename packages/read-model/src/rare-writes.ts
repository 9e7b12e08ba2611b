// Writes documents that change with nearly every batch, and that nobody waits for, once in some seconds. The checkpoint names the first
// event that they lack, so that the next owner of the partition folds it again.
import type { WriteBehind } from './write-behind.js';

export class RareWrites {
  /** The offset of the first event whose changes no write has taken, and when it was folded, in monotonic milliseconds. */
  #unwritten: { readonly from: bigint; readonly since: number } | null = null;
  /** For each write that has not ended, or has failed: the offset of the first event whose changes it has taken; in the order of the writes. */
  readonly #beingWritten = new Set<{ readonly from: bigint }>();

  /** @param everyMs how long changes may wait while batches follow each other, in milliseconds */
  constructor(
    private readonly behind: WriteBehind,
    private readonly everyMs: number,
  ) {}

  /** The offset of the first event whose changes the documents lack; null: they have all. */
  get from(): bigint | null {
    const [first] = this.#beingWritten;
    return first?.from ?? this.#unwritten?.from ?? null;
  }

  /** Notes that the buffers have changes. @param from the offset of the first event that has made them */
  changed(from: bigint): void {
    this.#unwritten ??= { from, since: performance.now() };
  }

  /**
   * Writes the changes when the first of them has waited for long enough.
   * @param awaited aborted already: they are written in any case
   * @throws as `WriteBehind.write`
   */
  async write(awaited: AbortSignal): Promise<void> {
    const taken = this.#unwritten;
    if (!taken || (!awaited.aborted && performance.now() - taken.since < this.everyMs)) return;
    this.#unwritten = null;
    this.#beingWritten.add(taken);
    await this.behind.write(awaited);
    this.#beingWritten.delete(taken);
  }

  forget(): void {
    this.#unwritten = null;
    this.#beingWritten.clear();
    this.behind.forget();
  }
}
