// Dead letters: records that a service could not take, listed and sent again.
import { topics, type ServiceName, type TopicName } from '@lead-scoring/contracts';
import { headerText, timeText } from './codec.js';
import { deadLetterHeaders, isRetryOutcome, type RetryOutcome } from './dead-letter-record.js';
import { internals, type EventLog } from './event-log.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import type { EncodedRecord } from './outgoing.js';
import { readUntil, untilNow, type RawRecord } from './kafka/partition-reader.js';
import { recordBytes } from './kafka/record-batch.js';
import { pause } from './timing.js';
import { createTransactionalProducer, toBatches } from './kafka/transactional-producer.js';

export interface DeadLetter {
  /** `<partition>:<offset>` in the dead-letter topic. */
  id: string;
  /** Where the record came from. */
  origin: { topic: TopicName; partition: number; offset: bigint };
  type: string | null;
  key: string | null;
  reason: string;
  /** How many times the record has been parked, this one included. */
  attempts: number;
  /** ISO 8601 UTC: when it was parked. */
  time: string;
  bytes: number;
  retried: boolean;
  /** What came of it when it was sent again last; null while that is not known. */
  outcome: RetryOutcome | null;
  /** Why the service refused it then. */
  refusal?: string;
}

const readBytes = 4 * 1024 * 1024;
const pauseBetweenLooksMs = 300;

/** All dead letters of a service, oldest first within each partition. */
export async function* listDeadLetters(log: EventLog, service: ServiceName): AsyncIterable<DeadLetter> {
  const connection = log[internals].connect();
  try {
    for (let partition = 0; partition < log.config.partitions; partition++) {
      for (const { letter } of await readPartition(log, connection, service, partition)) yield letter;
    }
  } finally {
    connection.close();
  }
}

export interface RetryDeadLettersOptions {
  /** Only these; default all that were not retried yet. */
  ids?: readonly string[];
  /** Also those that were retried before. */
  again?: boolean;
}

/**
 * Sends dead letters to their service again, each once however often the command is given: the record and a marker that
 * it was sent are written in one transaction. It goes to the service's own commands, in its partition, with the topic
 * that it first came on in a header: on another service's events it would be news to everybody who reads them.
 */
export async function retryDeadLetters(
  log: EventLog,
  service: ServiceName,
  options: RetryDeadLettersOptions = {},
): Promise<{ retried: DeadLetter[] }> {
  const { connect, wire } = log[internals];
  const wanted = options.ids === undefined ? undefined : new Set(options.ids);
  const connection = connect();
  const retried: DeadLetter[] = [];
  try {
    await connection.open([wire(`${service}.commands`), wire(`${service}.dead-letters`)]);
    const id = `${log.config.namespace}.${service}.dead-letter-retry`;
    const producer = createTransactionalProducer(connection, { transactionalId: id, groupId: id });
    // Whoever else is retrying now is stopped here, so what is read below is all that was sent.
    await producer.fence();
    for (let partition = 0; partition < log.config.partitions; partition++) {
      const found = await readPartition(log, connection, service, partition);
      const chosen = found.filter(
        ({ letter }) =>
          (wanted ? wanted.has(letter.id) : true) && (options.again === true || !letter.retried),
      );
      if (chosen.length === 0) continue;
      const messages = chosen.flatMap(({ letter, record }) => [
        original(wire(`${service}.commands`), record, partition, letter),
        marker(wire(`${service}.dead-letters`), record, partition, letter),
      ]);
      await producer.commit({
        batches: toBatches(messages, readBytes).map(({ batch }) => batch),
        offsets: [],
      });
      retried.push(...chosen.map(({ letter }) => ({ ...letter, retried: true, outcome: null })));
    }
    return { retried };
  } finally {
    connection.close();
  }
}

/**
 * Waits until what came of letters that were sent again is known, at most for a time, and answers them as they are then. Their
 * service records it when it has decided on them.
 */
