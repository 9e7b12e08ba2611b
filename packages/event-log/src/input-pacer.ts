// Decides when a round begins. A batch costs much more than a record in it, so an input that was read to its end
// lingers after a batch, and the records that arrive meanwhile form the next batch. Pure: the caller passes the times.
import type { TopicName } from '@lead-scoring/contracts';
import { createLinger, type Linger } from './linger.js';
import { isEventTopic } from './session.js';

/** The buffered records of one input of one partition. Times are monotonic milliseconds. */
export interface BufferedInput {
  topic: TopicName;
  arrivedAt: number;
  /** The topic has more records to read, or the buffer is full. */
  isBehind: boolean;
  /** A caller waits for the reply to one of the records, or its declaration lacks `mayWait`. */
  isUrgent: boolean;
}

export interface PacerOptions {
  /**
   * Minimum interval between two batches of an event input, in milliseconds, while records keep coming that may wait.
   * 0: no interval.
   */
  eventsEveryMs: number;
  /**
   * How long records of an event input wait for records of another input, to form one batch with them, in milliseconds.
   */
  patienceMs(topic: TopicName): number;
}

/** A command input starts a batch at most every 2.5 × recent batch time, capped at 150 ms. */
const cycleFactor = 2.5;
const longestCycleMs = 150;
/** The inputs count as idle after twice the longest cycle without a batch. */
export const idleMs = 2 * longestCycleMs;

export class InputPacer {
  readonly #lingers = new Map<TopicName, Linger>();
  /** Inputs with buffered records. */
  readonly #waiting = new Set<TopicName>();

  constructor(private readonly options: PacerOptions) {}

  /** An input has buffered records. */
  arrived(topic: TopicName, now: number): void {
    if (this.#waiting.has(topic)) return;
    this.#waiting.add(topic);
    this.#lingerOf(topic, now).arrived(now, this.#cycleMs(topic, Infinity));
  }

  /** The time at which the first of these inputs is due; Infinity when there are none. */
  dueAt(buffered: readonly BufferedInput[], now: number): number {
    return Math.min(Infinity, ...buffered.map((one) => this.#dueAt(one, now)));
  }

  /**
   * A batch with records of these inputs was handled. `wasBehind`: the input had more to read, so it does not linger.
   */
  handled(topics: ReadonlyMap<TopicName, { wasBehind: boolean }>, begun: number, ended: number): void {
    for (const [topic, { wasBehind }] of topics) {
      this.#waiting.delete(topic);
      const linger = this.#lingerOf(topic, ended);
      linger.handled(begun, ended, (batchMs) => this.#cycleMs(topic, batchMs));
      if (wasBehind) linger.skip();
    }
  }

  #dueAt({ topic, arrivedAt, isBehind, isUrgent }: BufferedInput, now: number): number {
    if (isBehind) return now;
    const patience = isEventTopic(topic) ? this.options.patienceMs(topic) : 0;
    return Math.max(arrivedAt + patience, isUrgent ? now : this.#lingerOf(topic, now).endsAt());
  }

  #cycleMs(topic: TopicName, batchMs: number): number {
    return isEventTopic(topic) ? this.options.eventsEveryMs : Math.min(batchMs * cycleFactor, longestCycleMs);
  }

  #lingerOf(topic: TopicName, now: number): Linger {
    let linger = this.#lingers.get(topic);
    if (!linger) this.#lingers.set(topic, (linger = createLinger(now)));
    return linger;
  }
}
