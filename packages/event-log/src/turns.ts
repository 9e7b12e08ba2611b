// Who may work now: a process handles few batches at a time, whoever's they are. What comes while a batch waits for its
// turn is handled with it, and what many batches would hold in memory at once is never there.

/**
 * Batches that a processor or projector handles at a time. Two keep a processor core busy, the one computing while the
 * other waits for a server; each more costs memory and makes every batch smaller.
 */
export const batchesAtOnce = 2;

export interface Turns {
  /** Tells all who wait that somebody who has the turn gets on with it. */
  progressed(): void;
  /**
   * Resolves when it is the caller's turn: first come first served, but that who is urgent goes before others who wait. Nobody
   * is overtaken twice.
   * @param onProgress called while waiting, whenever somebody else has finished or gets on
   * @returns ends the turn; `waited` says whether there was a queue
   */
  take(onProgress: () => void, isUrgent?: boolean): Promise<{ end: () => void; waited: boolean }>;
}

interface Waiting {
  begin: () => void;
  onProgress: () => void;
  /** Nobody goes before it who comes later. */
  isNext: boolean;
}

function enqueue(queue: Waiting[], waiting: Waiting): void {
  const at = waiting.isNext ? queue.findLastIndex(({ isNext }) => isNext) + 1 : queue.length;
  for (const overtaken of queue.slice(at)) overtaken.isNext = true;
  queue.splice(at, 0, waiting);
}

/** @param count turns that may be taken at the same time */
export function createTurns(count: number): Turns {
  const queue: Waiting[] = [];
  let free = count;
  const progressed = () => {
    for (const { onProgress } of queue) onProgress();
  };
  const end = () => {
    const next = queue.shift();
    progressed();
    if (next) next.begin();
    else free += 1;
  };
  const once = () => {
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      end();
    };
  };
  return {
    progressed,
    take(onProgress, isUrgent = false) {
      if (free > 0) {
        free -= 1;
        return Promise.resolve({ end: once(), waited: false });
      }
      return new Promise((resolve) => {
        enqueue(queue, {
          onProgress,
          begin: () => {
            resolve({ end: once(), waited: true });
          },
          isNext: isUrgent,
        });
      });
    },
  };
}
