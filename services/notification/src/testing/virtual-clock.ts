// A clock that a test advances: simulated days take no real time, and runs are deterministic.
import type { Clock } from '../delivery/clock.js';

export interface VirtualClock extends Clock {
  /** Advances the time, and runs all timers within it in order. */
  advance(ms: number): Promise<void>;
}

export function createVirtualClock(start = Date.parse('2026-01-01T00:00:00.000Z')): VirtualClock {
  let now = start;
  let count = 0;
  const alarms = new Map<number, { moment: number; run: () => void }>();

  function nextUntil(end: number): [number, { moment: number; run: () => void }] | undefined {
    return [...alarms]
      .filter(([, { moment }]) => moment <= end)
      .sort(([idA, a], [idB, b]) => a.moment - b.moment || idA - idB)[0];
  }

  return {
    now: () => now,
    at: (moment, run) => {
      const id = (count += 1);
      alarms.set(id, { moment, run });
      return () => {
        alarms.delete(id);
      };
    },
    advance: async (ms) => {
      const end = now + ms;
      await settled();
      for (let next = nextUntil(end); next; next = nextUntil(end)) {
        const [id, { moment, run }] = next;
        alarms.delete(id);
        now = Math.max(now, moment);
        run();
        await settled();
      }
      now = end;
      await settled();
    },
  };
}

/** Resolves when all promises that do not wait for the clock or for I/O have settled. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
