// The door of a producer's queue: who finds it full waits in turn, or is turned away.
import { sizeOf, type EventQueue } from './queue.js';

export interface Admission {
  /** Adds the event now or, in turn, when there is room; false when it was dropped. */
  admit(line: string): Promise<boolean>;
  /** To be called when there may be room. */
  letIn: () => void;
  /** Turns away those who wait, and all who come. */
  shut(error: Error): void;
}

interface Waiting {
  line: string;
  resolve: (added: Promise<boolean>) => void;
  reject: (error: Error) => void;
}

/** Calls that wait at most: more come only from a caller that does not wait for `send`. */
const maximumWaiting = 10_000;

export function admission(queue: EventQueue, whenFull: 'wait' | 'drop', onAdded: () => void): Admission {
  let waiting: Waiting[] = [];
  let shut: Error | null = null;
  const add = async (line: string): Promise<boolean> => {
    const added = queue.add(line);
    onAdded();
    await added;
    return true;
  };
  return {
    admit(line) {
      if (shut) return Promise.reject(shut);
      if (waiting.length === 0 && !queue.isFull(sizeOf(line))) return add(line);
      if (whenFull === 'drop') return Promise.resolve(false);
      if (waiting.length >= maximumWaiting)
        return Promise.reject(
          new Error(
            `${maximumWaiting} calls of send wait for room: wait for each, or set whenFull to "drop"`,
          ),
        );
      return new Promise((resolve, reject) => {
        waiting.push({ line, resolve, reject });
      });
    },
    letIn() {
      let count = 0;
      for (const { line, resolve } of waiting) {
        if (queue.isFull(sizeOf(line))) break;
        resolve(add(line));
        count += 1;
      }
      if (count > 0) waiting = waiting.slice(count);
    },
    shut(error) {
      shut = error;
      for (const { reject } of waiting) reject(error);
      waiting = [];
    },
  };
}
