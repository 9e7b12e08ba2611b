// A dead letter on the log: the record's bytes and key as they came, and in headers where from and why.
import type { TopicName } from '@lead-scoring/contracts';
import { headerText } from './codec.js';
import type { EncodedRecord } from './outgoing.js';
import type { IncomingRecord } from './records.js';
import { recordBytes, type RawRecord, type RecordToWrite } from './kafka/record-batch.js';

/** Headers that only dead letters and retried records have. */
export const deadLetterHeaders = {
  reason: 'dead-letter-reason',
  topic: 'dead-letter-topic',
  partition: 'dead-letter-partition',
  offset: 'dead-letter-offset',
  attempts: 'dead-letter-attempts',
  time: 'dead-letter-time',
  /** On a record that is sent again: the offset of its dead letter. */
  of: 'dead-letter-of',
  /** On a marker: the offset of the dead letter that was sent again. */
  retried: 'dead-letter-retried',
  /** On a marker: what came of that. Without it the marker says that the letter is on its way. */
  outcome: 'dead-letter-outcome',
} as const;

/**
 * What came of a dead letter that was sent again: `effect`: something happened; `none`: nothing did, because it came too late
 * or had been done before; `refused`: the service rejects it, for the reason given; `parked`: it is a dead letter once more.
 */
export type RetryOutcome = 'effect' | 'none' | 'refused' | 'parked';

export function isRetryOutcome(text: string | undefined): text is RetryOutcome {
  return text === 'effect' || text === 'none' || text === 'refused' || text === 'parked';
}

const longestReason = 1_000;

/** The headers of a record as it came by itself. */
function withoutLetter(headers: RawRecord['headers']): RawRecord['headers'] {
  if (!Object.hasOwn(headers, deadLetterHeaders.of)) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== deadLetterHeaders.of));
}

/** The message that parks a record. `topic` is its own name, `wireTopic` that of the dead-letter topic. */
export function deadLetterMessage(
  wireTopic: string,
  topic: TopicName,
  partition: number,
  record: RawRecord,
  reason: string,
  now: number,
): EncodedRecord {
  // The offset is that of the record when it first came, also for one that is parked again.
  const attempts = Number(headerText(record.headers, deadLetterHeaders.attempts) ?? '0') || 0;
  const headers: RecordToWrite['headers'] = {
    ...withoutLetter(record.headers),
    [deadLetterHeaders.reason]: reason.slice(0, longestReason).toWellFormed(),
    [deadLetterHeaders.topic]: topic,
    [deadLetterHeaders.partition]: String(partition),
    [deadLetterHeaders.offset]: record.offset.toString(),
    [deadLetterHeaders.attempts]: String(attempts + 1),
    [deadLetterHeaders.time]: new Date(now).toISOString(),
  };
  const message = { key: record.key, value: record.value, headers, timestamp: now };
  return { topic: wireTopic, partition, message, bytes: recordBytes(message) };
}

/**
 * A record as it first came: one that was sent again has its first topic and offset in its headers, so that it has the
 * same id as before, and the same checks apply.
 */
export function asFirstCome(
  topic: TopicName,
  record: RawRecord,
  isTopic: (name: string) => name is TopicName,
): { topic: TopicName; record: RawRecord } {
  const origin = headerText(record.headers, deadLetterHeaders.topic);
  const offset = headerText(record.headers, deadLetterHeaders.offset);
  if (origin === undefined || !isTopic(origin) || offset === undefined || !/^\d{1,19}$/.test(offset))
    return { topic, record };
  return { topic: origin, record: { ...record, offset: BigInt(offset) } };
}

/** The offset of the dead letter that a record was; null for one that came by itself. */
export function letterOffsetOf(record: RawRecord): string | null {
  return /^\d{1,19}$/.exec(headerText(record.headers, deadLetterHeaders.of) ?? '')?.[0] ?? null;
}

/** The marker that says what came of a dead letter that was sent again. */
export function outcomeMessage(
  wireTopic: string,
  partition: number,
  letter: string,
  { outcome, reason }: { outcome: RetryOutcome; reason?: string },
  now: number,
): EncodedRecord {
  const message = {
    key: null,
    value: null,
    headers: {
      [deadLetterHeaders.retried]: letter,
      [deadLetterHeaders.outcome]: outcome,
      ...(reason !== undefined && {
        [deadLetterHeaders.reason]: reason.slice(0, longestReason).toWellFormed(),
      }),
    },
    timestamp: now,
  };
  return { topic: wireTopic, partition, message, bytes: recordBytes(message) };
}

/** Whether a record was a dead letter, and was sent again. Its topic and offset are those at which it first came. */
export function wasSentAgain({ headers }: IncomingRecord): boolean {
  return headers[deadLetterHeaders.topic] !== undefined;
}
