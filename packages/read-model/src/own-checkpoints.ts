// The checkpoints that partition states of this process own, as they were last stored: a read of the same process that waits for a
// checkpoint hears of it when it is stored, and need not ask the database.
import type { StoredPlace } from './checkpoint-documents.js';
import type { WriteLease } from './write-lease.js';

interface OwnCheckpoint {
  readonly place: StoredPlace;
  /** The lease of the partition state that owns the checkpoint. */
  readonly lease: Pick<WriteLease, 'hasEnded'>;
}

export class OwnCheckpoints {
  readonly #stored = new Map<string, OwnCheckpoint>();
  #end: () => void = () => undefined;
  #next = this.#nextStore();

  /** Notes a checkpoint that the database has acknowledged. */
  stored(id: string, own: OwnCheckpoint): void {
    this.#stored.set(id, own);
    this.#end();
    this.#next = this.#nextStore();
  }

  /** The place of a checkpoint; null where no partition state of this process owns it. */
  placeOf(id: string): StoredPlace | null {
    const own = this.#stored.get(id);
    if (!own?.lease.hasEnded()) return own?.place ?? null;
    this.#stored.delete(id);
    return null;
  }

  /** Resolves when the next checkpoint is stored. */
  next(): Promise<void> {
    return this.#next;
  }

  #nextStore(): Promise<void> {
    return new Promise((resolve) => {
      this.#end = resolve;
    });
  }
}
