// Copies a partition record by record, so that every record keeps its offset: where the source has none, because retention deleted it or
// because Kafka had the marker of a transaction there, the copy has a record without content.
import { EventLogError } from '../errors.js';
import { appendAll, type ProducerIdentity } from '../kafka/idempotent-appender.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { readUntil } from '../kafka/partition-reader.js';
import { recordBytes, type RawRecord, type RecordToWrite } from '../kafka/record-batch.js';

/** A partition of a topic (wire name). */
export interface CopiedPartition {
  topic: string;
  partition: number;
}

/** What to write in place of each record of a source. */
export interface Rewriting {
  of(record: RawRecord): RecordToWrite;
  filler(timestamp: number): RecordToWrite;
}

/** The records of a whole copy: the first one has offset 0. */
export type CopiedRecords = AsyncIterable<readonly RecordToWrite[]>;

const readBytes = 1024 * 1024;
const appendedBytes = 512 * 1024;
const appendedRecords = 2_000;
const appendTimeoutMs = 60_000;

/** An identity at the brokers under which records of any partition can be appended. */
export async function newIdentity(connection: KafkaConnection): Promise<ProducerIdentity> {
  const broker = await connection.anyBroker();
  const { producerId, producerEpoch } = await broker.initProducerId({ transactionTimeout: 60_000 });
  return { producerId, producerEpoch, sequences: new Map() };
}

/** Reads a partition from an offset, its first record by default, to an end, one fetch at a time. */
export async function* recordsBefore(
  connection: KafkaConnection,
  { topic, partition, from = 0n, end }: CopiedPartition & { from?: bigint; end: bigint },
): AsyncGenerator<readonly RawRecord[], void> {
  if (end <= from) return;
  const fetches = readUntil(connection, { topic, partition, from }, ({ nextOffset }) => nextOffset >= end, {
    maxBytes: readBytes,
  });
  for await (const { records } of fetches) yield records.filter(({ offset }) => offset < end);
}

/** The records that a copy of the source has, up to the source's end. */
export async function* copiedRecords(
  connection: KafkaConnection,
  source: CopiedPartition & { end: bigint },
  rewriting: Rewriting,
): CopiedRecords {
  let next = 0n;
  let timestamp = 0;
  const fill = function* (to: bigint) {
    while (next < to) {
      const count = Math.min(Number(to - next), appendedRecords);
      next += BigInt(count);
      yield Array.from({ length: count }, () => rewriting.filler(timestamp));
    }
  };
  for await (const records of recordsBefore(connection, source)) {
    const copied: RecordToWrite[] = [];
    for (const record of records) {
      timestamp = record.timestamp;
      if (record.offset > next && copied.length > 0) yield copied.splice(0);
      yield* fill(record.offset);
      copied.push(rewriting.of(record));
      next = record.offset + 1n;
    }
    if (copied.length > 0) yield copied;
  }
  yield* fill(source.end);
}

/**
 * Appends the records of a copy to an empty partition.
 * @throws EventLogError `erasure_failed` when a record comes to another offset
 */
export async function appendCopied(
  connection: KafkaConnection,
  identity: ProducerIdentity,
  target: CopiedPartition,
  records: CopiedRecords,
  appended: (count: number) => void,
): Promise<void> {
  let next = 0n;
  for await (const messages of batched(records)) {
    const [offset] = await appendAll(connection, identity, [{ ...target, messages }], appendTimeoutMs);
    if (offset !== next) throw failure(target, `a record came to offset ${offset} in place of ${next}`);
    next += BigInt(messages.length);
    appended(messages.length);
  }
}

/** The same records in batches of a bounded size. */
export async function* batched(records: CopiedRecords): AsyncGenerator<RecordToWrite[], void> {
  let batch: RecordToWrite[] = [];
  let bytes = 0;
  for await (const some of records)
    for (const record of some) {
      const size = recordBytes(record);
      if (batch.length > 0 && (bytes + size > appendedBytes || batch.length === appendedRecords)) {
        yield batch;
        batch = [];
        bytes = 0;
      }
      batch.push(record);
      bytes += size;
    }
  if (batch.length > 0) yield batch;
}

/**
 * Reads a copy, and compares it with the records that it should have: key, value, headers, time and offset of each.
 * @throws EventLogError `erasure_failed`
 */
export async function assertCopied(
  connection: KafkaConnection,
  target: CopiedPartition & { end: bigint },
  expected: CopiedRecords,
): Promise<void> {
  const { topic, partition } = target;
  const end = await connection.offset(topic, partition, 'latest');
  if (end !== target.end) throw failure(target, `it ends at ${end} in place of ${target.end}`);
  const waiting = flat(expected);
  let next = 0n;
  for await (const records of recordsBefore(connection, target))
    for (const record of records) {
      const wanted = await waiting.next();
      if (wanted.done === true || record.offset !== next || !areEqual(record, wanted.value))
        throw failure(target, `the record at ${record.offset} is not the one that was to be copied`);
      next += 1n;
    }
  if (next !== end || (await waiting.next()).done !== true)
    throw failure(target, `it has ${next} records, and not those of the source`);
}

async function* flat(records: CopiedRecords): AsyncGenerator<RecordToWrite, void> {
  for await (const some of records) yield* some;
}

/** Whether a record has the key, the value, the headers and the time of another one. */
export function areEqual(record: RawRecord, wanted: RecordToWrite): boolean {
  return (
    record.timestamp === wanted.timestamp &&
    isSameField(record.key, wanted.key) &&
    isSameField(record.value, wanted.value) &&
    areSameHeaders(record.headers, wanted.headers ?? {})
  );
}

type Field = string | Buffer | null | undefined;

function isSameField(one: Field, other: Field): boolean {
  if (one === null || one === undefined || other === null || other === undefined)
    return (one ?? null) === (other ?? null);
  return Buffer.from(one).equals(Buffer.from(other));
}

type Headers = NonNullable<RecordToWrite['headers']>;

function areSameHeaders(one: Headers, other: Headers): boolean {
  const [fields, others] = [fieldsOf(one), fieldsOf(other)];
  return (
    fields.length === others.length &&
    fields.every(([name, field], index) => {
      const [otherName, otherField] = others[index] ?? [];
      return name === otherName && isSameField(field, otherField);
    })
  );
}

function fieldsOf(headers: Headers): [name: string, field: Field][] {
  return Object.entries(headers).flatMap(([name, held]) =>
    (Array.isArray(held) ? (held as readonly Field[]) : [held as Field])
      .filter((field) => field !== undefined)
      .map((field): [string, Field] => [name, field]),
  );
}

function failure({ topic, partition }: CopiedPartition, problem: string): EventLogError {
  return new EventLogError(
    'erasure_failed',
    `the copy ${topic}, partition ${partition}, is not right: ${problem}. Run the command again; no service starts before it has ended`,
  );
}