export async function awaitOutcomes(
  log: EventLog,
  service: ServiceName,
  sent: readonly DeadLetter[],
  { timeoutMs }: { timeoutMs: number },
): Promise<DeadLetter[]> {
  const connection = log[internals].connect();
  const deadline = Date.now() + timeoutMs;
  const known = new Map(sent.map((letter) => [letter.id, letter]));
  try {
    for (;;) {
      const open = new Set(
        [...known.values()]
          .filter(({ outcome }) => outcome === null)
          .map(({ id }) => Number(id.slice(0, id.indexOf(':')))),
      );
      if (open.size === 0 || Date.now() > deadline) return [...known.values()];
      for (const partition of open)
        for (const { letter } of await readPartition(log, connection, service, partition))
          if (known.has(letter.id)) known.set(letter.id, letter);
      await pause(pauseBetweenLooksMs);
    }
  } finally {
    connection.close();
  }
}

async function readPartition(
  log: EventLog,
  connection: KafkaConnection,
  service: ServiceName,
  partition: number,
): Promise<{ letter: DeadLetter; record: RawRecord }[]> {
  const topic = log[internals].wire(`${service}.dead-letters`);
  await connection.open([topic]);
  const found = new Map<string, { letter: DeadLetter; record: RawRecord }>();
  const earliest = await connection.offset(topic, partition, 'earliest');
  const isEnd = await untilNow(connection, topic, partition);
  const all = readUntil(connection, { topic, partition, from: earliest }, isEnd, { maxBytes: readBytes });
  for await (const { records } of all) {
    for (const record of records) {
      const marked = headerText(record.headers, deadLetterHeaders.retried);
      if (marked === undefined) {
        const letter = letterOf(service, partition, record);
        found.set(letter.id, { letter, record });
      } else {
        const sent = found.get(`${partition}:${marked}`);
        if (sent) mark(sent.letter, record);
      }
    }
  }
  return [...found.values()];
}

function letterOf(service: ServiceName, partition: number, record: RawRecord): DeadLetter {
  const text = (name: string) => headerText(record.headers, name);
  const topic = text(deadLetterHeaders.topic);
  return {
    id: `${partition}:${record.offset}`,
    origin: {
      topic: topics.find(({ name }) => name === topic)?.name ?? `${service}.commands`,
      partition: Number(text(deadLetterHeaders.partition) ?? partition),
      offset: BigInt(/^\d+$/.exec(text(deadLetterHeaders.offset) ?? '')?.[0] ?? 0),
    },
    type: text('type') ?? null,
    key: record.key === null ? null : record.key.toString(),
    reason: text(deadLetterHeaders.reason) ?? 'unknown',
    attempts: Number(text(deadLetterHeaders.attempts) ?? 1),
    time: text(deadLetterHeaders.time) ?? timeText(record.timestamp),
    bytes: record.value?.length ?? 0,
    retried: false,
    outcome: null,
  };
}

/** Markers are in their order: that a letter is sent again, and then what came of it. */
function mark(letter: DeadLetter, { headers }: RawRecord): void {
  letter.retried = true;
  const outcome = headerText(headers, deadLetterHeaders.outcome);
  letter.outcome = isRetryOutcome(outcome) ? outcome : null;
  delete letter.refusal;
  const reason = headerText(headers, deadLetterHeaders.reason);
  if (outcome === 'refused' && reason !== undefined) letter.refusal = reason;
}

/** The record as it came, with the headers that say where it first came from and how often it has been parked. */
function original(topic: string, record: RawRecord, partition: number, letter: DeadLetter): EncodedRecord {
  const passed: string[] = [deadLetterHeaders.reason, deadLetterHeaders.time];
  const headers = {
    ...Object.fromEntries(Object.entries(record.headers).filter(([name]) => !passed.includes(name))),
    [deadLetterHeaders.of]: offsetOf(letter),
  };
  const message = {
    key: record.key,
    value: record.value,
    headers,
    timestamp: record.timestamp,
  };
  return { topic, partition, message, bytes: recordBytes(message) };
}

function offsetOf({ id }: DeadLetter): string {
  return id.slice(id.indexOf(':') + 1);
}

function marker(topic: string, record: RawRecord, partition: number, letter: DeadLetter): EncodedRecord {
  const message = {
    key: record.key,
    value: null,
    headers: { [deadLetterHeaders.retried]: offsetOf(letter) },
    timestamp: record.timestamp,
  };
  return { topic, partition, message, bytes: recordBytes(message) };
}
