// A call of write() that waits until all its records are written.
import type { TopicName } from '@lead-scoring/contracts';

/** The place of a written record. */
export interface RecordPosition {
  topic: TopicName;
  partition: number;
  offset: bigint;
}

/** Refers to none of the records: every garbage collection would copy what lives until the acknowledgement. */
export class PendingWrite {
  readonly done: Promise<RecordPosition[]>;
  readonly #positions: RecordPosition[] = [];
  readonly #timer: NodeJS.Timeout;
  #missing: number;
  #isSettled = false;
  #resolve: (positions: RecordPosition[]) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  /** @param onExpiry called after `timeoutMs`, unless the write is settled by then */
  constructor(records: number, timeoutMs: number, onExpiry: (write: PendingWrite) => void) {
    this.#missing = records;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => onExpiry(this), timeoutMs);
  }

  /** Whether the write has resolved or rejected. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** @param index the record's index in the call */
  written(index: number, position: RecordPosition): void {
    this.#positions[index] = position;
    this.#missing -= 1;
    if (this.#missing === 0 && this.#settle()) this.#resolve(this.#positions);
  }

  reject(error: Error): void {
    if (this.#settle()) this.#reject(error);
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    return true;
  }
}
