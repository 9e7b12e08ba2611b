// Lists and retries dead letters: records that a service could not process.
import { topics, type ServiceName, type TopicName } from '@lead-scoring/contracts';
import { headerText, timeText } from './codec.js';
import {
  deadLetterHeaders,
  isRetryOutcome,
  outcomeMessage,
  type RetryOutcome,
} from './dead-letter-record.js';
import { internals, type EventLog } from './event-log.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import type { EncodedRecord } from './outgoing.js';
import { registeredPrefixBytes } from './registered-json.js';
import { readUntil, untilCurrentEnd, type RawRecord } from './kafka/partition-reader.js';
import { recordBytes } from './kafka/record-batch.js';
import { pause } from './timing.js';
import { createTransactionalProducer, toBatches } from './kafka/transactional-producer.js';

export interface DeadLetter {
  /** `<partition>:<offset>` in the dead-letter topic. */
  id: string;
  /** The topic, partition and offset at which the record was first received. */
  origin: { topic: string; partition: number; offset: bigint };
  /** The name of the source, where the record came from a topic of another system: it is not retried. */
  source?: string;
  type: string | null;
  key: string | null;
  reason: string;
  /** How many times the record has been parked, this one included. */
  attempts: number;
  /** ISO 8601 UTC: the time at which the record was parked. */
  time: string;
  bytes: number;
  retried: boolean;
  /** The outcome of the last retry; null until the service has decided. */
  outcome: RetryOutcome | null;
  /** The reason for which the service refused the last retry. */
  refusal?: string;
}

const readBytes = 4 * 1024 * 1024;
const outcomePollMs = 300;

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

/** The content of a dead letter, for a person. */
export interface DeadLetterContent {
  letter: DeadLetter;
  headers: Record<string, string>;
  /** The bytes as text: the JSON of a record that was written as such. */
  payload: string;
}

/**
 * The content of one dead letter.
 * @returns null when there is none with the id
 */
export async function readDeadLetter(
  log: EventLog,
  service: ServiceName,
  id: string,
): Promise<DeadLetterContent | null> {
  const connection = log[internals].connect();
  try {
    const partition = partitionOf(id);
    if (partition >= log.config.partitions) return null;
    const all = await readPartition(log, connection, service, partition);
    const found = all.find(({ letter }) => letter.id === id);
    if (!found) return null;
    const { letter, record } = found;
    const names = Object.keys(record.headers);
    const headers = Object.fromEntries(names.map((name) => [name, headerText(record.headers, name) ?? '']));
    return { letter, headers, payload: payloadText(record.value) };
  } finally {
    connection.close();
  }
}

function payloadText(value: Buffer | null): string {
  if (value === null) return '';
  return (value[0] === 0 ? value.subarray(registeredPrefixBytes) : value).toString('utf8');
}

/**
 * Marks dead letters as discarded: they are not sent again, and count as resolved. The records stay in the topic until its
 * retention deletes them.
 * @returns those that were marked: of the given ids those that exist and were not discarded before
 */
export async function discardDeadLetters(
  log: EventLog,
  service: ServiceName,
  ids: readonly string[],
): Promise<DeadLetter[]> {
  const topic = log[internals].wire(`${service}.dead-letters`);
  const wanted = new Set(ids);
  const discarded = await writeAbout(log, service, {
    partitions: [...new Set(ids.map(partitionOf))],
    isChosen: ({ id, outcome }) => wanted.has(id) && outcome !== 'discarded',
    messagesOf: ({ letter }, partition) => [
      outcomeMessage(topic, partition, offsetOf(letter), { outcome: 'discarded' }, Date.now()),
    ],
  });
  return discarded.map((letter) => ({ ...letter, retried: true, outcome: 'discarded' }));
}

/** Whether nothing remains to be done about a dead letter; one that is parked again is another letter. */
export function isResolved({ outcome }: DeadLetter): boolean {
  return outcome !== null && outcome !== 'refused';
}

export interface RetryDeadLettersOptions {
  /** The dead letters to retry; default: all that were not retried yet. */
  ids?: readonly string[];
  /** Whether dead letters that were retried before are retried again. */
  again?: boolean;
}

/**
 * Sends dead letters to their service again. The record and a marker of the retry are written in one transaction, so a
 * repeated call does not send a dead letter twice. The record goes to the service's own command topic, in its
 * partition, with its original topic in a header: on another service's event topic every other reader would read it
 * again. A record of a source topic is not sent: no topic of this system takes it, and its source can be read again.
 */
export async function retryDeadLetters(
  log: EventLog,
  service: ServiceName,
  options: RetryDeadLettersOptions = {},
): Promise<{ retried: DeadLetter[] }> {
  const { wire } = log[internals];
  const wanted = options.ids === undefined ? undefined : new Set(options.ids);
  const retried = await writeAbout(log, service, {
    partitions: Array.from({ length: log.config.partitions }, (_, partition) => partition),
    isChosen: ({ id, source, retried: isRetried }) =>
      source === undefined && (wanted?.has(id) ?? true) && (options.again === true || !isRetried),
    messagesOf: ({ letter, record }, partition) => [
      retriedRecord(wire(`${service}.commands`), record, partition, letter),
      retryMarker(wire(`${service}.dead-letters`), record, partition, letter),
    ],
  });
  return { retried: retried.map((letter) => ({ ...letter, retried: true, outcome: null })) };
}

