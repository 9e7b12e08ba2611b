// The records that are decided together: pure.
import type { TopicName } from '@lead-scoring/contracts';
import type { RawRecord } from '../kafka/record-batch.js';

/** Consecutive records of one input topic. */
export interface InputSegment {
  input: TopicName;
  /** The topic of the records. A retried dead letter belongs to the topic at which it was first received. */
  topic: TopicName;
  records: RawRecord[];
  /**
   * The input's next offset after each record. A retried dead letter keeps its first offset, so this is not always the
   * record's own offset plus one.
   */
  nextOffsets: bigint[];
}

/** The records that are decided together: at most one segment of each input. */
export type InputBatch = readonly InputSegment[];

export function nextOffsetOf({ nextOffsets }: InputSegment): bigint {
  const last = nextOffsets.at(-1);
  if (last === undefined) throw new RangeError('a segment has at least one record');
  return last;
}

export function recordsIn(batch: InputBatch): number {
  return batch.reduce((sum, { records }) => sum + records.length, 0);
}

export function topicsIn(batch: InputBatch): TopicName[] {
  return batch.map(({ topic }) => topic);
}

/** Splits a batch: one batch for each input, or two halves of a single input's records. */
export function partsOf(batch: InputBatch): InputBatch[] {
  return batch.length > 1 ? batch.map((segment) => [segment]) : batch.flatMap(halvesOf).map((half) => [half]);
}

function halvesOf({ records, nextOffsets, ...segment }: InputSegment): InputSegment[] {
  const middle = Math.ceil(records.length / 2);
  return [
    { ...segment, records: records.slice(0, middle), nextOffsets: nextOffsets.slice(0, middle) },
    { ...segment, records: records.slice(middle), nextOffsets: nextOffsets.slice(middle) },
  ];
}
