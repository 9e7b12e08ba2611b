// The records that wait for one partition, and the one batch of it that is on its way.
import type { TopicName } from '@lead-scoring/contracts';
import { takeSequence, type AppendBatch, type ProducerIdentity } from '../kafka/idempotent-appender.js';
import type { RecordToWrite } from '../kafka/record-batch.js';
import type { ByteBudget } from './byte-budget.js';
import type { PendingWrite } from './pending-write.js';

/** Bytes of one partition in one request; the brokers would refuse a larger batch. */
const maxBatchBytes = 4 * 1024 * 1024;

/** A record that waits. */
export interface Entry {
  write: PendingWrite;
  /** The record's place in the call of write(). */
  index: number;
  name: TopicName;
  message: RecordToWrite;
  bytes: number;
}

/** A batch that was sent at least once. */
interface Flight {
  readonly entries: readonly Entry[];
  readonly identity: ProducerIdentity;
  readonly firstSequence: number;
  /** Whether a request with it is under way; otherwise it has failed, and is sent again. */
  isBusy: boolean;
}

export class Lane {
  #waiting: Entry[] = [];
  #flight: Flight | undefined;

  /** @param topic as named on the wire */
  constructor(
    readonly topic: string,
    readonly partition: number,
    private readonly budget: ByteBudget,
  ) {}

  add(entry: Entry): void {
    this.#waiting.push(entry);
    this.budget.take(entry.bytes);
  }

  /** Whether there is a batch to send while none is under way. */
  isReady(): boolean {
    return this.#flight ? !this.#flight.isBusy : this.#waiting.length > 0;
  }

  /** The producer that the next batch is written by: a batch that has failed keeps its own. */
  identityOr(current: ProducerIdentity): ProducerIdentity {
    return this.#flight?.identity ?? current;
  }

  /** The batch to send now: the one that failed before, or all that waits, up to the limit. */
  takeOff(current: ProducerIdentity): AppendBatch & { firstSequence: number } {
    const { topic, partition } = this;
    if (this.#flight) {
      this.#flight.isBusy = true;
      const { entries, firstSequence } = this.#flight;
      return { topic, partition, firstSequence, messages: messagesOf(entries) };
    }
    const entries = this.#waiting.splice(0, this.#entriesWithinLimit());
    const batch = { topic, partition, messages: messagesOf(entries) };
    const firstSequence = takeSequence(current, batch);
    this.#flight = { entries, identity: current, firstSequence, isBusy: true };
    return { ...batch, firstSequence };
  }

  /** The batch is written. */
  land(firstOffset: bigint): void {
    this.#endFlight().forEach(({ write, index, name }, at) => {
      write.written(index, { topic: name, partition: this.partition, offset: firstOffset + BigInt(at) });
    });
  }

  /** The batch has failed in passing, and is sent again. */
  turnBack(): void {
    if (this.#flight) this.#flight.isBusy = false;
  }

  /** The batch is not sent again. */
  giveUp(error: Error): void {
    for (const { write } of this.#endFlight()) write.reject(error);
  }

  /** Whether the batch has failed in passing and waits to be sent again. */
  hasTurnedBack(): boolean {
    return this.#flight?.isBusy === false;
  }

  /** Whether nobody waits for the batch any more. */
  isAbandoned(): boolean {
    return this.#flight?.entries.every(({ write }) => write.isSettled) ?? false;
  }

  /** Drops the waiting records that nobody waits for any more. */
  dropSettled(): void {
    this.#waiting = this.#waiting.filter(({ write, bytes }) => {
      if (write.isSettled) this.budget.free(bytes);
      return !write.isSettled;
    });
  }

  rejectAll(error: Error): void {
    for (const { write } of [...this.#waiting, ...(this.#flight?.entries ?? [])]) write.reject(error);
  }

  #entriesWithinLimit(): number {
    let bytes = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      if (count > 0 && bytes + entry.bytes > maxBatchBytes) break;
      bytes += entry.bytes;
      count += 1;
    }
    return count;
  }

  #endFlight(): readonly Entry[] {
    const entries = this.#flight?.entries ?? [];
    this.#flight = undefined;
    for (const { bytes } of entries) this.budget.free(bytes);
    return entries;
  }
}

function messagesOf(entries: readonly Entry[]): RecordToWrite[] {
  return entries.map(({ message }) => message);
}