interface FoundLetter {
  letter: DeadLetter;
  record: RawRecord;
}

/**
 * Writes records about the chosen dead letters, those of a partition in one transaction.
 * @param action `partitions`: those that are searched; one that does not exist has no letters
 * @returns the chosen letters, as they were before
 */
async function writeAbout(
  log: EventLog,
  service: ServiceName,
  action: {
    partitions: readonly number[];
    isChosen: (letter: DeadLetter) => boolean;
    messagesOf: (found: FoundLetter, partition: number) => EncodedRecord[];
  },
): Promise<DeadLetter[]> {
  const { connect, wire } = log[internals];
  const connection = connect();
  const written: DeadLetter[] = [];
  try {
    await connection.open([wire(`${service}.commands`), wire(`${service}.dead-letters`)]);
    const id = `${log.config.namespace}.${service}.dead-letter-retry`;
    const producer = createTransactionalProducer(connection, { transactionalId: id, groupId: id });
    // Fencing stops a concurrent call, so the markers read below are complete, and no letter is both sent and discarded.
    await producer.fence();
    for (const partition of action.partitions.filter((one) => one < log.config.partitions)) {
      const found = await readPartition(log, connection, service, partition);
      const chosen = found.filter(({ letter }) => action.isChosen(letter));
      if (chosen.length === 0) continue;
      const messages = chosen.flatMap((one) => action.messagesOf(one, partition));
      await producer.commit({
        batches: toBatches(messages, readBytes).map(({ batch }) => batch),
        offsets: [],
      });
      written.push(...chosen.map(({ letter }) => letter));
    }
    return written;
  } finally {
    connection.close();
  }
}

/**
 * Waits until the outcomes of retried dead letters are known, for at most `timeoutMs`, and returns the letters as they
 * are then. The service records an outcome when it has decided on the record.
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
        [...known.values()].filter(({ outcome }) => outcome === null).map(({ id }) => partitionOf(id)),
      );
      if (open.size === 0 || Date.now() > deadline) return [...known.values()];
      for (const partition of open)
        for (const { letter } of await readPartition(log, connection, service, partition))
          if (known.has(letter.id)) known.set(letter.id, letter);
      await pause(outcomePollMs);
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
): Promise<FoundLetter[]> {
  const topic = log[internals].wire(`${service}.dead-letters`);
  await connection.open([topic]);
  const found = new Map<string, FoundLetter>();
  const earliest = await connection.offset(topic, partition, 'earliest');
  const isEnd = await untilCurrentEnd(connection, topic, partition);
  const all = readUntil(connection, { topic, partition, from: earliest }, isEnd, { maxBytes: readBytes });
  for await (const { records } of all) {
    for (const record of records) {
      const marked = headerText(record.headers, deadLetterHeaders.retried);
      if (marked === undefined) {
        const letter = deadLetterOf(service, partition, record);
        found.set(letter.id, { letter, record });
      } else {
        const sent = found.get(`${partition}:${marked}`);
        if (sent) applyMarker(sent.letter, record);
      }
    }
  }
  return [...found.values()];
}

function deadLetterOf(service: ServiceName, partition: number, record: RawRecord): DeadLetter {
  const text = (name: string) => headerText(record.headers, name);
  const topic = text(deadLetterHeaders.topic);
  const source = text(deadLetterHeaders.source);
  return {
    id: `${partition}:${record.offset}`,
    origin: {
      topic: source === undefined ? ownTopic(service, topic) : (topic ?? source),
      partition: Number(text(deadLetterHeaders.partition) ?? partition),
      offset: BigInt(/^\d+$/.exec(text(deadLetterHeaders.offset) ?? '')?.[0] ?? 0),
    },
    ...(source !== undefined && { source }),
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

function ownTopic(service: ServiceName, topic: string | undefined): TopicName {
  return topics.find(({ name }) => name === topic)?.name ?? `${service}.commands`;
}

/** Markers are read in order: first that the letter was retried, then the outcome of the retry. */
function applyMarker(letter: DeadLetter, { headers }: RawRecord): void {
  letter.retried = true;
  const outcome = headerText(headers, deadLetterHeaders.outcome);
  letter.outcome = isRetryOutcome(outcome) ? outcome : null;
  delete letter.refusal;
  const reason = headerText(headers, deadLetterHeaders.reason);
  if (outcome === 'refused' && reason !== undefined) letter.refusal = reason;
}

/** The original record, with the headers that state its origin and the number of times it has been parked. */
function retriedRecord(
  topic: string,
  record: RawRecord,
  partition: number,
  letter: DeadLetter,
): EncodedRecord {
  const omitted: string[] = [deadLetterHeaders.reason, deadLetterHeaders.time];
  const headers = {
    ...Object.fromEntries(Object.entries(record.headers).filter(([name]) => !omitted.includes(name))),
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

/** The id of a dead letter is its partition and offset in the topic. */
function partitionOf(id: string): number {
  return Number(id.slice(0, id.indexOf(':')));
}

function offsetOf({ id }: DeadLetter): string {
  return id.slice(id.indexOf(':') + 1);
}

function retryMarker(topic: string, record: RawRecord, partition: number, letter: DeadLetter): EncodedRecord {
  const message = {
    key: record.key,
    value: null,
    headers: { [deadLetterHeaders.retried]: offsetOf(letter) },
    timestamp: record.timestamp,
  };
  return { topic, partition, message, bytes: recordBytes(message) };
}
