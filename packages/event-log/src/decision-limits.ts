// Limits how many records of a partition are decided together after a decision took too long: the brokers abort a
// transaction that exceeds its timeout, and its decisions are lost.
import type { TopicName } from '@lead-scoring/contracts';

export interface DecisionLimits {
  /** The maximum number of records of an input, from this offset on, that may be decided together. */
  limitAt(input: TopicName, offset: bigint): number;
  /**
   * Whether the record before this offset took too long when it was decided alone: its transaction then begins after
   * the decision.
   */
  isSlowRecord(input: TopicName, nextOffset: bigint): boolean;
  /** Records that deciding on this many records of an input, up to this offset, took too long. */
  recordSlowDecision(input: TopicName, nextOffset: bigint, records: number): void;
}

/** The limits of one partition, kept across its sessions. A limit applies up to the end of the batch that caused it. */
export function createDecisionLimits(): DecisionLimits {
  const limits = new Map<TopicName, { before: bigint; records: number }>();
  const slowAlone = new Map<TopicName, bigint>();
  return {
    limitAt: (input, offset) => {
      const limit = limits.get(input);
      return limit !== undefined && offset < limit.before ? limit.records : Infinity;
    },
    isSlowRecord: (input, nextOffset) => slowAlone.get(input) === nextOffset,
    recordSlowDecision: (input, nextOffset, records) => {
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
