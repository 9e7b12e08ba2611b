// Decides when a round begins. A batch costs much more than a record in it, so an input that has been read to its end rests
// after a batch, and the records that come meanwhile are handled together. Pure: the caller passes the times.
import type { TopicName } from '@lead-scoring/contracts';
import { createRest, type Rest } from './rest.js';
import { isOfEvents } from './session.js';

/** One partition's gathered records of one input. Times are monotonic milliseconds. */
export interface GatheredInput {
  topic: TopicName;
  cameAt: number;
  /** There is more to read, or no more room to gather. */
  isBehind: boolean;
  /** A caller waits for the outcome of one of the records. */
  isUrgent: boolean;
}

export interface PacerOptions {
  /**
   * While records keep coming that may wait, an input of events starts a batch at most once in so many milliseconds. 0: at
   * once.
   */
  eventsEveryMs: number;
  /** How long what an input of events has brought waits to be handled together with what another input brings. */
  patienceMs(topic: TopicName): number;
}

/** An input of commands starts a batch at most every five times the recent batch time, and at least every 150 ms. */
const cycleFactor = 5;
const longestCycleMs = 150;
/** Nothing comes when there was no batch for twice the longest cycle. */
export const idleMs = 2 * longestCycleMs;

export class InputPacer {
  readonly #rests = new Map<TopicName, Rest>();
  /** Inputs that have something gathered. */
  readonly #waiting = new Set<TopicName>();

  constructor(private readonly options: PacerOptions) {}

  /** An input has something gathered. */
  came(topic: TopicName, now: number): void {
    if (this.#waiting.has(topic)) return;
    this.#waiting.add(topic);
    this.#restOf(topic, now).came(now, this.#cycleMs(topic, Infinity));
  }

  /** When the first of these is to be handled; Infinity for nothing. */
  dueAt(gathered: readonly GatheredInput[], now: number): number {
    return Math.min(Infinity, ...gathered.map((one) => this.#dueAt(one, now)));
  }

  /** A batch with records of these inputs was handled. `wasBehind`: there was more to read, so there is no rest. */
  handled(topics: ReadonlyMap<TopicName, { wasBehind: boolean }>, begun: number, ended: number): void {
    for (const [topic, { wasBehind }] of topics) {
      this.#waiting.delete(topic);
      const rest = this.#restOf(topic, ended);
      rest.handled(begun, ended, (batchMs) => this.#cycleMs(topic, batchMs));
      if (wasBehind) rest.end();
    }
  }

  #dueAt({ topic, cameAt, isBehind, isUrgent }: GatheredInput, now: number): number {
    if (isBehind) return now;
    const patience = isOfEvents(topic) ? this.options.patienceMs(topic) : 0;
    return Math.max(cameAt + patience, isUrgent ? now : this.#restOf(topic, now).until());
  }

  #cycleMs(topic: TopicName, batchMs: number): number {
    return isOfEvents(topic) ? this.options.eventsEveryMs : Math.min(batchMs * cycleFactor, longestCycleMs);
  }

  #restOf(topic: TopicName, now: number): Rest {
    let rest = this.#rests.get(topic);
    if (!rest) this.#rests.set(topic, (rest = createRest(now)));
    return rest;
  }
}
