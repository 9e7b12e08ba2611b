// How much is sent at once by a process, over all channels: far more than one channel may, so that destinations that hang
// leave room for the others.

export interface Slots {
  /**
   * A slot, as the function that gives it back; null when all are taken.
   * @param ailing the destination has done nothing but fail of late: together, such destinations get only a part
   */
  take(ailing: boolean): (() => void) | null;
  /**
   * Runs this when a slot has become free.
   * @returns forgets it
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
