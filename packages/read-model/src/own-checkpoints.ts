// The checkpoints that partition states of this process own, as they were last stored: who waits for one of them in the same process
// hears of it at once, without looks into the database.
import type { StoredPlace } from './checkpoint-documents.js';
import type { WriteLease } from './write-lease.js';

interface OwnCheckpoint {
  readonly place: StoredPlace;
  /** Of the partition state that owns it. */
  readonly lease: Pick<WriteLease, 'hasEnded'>;
}

export class OwnCheckpoints {
  readonly #stored = new Map<string, OwnCheckpoint>();
  #end: () => void = () => undefined;
  #next = this.#nextStore();

  /** To be called when the database has acknowledged a checkpoint. */
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
