// Parked records: each record that a service cannot process becomes a dead letter, and the caller of a command gets a
// rejection.
import type { TopicName } from '@lead-scoring/contracts';
import {
  deadLetterMessage,
  deadLetterOffsetOf,
  outcomeMessage,
  type RetryOutcome,
} from '../dead-letter-record.js';
import { internals } from '../event-log.js';
import type { RawRecord } from '../kafka/record-batch.js';
import type { EncodedRecord } from '../outgoing.js';
import { isEventTopic } from '../session.js';
import type { Reply } from '../processor-options.js';
import type { IncomingRecord } from '../records.js';
import { callerIn, parkedReply, type Answer } from '../replies.js';
import type { InputSegment } from './input-batch.js';
import type { PartitionContext } from './partition-context.js';

export interface ParkedRecord {
  topic: TopicName;
  letter: EncodedRecord;
  /** The answer to a command's caller, sent unless the service replies itself; null for an event. */
  answer: Answer | null;
  /** The decoded record, when the service has returned it in `deadLetters`. */
  decoded?: IncomingRecord;
}

/** Parks a record of a segment. */
export function park(
  context: PartitionContext,
  { topic }: InputSegment,
  record: RawRecord,
  reason: string,
): ParkedRecord {
  const { partition, logger } = context;
  logger.warn({ topic, offset: String(record.offset), reason }, 'a record is parked as a dead letter');
  const letter = deadLetterMessage(deadLetterTopicOf(context), topic, partition, record, reason, Date.now());
  const place = { topic, partition, offset: record.offset };
  const answer = isEventTopic(topic)
    ? null
    : { to: callerIn(record), reply: parkedReply(context.options.name, place) };
  return { topic, letter, answer };
}

/** The wire name of the service's dead-letter topic. */
export function deadLetterTopicOf({ log, options }: Pick<PartitionContext, 'log' | 'options'>): string {
  return log[internals].wire(`${options.name}.dead-letters`);
}

/** The outcome marker of a retried dead letter; none for any other record. */
export function outcomeMarkers(
  context: PartitionContext,
  { records: [record] }: InputSegment,
  outcome: { outcome: RetryOutcome; reason?: string },
): EncodedRecord[] {
  const letter = record ? deadLetterOffsetOf(record) : null;
  return letter === null
    ? []
    : [outcomeMessage(deadLetterTopicOf(context), context.partition, letter, outcome, Date.now())];
}

/** The answers to callers of parked commands to whom the service has not replied. */
export function answersToParked(parked: readonly ParkedRecord[], replies: readonly Reply[]): Answer[] {
  if (parked.length === 0) return [];
  const answered = new Set(replies.map(({ to }) => to));
  return parked.flatMap(({ answer, decoded }) =>
    answer && !(decoded && answered.has(decoded)) ? [answer] : [],
  );
}
