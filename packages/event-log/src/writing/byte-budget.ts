// How many bytes of records may wait to be written.
import { EventLogError } from '../errors.js';

export class ByteBudget {
  #used = 0;

  constructor(private readonly limit: number) {}

  get used(): number {
    return this.#used;
  }

  /** @throws EventLogError `log_overloaded` where so many bytes are too much, unless nothing else waits */
  check(bytes: number): void {
    if (this.#used === 0 || this.#used + bytes <= this.limit) return;
    throw new EventLogError('log_overloaded', 'too many records are waiting to be written: try again later', {
      retriable: true,
    });
  }

  take(bytes: number): void {
    this.#used += bytes;
  }

  free(bytes: number): void {
    this.#used -= bytes;
  }
}
