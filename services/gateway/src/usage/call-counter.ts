// Counts API calls by credential and route group. A call is counted in the database before it is answered: the calls of all requests that
// wait are written together, while their handlers work.
import { randomUUID } from 'node:crypto';
import { usagePlaceOf } from '@lead-scoring/contracts';
import { isDuplicateKey, isRetriable, type ReadModel } from '@lead-scoring/read-model';
import { defineComponent, pause, type Component, type Logger } from '@lead-scoring/service';
import type { DatabaseGate } from '../database-gate.js';
import { callCounts, writeOf, type CallTally, type CountWrite } from './call-documents.js';
import { earliestWrite, type EndedWrite } from './write-pacing-model.js';

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
/** Documents in one write. */
const largestWrite = 500;

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
  /** Calls that no write has taken yet. */
  #calls = 0;
  #lastWrite: EndedWrite | null = null;
  /** The writes that are to come without a pause in between; null: none is due. */
  #writing: Promise<void> | null = null;
  readonly #stopping = new AbortController();

  constructor(private readonly options: CallCounterOptions) {}

  count({ organisationId, credential, group }: Call): Promise<void> {
    const { day, hour } = usagePlaceOf(this.#now());
    const tally = this.#tallyOf(organisationId, credential, day);
    const groups = tally.hours.get(hour) ?? new Map<string, number>();
    tally.hours.set(hour, groups.set(group, (groups.get(group) ?? 0) + 1));
    this.#unwritten.add(tally);
    this.#calls += 1;
    const counted = this.#isAway
      ? Promise.resolve()
      : new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#writing ??= this.#writeAll();
    return counted;
  }

  /** Whether the last write failed: nobody then waits for the next one. */
  get #isAway(): boolean {
    return this.#lastWrite?.isFailed === true;
  }

  /** Writes what is left, once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#writing;
    await this.#write();
    for (const resolve of this.#waiting.splice(0)) resolve();
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

  /** Writes until nothing is left, one write at a time. */
  async #writeAll(): Promise<void> {
    while (this.#unwritten.size > 0 && !this.#stopping.signal.aborted) {
      const waitMs = earliestWrite(this.#lastWrite) - performance.now();
      if (waitMs > 0) await pause(waitMs, this.#stopping.signal);
      await this.#writeForWaiting();
    }
    this.#writing = null;
  }

  async #writeForWaiting(): Promise<void> {
    const [began, calls] = [performance.now(), this.#calls];
    this.#calls = 0;
    const waiting = this.#waiting.splice(0);
    const isFailed = !(await this.#write());
    this.#lastWrite = { began, calls, isFailed };
    if (isFailed) waiting.push(...this.#waiting.splice(0));
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
