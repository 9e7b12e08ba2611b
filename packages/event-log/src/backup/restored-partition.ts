// Writes a partition of a backup into an empty topic, so that every record comes to the offset that it had.
//
// Where events had none, a RecordErased is written, which no reader sees. Commands and dead letters have no such record: offsets before the
// first kept record are filled and deleted, and each later one is taken up by the marker of an empty transaction, as it was before.
import { EventLogError } from '../errors.js';
import { areEqual, batched, newIdentity, recordsBefore } from '../erasure/partition-copy.js';
import { headerText } from '../codec.js';
import { appendAll, type ProducerIdentity } from '../kafka/idempotent-appender.js';
import { askLeader, type KafkaConnection } from '../kafka/kafka-connection.js';
import type { RawRecord, RecordToWrite } from '../kafka/record-batch.js';
import { createTransactionalProducer, type TransactionalProducer } from '../kafka/transactional-producer.js';
import { pause } from '../timing.js';
import { runsOf } from './partition-file.js';

/** A partition to restore. */
export interface RestoredPartition {
  /** The topic's wire name. */
  topic: string;
  partition: number;
  first: bigint;
  end: bigint;
  /** The records in the backup; each call begins anew. */
  records: () => AsyncIterable<readonly RawRecord[]>;
  /** Called with the offsets that were written or checked since the last call. */
  progress: (offsets: number) => void;
}

/** The record that fills an offset without one. */
export type Filler = (timestamp: number) => RecordToWrite;

const appendTimeoutMs = 60_000;
const markerPatienceMs = 30_000;
const fillerRecords = 2_000;

/** Writes events: every offset gets a record. */
export async function restoreEvents(
  connection: KafkaConnection,
  restored: RestoredPartition,
  filler: Filler,
): Promise<void> {
  const writer = new OffsetWriter(connection, restored, await newIdentity(connection));
  await writer.append(everyOffset(restored, filler));
}

async function* everyOffset(
  { records, end }: RestoredPartition,
  filler: Filler,
): AsyncGenerator<RecordToWrite[], void> {
  let next = 0n;
  let timestamp = 0;
  const fill = function* (to: bigint) {
    while (next < to) {
      const count = Math.min(Number(to - next), fillerRecords);
      next += BigInt(count);
      yield Array.from({ length: count }, () => filler(timestamp));
    }
  };
  for await (const some of records())
    for (const run of runsOf(some)) {
      timestamp = run[0]?.timestamp ?? timestamp;
      yield* fill(run[0]?.offset ?? next);
      yield run;
      next += BigInt(run.length);
    }
  yield* fill(end);
}

/** Writes commands or dead letters. */
export async function restoreBacklog(
  connection: KafkaConnection,
  restored: RestoredPartition & { transactionalId: string },
): Promise<void> {
  const { first, end, transactionalId, records } = restored;
  const writer = new OffsetWriter(connection, restored, await newIdentity(connection));
  await writer.append(emptyRecords(first));
  if (first > 0n) await deleteBefore(connection, restored, first);
  let producer: TransactionalProducer | undefined;
  const mark = async (count: bigint) => {
    if (count === 0n) return;
    if (!producer) {
      producer = createTransactionalProducer(connection, { transactionalId, groupId: transactionalId });
      await producer.fence();
    }
    await writer.mark(producer, count);
  };
  for await (const some of records())
    for (const run of runsOf(some)) {
      await mark((run[0]?.offset ?? 0n) - writer.next);
      await writer.append(once(run));
    }
  // One beyond the end: Kafka deletes the records with the newest of them, and the marker is new.
  await mark(end - writer.next + (end > first ? 1n : 0n));
}

async function deleteBefore(
  connection: KafkaConnection,
  { topic, partition }: RestoredPartition,
  offset: bigint,
): Promise<void> {
  const topics = [{ topic, partitions: [{ partition, offset: offset.toString() }] }];
  await askLeader(connection, async () =>
    (await connection.leader(topic, partition)).deleteRecords({ topics }),
  );
}

async function* once(run: readonly RecordToWrite[]): AsyncGenerator<readonly RecordToWrite[], void> {
  yield await Promise.resolve(run);
}

async function* emptyRecords(before: bigint): AsyncGenerator<RecordToWrite[], void> {
  const timestamp = Date.now();
  for (let next = 0n; next < before; next += BigInt(fillerRecords)) {
    const count = Math.min(Number(before - next), fillerRecords);
    yield await Promise.resolve(Array.from({ length: count }, () => ({ value: null, timestamp })));
  }
}

/** Writes to a partition, and makes sure of the offset of everything written. */
class OffsetWriter {
  /** The offset of the next record. */
  next = 0n;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly target: RestoredPartition,
    private readonly identity: ProducerIdentity,
  ) {}

  async append(records: AsyncIterable<readonly RecordToWrite[]>): Promise<void> {
    const { topic, partition, progress } = this.target;
    for await (const messages of batched(records)) {
      const [offset] = await appendAll(
        this.connection,
        this.identity,
        [{ topic, partition, messages }],
        appendTimeoutMs,
      );
      if (offset !== this.next)
        throw failure(this.target, `a record came to offset ${offset} in place of ${this.next}`);
      this.next += BigInt(messages.length);
      progress(messages.length);
    }
  }

  /** Takes up offsets by markers: each ends a transaction in which nothing was written. */
  async mark(producer: TransactionalProducer, count: bigint): Promise<void> {
    const { topic, partition } = this.target;
    for (let left = count; left > 0n; left -= 1n) {
      await producer.begin({ partitions: [{ topic, partition }], offsets: false });
      await producer.endOpen();
    }
    this.next += count;
    // The coordinator writes a marker after it has answered.
    for (const giveUpAt = Date.now() + markerPatienceMs; ;) {
      const end = await this.connection.offset(topic, partition, 'latest');
      if (end === this.next) return;
      if (end > this.next || Date.now() > giveUpAt)
        throw failure(this.target, `it ends at ${end} in place of ${this.next}`);
      await pause(5);
    }
  }
}

/**
 * Reads a restored partition, and compares every record with that of the backup.
 * @throws EventLogError `restore_failed`
 */
export async function assertRestored(
  connection: KafkaConnection,
  restored: RestoredPartition,
): Promise<void> {
  const { topic, partition, first, end, progress } = restored;
  const last = await connection.offset(topic, partition, 'latest');
  if (last < end) throw failure(restored, `it ends at ${last} in place of ${end}`);
  const waiting = flat(restored.records());
  let wanted = await waiting.next();
  for await (const records of recordsBefore(connection, { topic, partition, from: first, end }))
    for (const record of records) {
      progress(1);
      if (wanted.done !== true && wanted.value.offset === record.offset) {
        if (!areEqual(record, wanted.value))
          throw failure(restored, `the record at ${record.offset} is not that of the backup`);
        wanted = await waiting.next();
      } else if (headerText(record.headers, 'type') !== 'RecordErased')
        throw failure(restored, `the backup has no record at ${record.offset}`);
    }
  if (wanted.done !== true) throw failure(restored, `it lacks the record at ${wanted.value.offset}`);
}

async function* flat(records: AsyncIterable<readonly RawRecord[]>): AsyncGenerator<RawRecord, void> {
  for await (const some of records) yield* some;
}

function failure({ topic, partition }: RestoredPartition, problem: string): EventLogError {
  return new EventLogError(
    'restore_failed',
    `${topic}, partition ${partition}, is not restored: ${problem}. Does something write to it? Stop it, and run the command again; no service starts before it has ended`,
  );
}
