// Bounds the memory of intake: bodies that are being read, checked or written, counted before they are read.
import { tryAgain } from '../problem.js';

export interface Reservation {
  /** Now that the size is known. @throws ProblemError 503 when there is no room for it */
  resize(bytes: number): void;
  /** Gives the room back; once is enough, twice does no harm. */
  release(): void;
}

export interface BytesInFlight {
  /** @throws ProblemError 503 `log_overloaded` when there is no room */
  reserve(bytes: number): Reservation;
  readonly used: number;
}

export function createBytesInFlight(maximum: number): BytesInFlight {
  let used = 0;
  const take = (bytes: number): void => {
    if (used + bytes > maximum)
      throw tryAgain(
        'log_overloaded',
        'More events are coming in than can be taken. Send them again in a moment.',
        1,
      );
    used += bytes;
  };
  return {
    reserve: (bytes) => {
      take(bytes);
      let held = bytes;
      return {
        resize: (to) => {
          if (to > held) take(to - held);
          else used -= held - to;
          held = to;
        },
        release: () => {
          used -= held;
          held = 0;
        },
      };
    },
    get used() {
      return used;
    },
  };
}

/**
 * Room for a body of which only the headers are known.
 * @param maximum what a body may have, before and after decompression
 */
export function expectedBytes(
  headers: { 'content-length'?: string | undefined; 'content-encoding'?: string | undefined },
  maximum: number,
): number {
  const announced = headers['content-length'] === undefined ? maximum : Number(headers['content-length']);
  // Events compress some ten times; what is more is known, and counted, when it is unpacked.
  const unpacked = headers['content-encoding'] === undefined ? announced : announced * 16;
  return Number.isFinite(unpacked) ? Math.min(maximum, unpacked) : maximum;
}
