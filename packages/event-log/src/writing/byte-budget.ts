// Limits the bytes of records that wait to be written.
import { EventLogError } from '../errors.js';

export class ByteBudget {
  #used = 0;

  constructor(private readonly limit: number) {}

  get used(): number {
    return this.#used;
  }

  /**
   * @throws EventLogError `log_overloaded` when the bytes exceed the limit; a single write on an empty budget is always
   * accepted
   */
  check(bytes: number): void {
    if (this.#used === 0 || this.#used + bytes <= this.limit) return;
    throw new EventLogError(
      'log_overloaded',
      'too many bytes of records are waiting to be written: try again later',
      {
        retriable: true,
      },
    );
  }

  take(bytes: number): void {
    this.#used += bytes;
  }

  free(bytes: number): void {
    this.#used -= bytes;
  }
}
