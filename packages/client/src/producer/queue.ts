// What a producer keeps its events in until they are answered: memory, or files that outlive the process.

/** How much of the queue one request takes. */
export interface BatchLimits {
  /** Events in a batch. */
  events: number;
  /** Bytes of their JSON. A larger event is a batch of its own. */
  bytes: number;
}

/** Events that are being sent. */
export interface QueuedBatch {
  /** Each event as a line of JSON. */
  lines: readonly string[];
  bytes: number;
  /** The place behind its last event, as `EventQueue.end` has it. */
  end: number;
}

/** A queue of events in the order in which they were added. Places in it are bytes since it was opened, with those it had then. */
export interface EventQueue {
  /** The place behind the last event. */
  readonly end: number;
  /** The place behind the last event that was taken. */
  readonly taken: number;
  /** The place up to which every event is settled. */
  readonly settled: number;
  /** Bytes of events that are not settled. */
  readonly bytes: number;
  /** Whether an event of so many bytes must wait until others are settled. */
  isFull(bytes: number): boolean;
  /** Adds an event; resolves when the queue has it as safe as it makes events. The event counts at once. */
  add(line: string): Promise<void>;
  /** Takes the next events; null when none is there that can be read. Only one call at a time. */
  take(limits: BatchLimits): Promise<QueuedBatch | null>;
  /** The batch was answered: its events are needed no more. */
  settle(batch: QueuedBatch): Promise<void>;
  /** Lets go of files. What is not settled stays in them, or is returned where the queue was only memory. */
  close(): Promise<readonly string[]>;
}

export const sizeOf = (line: string): number => Buffer.byteLength(line) + 1;

/** How far a queue is settled, when batches are settled in any order. */
export interface SettledPlaces {
  readonly place: number;
  settle(batch: { bytes: number; end: number }): void;
}

export function settledPlaces(): SettledPlaces {
  let place = 0;
  /** Batches behind one that is not settled: their beginnings and ends. */
  const ahead = new Map<number, number>();
  return {
    get place() {
      return place;
    },
    settle({ bytes, end }) {
      ahead.set(end - bytes, end);
      for (let next = ahead.get(place); next !== undefined; next = ahead.get(place)) {
        ahead.delete(place);
        place = next;
      }
    },
  };
}
