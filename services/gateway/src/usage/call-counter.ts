// Counts API calls by credential and route group. A call is counted in the database before it is answered: the calls of all requests that
// wait are written together, while their handlers work.
import { randomUUID } from 'node:crypto';
import { usagePlaceOf } from '@lead-scoring/contracts';
import { isDuplicateKey, isRetriable, type ReadModel } from '@lead-scoring/read-model';
import { defineComponent, pause, type Component, type Logger } from '@lead-scoring/service';
import type { DatabaseGate } from '../database-gate.js';
import { callCounts, writeOf, type CallTally, type CountWrite } from './call-documents.js';

/** A call of a credential to a route of a group. */
export interface Call {
  organisationId: string;
  /** The actor: `token:<id>`, `service_account:<id>` or `member:<id>`. */
  credential: string;
  /** The route's tag. */
  group: string;
}

export interface CallCounter {
  /**
   * Counts a call.
   * @returns resolves once the database has the count. While the database is away it resolves too: the count is then in memory only, and is
   *   written when the database is back. Never rejects.
   */
  count(call: Call): Promise<void>;
}

export interface CallCounterOptions {
  readModel: Pick<ReadModel, 'collection'>;
  gate: DatabaseGate;
  logger: Logger;
  /** Milliseconds since 1970. */
  clock?: () => number;
}

/** The time after the end of a day at which its tallies are forgotten. */
const forgottenMs = 3_600_000;
/** The least time between the beginnings of two writes. */
const spacingMs = 10;
const writesAtATime = 4;
/** Documents in one write. */
const largestWrite = 500;
/** The pause after a failed write. */
const retryMs = 1_000;

export function createCallCounter(options: CallCounterOptions): Component<CallCounter> {
  return defineComponent('call counter', () => {
    const counter = new Counter(options);
    return Promise.resolve({
      value: { count: (call: Call) => counter.count(call) },
      stop: () => counter.stop(),
    });
  });
}

class Counter {
  /** Other processes count in documents of their own, also an earlier process of this gateway. */
  readonly #processId = randomUUID();
  /** The tallies of the current day, and of an earlier one that is not written yet, by day and credential. */
  readonly #tallies = new Map<string, CallTally>();
  readonly #unwritten = new Set<CallTally>();
  #waiting: (() => void)[] = [];
  #isDue = false;
  #lastBegan = -Infinity;
  readonly #inFlight = new Set<Promise<void>>();
  /** Whether the last write failed: nobody then waits for the next one. */
  #isAway = false;
  readonly #stopping = new AbortController();

  constructor(private readonly options: CallCounterOptions) {}

  count({ organisationId, credential, group }: Call): Promise<void> {
    const { day, hour } = usagePlaceOf(this.#now());
    const tally = this.#tallyOf(organisationId, credential, day);
    const groups = tally.hours.get(hour) ?? new Map<string, number>();
    tally.hours.set(hour, groups.set(group, (groups.get(group) ?? 0) + 1));
    this.#unwritten.add(tally);
    const counted = this.#isAway
      ? Promise.resolve()
      : new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#writeWhenDue();
    return counted;
  }

  /** Writes what is left, once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#inFlight);
    await this.#write();
  }

  #now(): number {
    return this.options.clock?.() ?? Date.now();
  }

  #tallyOf(organisationId: string, credential: string, day: number): CallTally {
    const key = `${String(day)} ${credential}`;
    const known = this.#tallies.get(key);
    if (known) return known;
    const tally: CallTally = { organisationId, credential, day, hours: new Map() };
    this.#tallies.set(key, tally);
    return tally;
  }

  /** Begins the next write when the last one began long enough ago. Several may be under way: they may arrive in any order. */
  #writeWhenDue(): void {
    if (this.#isDue || this.#unwritten.size === 0 || this.#inFlight.size >= writesAtATime) return;
    this.#isDue = true;
    const earliest = this.#lastBegan + (this.#isAway ? retryMs : spacingMs);
    const write = pause(Math.max(0, earliest - performance.now()), this.#stopping.signal).then(() => {
      this.#isDue = false;
      return this.#writeForWaiting();
    });
    const ended = write.finally(() => {
      this.#inFlight.delete(ended);
      if (!this.#stopping.signal.aborted) this.#writeWhenDue();
    });
    this.#inFlight.add(ended);
  }

  async #writeForWaiting(): Promise<void> {
    this.#lastBegan = performance.now();
    const waiting = this.#waiting.splice(0);
    this.#isAway = !(await this.#write());
    if (this.#isAway) waiting.push(...this.#waiting.splice(0));
    for (const resolve of waiting) resolve();
  }

  /** Writes all that is counted at this moment. @returns whether all was written; the rest stays unwritten */
  async #write(): Promise<boolean> {
    const { readModel, gate, logger } = this.options;
    const tallies = [...this.#unwritten];
    const writes = tallies.map((tally) => writeOf(tally, this.#processId));
    this.#unwritten.clear();
    for (let from = 0; from < writes.length; from += largestWrite) {
      const part = writes.slice(from, from + largestWrite);
      try {
        const write = () => writeCounts(readModel, part);
        // Of two writes that create a document at the same time, one fails and finds it the second time.
        await gate.run(() =>
          write().catch((error: unknown) => {
            if (!isDuplicateKey(error)) throw error;
            return write();
          }),
        );
      } catch (error) {
        for (const tally of tallies.slice(from)) this.#unwritten.add(tally);
        if (!isRetriable(error)) logger.error({ err: error }, 'API calls cannot be counted in the database');
        return false;
      }
    }
    for (const tally of tallies) this.#forgetIfPast(tally);
    return true;
  }

  #forgetIfPast(tally: CallTally): void {
    if (this.#unwritten.has(tally) || usagePlaceOf(this.#now() - forgottenMs).day <= tally.day) return;
    this.#tallies.delete(`${String(tally.day)} ${tally.credential}`);
  }
}

/** One credential is most frequent, and one update costs less than a list of one. */
async function writeCounts(
  readModel: Pick<ReadModel, 'collection'>,
  writes: readonly CountWrite[],
): Promise<void> {
  const collection = readModel.collection(callCounts);
  const [only, ...others] = writes;
  if (only && others.length === 0) await collection.updateOne(only.filter, only.update, { upsert: true });
  else
    await collection.bulkWrite(
      writes.map((write) => ({ updateOne: { ...write, upsert: true } })),
      { ordered: false },
    );
}
