// Calls of flush, which wait until the queue is settled up to a place.
import type { EventQueue } from './queue.js';

export interface Flushes {
  /** Resolves when what is in the queue now is settled. */
  wait(): Promise<void>;
  /** To be called when more is settled. */
  check(): void;
  /** Resolves all: nothing will be sent any more. */
  end(): void;
}

export function flushes(queue: EventQueue): Flushes {
  const waiting = new Set<{ until: number; resolve: () => void }>();
  let isEnded = false;
  // Events that could not be written are taken off the end again.
  const isSettled = (until: number) => isEnded || queue.settled >= Math.min(until, queue.end);
  const check = () => {
    for (const one of waiting)
      if (isSettled(one.until)) {
        waiting.delete(one);
        one.resolve();
      }
  };
  return {
    wait() {
      const until = queue.end;
      if (isSettled(until)) return Promise.resolve();
      return new Promise((resolve) => waiting.add({ until, resolve }));
    },
    check,
    end() {
      isEnded = true;
      check();
    },
  };
}
