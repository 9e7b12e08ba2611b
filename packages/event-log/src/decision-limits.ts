// Which records of a partition are decided fewer at a time, because deciding on so many took too long: a transaction that
// outlives its time is ended by the brokers, and what was decided in it is lost.
import type { TopicName } from '@lead-scoring/contracts';

export interface DecisionLimits {
  /** How many records of an input, from this offset on, may be decided together. */
  limitAt(input: TopicName, offset: bigint): number;
  /** Whether the record before this offset took too long alone: its transaction begins once it is decided. */
  isSlowAlone(input: TopicName, nextOffset: bigint): boolean;
  /** Notes that deciding on this many records of an input, up to this offset, took too long. */
  tookTooLong(input: TopicName, nextOffset: bigint, records: number): void;
}

/** Of one partition, beyond its sessions. A limit holds up to the end of the batch that it was learned from. */
export function createDecisionLimits(): DecisionLimits {
  const limits = new Map<TopicName, { before: bigint; records: number }>();
  const slowAlone = new Map<TopicName, bigint>();
  return {
    limitAt: (input, offset) => {
      const limit = limits.get(input);
      return limit !== undefined && offset < limit.before ? limit.records : Infinity;
    },
    isSlowAlone: (input, nextOffset) => slowAlone.get(input) === nextOffset,
    tookTooLong: (input, nextOffset, records) => {
      if (records === 1) {
        slowAlone.set(input, nextOffset);
        return;
      }
      const known = limits.get(input);
      const before = known !== undefined && known.before > nextOffset ? known.before : nextOffset;
      limits.set(input, { before, records: Math.ceil(records / 2) });
    },
  };
}
