// Slots bound the attempts under way in a process, over all channels: far more than one channel's limit, so that destinations
// that hang leave slots for the others.

export interface Slots {
  /**
   * Takes a slot; null when none is free.
   * @param ailing the last attempts of the destination failed: ailing destinations share a part of the slots
   * @returns gives the slot back
   */
  take(ailing: boolean): (() => void) | null;
  /**
   * Calls `run` once when a slot has become free.
   * @returns cancels the call
   */
  whenFree(ailing: boolean, run: () => void): () => void;
}

export function createSlots({ maximum, forAiling }: { maximum: number; forAiling: number }): Slots {
  let taken = 0;
  let takenByAiling = 0;
  const waiting = { ailing: new Set<() => void>(), healthy: new Set<() => void>() };

  function wakeOne(queue: Set<() => void>): void {
    for (const run of queue) {
      queue.delete(run);
      run();
      return;
    }
  }

  return {
    take: (ailing) => {
      if (taken >= maximum || (ailing && takenByAiling >= forAiling)) return null;
      taken += 1;
      if (ailing) takenByAiling += 1;
      return () => {
        taken -= 1;
        if (ailing) takenByAiling -= 1;
        wakeOne(waiting.healthy);
        wakeOne(waiting.ailing);
      };
    },
    whenFree: (ailing, run) => {
      const queue = ailing ? waiting.ailing : waiting.healthy;
      queue.add(run);
      return () => {
        queue.delete(run);
      };
    },
  };
}
