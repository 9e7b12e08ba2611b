// Divides the records that the inputs of a partition have brought into batches. Pure, apart from the record of earlier
// failures.
import { topics, type ServiceName, type TopicName } from '@lead-scoring/contracts';
import { asFirstReceived, deadLetterOffsetOf } from '../dead-letter-record.js';
import type { DecisionLimits } from '../decision-limits.js';
import type { InputArrival } from '../session.js';
import type { RawRecord } from '../kafka/record-batch.js';
import type { FailedRecords } from './failed-records.js';
import type { InputBatch, InputSegment } from './input-batch.js';

/** The type of an operator's command to fold the read models of a service anew. */
export const rebuildType = 'RebuildReadModel';

const topicNames = new Set<string>(topics.map(({ name }) => name));
const isTopic = (name: string): name is TopicName => topicNames.has(name);

export interface DivisionRules {
  service: ServiceName;
  maxRecordsPerBatch: number;
  failed: FailedRecords;
  limits: DecisionLimits;
}

type DividedSegment = InputSegment & { isAlone: boolean };

/**
 * One batch of all inputs, when each input has one segment and no segment must be decided alone; otherwise one batch
 * for each segment.
 */
export function divide(arrivals: readonly InputArrival[], rules: DivisionRules): InputBatch[] {
  const segments = arrivals.flatMap((arrival) => segmentsOf(arrival, rules));
  const inputs = new Set(segments.map(({ input }) => input));
  const isOne =
    inputs.size === segments.length &&
    !segments.some((segment) => segment.isAlone || rules.failed.isDecidedApart(segment));
  if (segments.length === 0) return [];
  return isOne ? [segments] : segments.map((segment) => [segment]);
}

export function isRebuild({ topic, records: [first] }: InputSegment, service: ServiceName): boolean {
  return first !== undefined && isRebuildRecord(topic, first, service);
}

function isRebuildRecord(topic: TopicName, { headers }: RawRecord, service: ServiceName): boolean {
  return topic === `${service}.commands` && headers.type?.toString() === rebuildType;
}

/** A new segment begins at a change of topic, at the record limit, and around a record that is decided alone. */
function segmentsOf(
  { topic: input, records, nextOffset: end }: InputArrival,
  rules: DivisionRules,
): DividedSegment[] {
  const segments: DividedSegment[] = [];
  for (const raw of records) {
    const { topic, record } = asFirstReceived(input, raw, isTopic);
    // A retried dead letter is decided alone, because its outcome is recorded.
    const isAlone =
      rules.failed.isDecidedAlone(input, raw.offset) ||
      isRebuildRecord(topic, record, rules.service) ||
      deadLetterOffsetOf(raw) !== null;
    const last = segments.at(-1);
    const limit = Math.min(rules.maxRecordsPerBatch, rules.limits.limitAt(input, raw.offset));
    const nextOffset = raw.offset + 1n;
    if (last && !isAlone && !last.isAlone && last.topic === topic && last.records.length < limit) {
      last.records.push(record);
      last.nextOffsets.push(nextOffset);
    } else segments.push({ input, topic, records: [record], nextOffsets: [nextOffset], isAlone });
  }
  const last = segments.at(-1);
  if (last) last.nextOffsets[last.nextOffsets.length - 1] = end;
  return segments;
}
