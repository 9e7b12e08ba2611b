// The dead letter record: the original record's bytes and key, with the origin and the reason in headers.
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
  /** On a record of a source topic, which is none of this system's: the name of the source. */
  source: 'dead-letter-source',
  /** On a retried record: the offset of its dead letter. */
  of: 'dead-letter-of',
  /** On a retry marker: the offset of the dead letter that was sent again. */
  retried: 'dead-letter-retried',
  /**
   * On a retry marker: the outcome of the retry. A marker without an outcome says that the retry was sent and not
   * decided yet.
   */
  outcome: 'dead-letter-outcome',
} as const;

/**
 * The outcome of a retried dead letter. `effect`: it caused events or commands. `none`: it caused nothing, because it
 * came too late or had taken effect before. `refused`: the service rejected it, for the reason given. `parked`: it
 * became a dead letter again. `discarded`: an operator has decided that nobody needs it, and it was not sent.
 */
export type RetryOutcome = 'effect' | 'none' | 'refused' | 'parked' | 'discarded';

export function isRetryOutcome(text: string | undefined): text is RetryOutcome {
  return ['effect', 'none', 'refused', 'parked', 'discarded'].includes(text ?? '');
}

/** The most characters of a reason. */
export const longestReason = 1_000;

/** The record's headers without the mark of a retry. */
function withoutRetryHeader(headers: RawRecord['headers']): RawRecord['headers'] {
  if (!Object.hasOwn(headers, deadLetterHeaders.of)) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== deadLetterHeaders.of));
}

/** Makes the dead letter of a record. `topic` is the record's topic, `wireTopic` the dead-letter topic. */
export function deadLetterMessage(
  wireTopic: string,
  topic: TopicName,
  partition: number,
  record: RawRecord,
  reason: string,
  now: number,
): EncodedRecord {
  // A record that is parked again keeps the offset at which it was first received.
  const attempts = Number(headerText(record.headers, deadLetterHeaders.attempts) ?? '0') || 0;
  const headers: RecordToWrite['headers'] = {
    ...withoutRetryHeader(record.headers),
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
 * A retried record with the topic and offset at which it was first received, which its headers state: it has the same
 * id as before, so the service's duplicate checks apply.
 */
export function asFirstReceived(
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

/** The offset of the dead letter that a retried record was; null for any other record. */
export function deadLetterOffsetOf(record: RawRecord): string | null {
  const text = headerText(record.headers, deadLetterHeaders.of);
  return text === undefined ? null : (/^\d{1,19}$/.exec(text)?.[0] ?? null);
}

/** Makes the marker that states the outcome of a retried dead letter. */
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

/** Whether a record is a retried dead letter. Its topic and offset are those at which it was first received. */
export function wasSentAgain({ headers }: IncomingRecord): boolean {
  return headers[deadLetterHeaders.topic] !== undefined;
}
