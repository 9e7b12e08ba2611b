// The records that wait to be written to one partition, and its batch in flight.
import type { TopicName } from '@lead-scoring/contracts';
import { takeSequence, type AppendBatch, type ProducerIdentity } from '../kafka/idempotent-appender.js';
import type { RecordToWrite } from '../kafka/record-batch.js';
import type { ByteBudget } from './byte-budget.js';
import type { PendingWrite } from './pending-write.js';

/** Maximum bytes of one partition in one request; the brokers would refuse a larger batch. */
const maxBatchBytes = 4 * 1024 * 1024;

/** A record that waits to be written. */
export interface QueuedRecord {
  write: PendingWrite;
  /** The record's index in the call of write(). */
  index: number;
  name: TopicName;
  message: RecordToWrite;
  bytes: number;
}

/** A batch that was sent at least once. */
interface InFlightBatch {
  readonly entries: readonly QueuedRecord[];
  readonly identity: ProducerIdentity;
  readonly firstSequence: number;
  /** Whether a request with the batch is running; otherwise the batch has failed and waits to be sent again. */
  isBusy: boolean;
}

export class PartitionQueue {
  #waiting: QueuedRecord[] = [];
  #inFlight: InFlightBatch | undefined;

  /** @param topic as named on the wire */
  constructor(
    readonly topic: string,
    readonly partition: number,
    private readonly budget: ByteBudget,
  ) {}

  add(entry: QueuedRecord): void {
    this.#waiting.push(entry);
    this.budget.take(entry.bytes);
  }

  /** Whether there is a batch to send and no request is running. */
  isReady(): boolean {
    return this.#inFlight ? !this.#inFlight.isBusy : this.#waiting.length > 0;
  }

  /** The producer of the next batch: a failed batch keeps its own. */
  identityOr(current: ProducerIdentity): ProducerIdentity {
    return this.#inFlight?.identity ?? current;
  }

  /** The batch to send: the failed one, or all waiting records up to the limit. */
  nextBatch(current: ProducerIdentity): AppendBatch & { firstSequence: number } {
    const { topic, partition } = this;
    if (this.#inFlight) {
      this.#inFlight.isBusy = true;
      const { entries, firstSequence } = this.#inFlight;
      return { topic, partition, firstSequence, messages: messagesOf(entries) };
    }
    const entries = this.#waiting.splice(0, this.#countWithinLimit());
    const batch = { topic, partition, messages: messagesOf(entries) };
    const firstSequence = takeSequence(current, batch);
    this.#inFlight = { entries, identity: current, firstSequence, isBusy: true };
    return { ...batch, firstSequence };
  }

  /** The batch was written. */
  batchWritten(firstOffset: bigint): void {
    this.#removeBatch().forEach(({ write, index, name }, at) => {
      write.written(index, { topic: name, partition: this.partition, offset: firstOffset + BigInt(at) });
    });
  }

  /** The batch has failed transiently and is sent again. */
  awaitRetry(): void {
    if (this.#inFlight) this.#inFlight.isBusy = false;
  }

  /** Rejects the batch, which is not sent again. */
  rejectBatch(error: Error): void {
    for (const { write } of this.#removeBatch()) write.reject(error);
  }

  /** Whether a failed batch waits to be sent again. */
  awaitsRetry(): boolean {
    return this.#inFlight?.isBusy === false;
  }

  /** Whether no caller waits for the batch any more. */
  isAbandoned(): boolean {
    return this.#inFlight?.entries.every(({ write }) => write.isSettled) ?? false;
  }

  /** Drops the waiting records of settled writes. */
  dropSettled(): void {
    this.#waiting = this.#waiting.filter(({ write, bytes }) => {
      if (write.isSettled) this.budget.free(bytes);
      return !write.isSettled;
    });
  }

  rejectAll(error: Error): void {
    for (const { write } of [...this.#waiting, ...(this.#inFlight?.entries ?? [])]) write.reject(error);
  }

  #countWithinLimit(): number {
    let bytes = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      if (count > 0 && bytes + entry.bytes > maxBatchBytes) break;
      bytes += entry.bytes;
      count += 1;
    }
    return count;
  }

  #removeBatch(): readonly QueuedRecord[] {
    const entries = this.#inFlight?.entries ?? [];
    this.#inFlight = undefined;
    for (const { bytes } of entries) this.budget.free(bytes);
    return entries;
  }
}

function messagesOf(entries: readonly QueuedRecord[]): RecordToWrite[] {
  return entries.map(({ message }) => message);
}
