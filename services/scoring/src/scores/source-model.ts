// Determines the decided records of ingest.events from scoring's own events alone: pure. A record that is read twice is not decided
// twice.
import type { records } from '@lead-scoring/contracts';

/** The place of a decision's record on ingest.events, in the decision's own partition. */
export type DecisionSource = NonNullable<records.LeadScored['source']>;

/**
 * The records that are not decided yet, of records in the order of the log.
 * @param end the offset behind the last decided record
 */
export function undecided<Record extends { offset: bigint }>(
  incoming: readonly Record[],
  end: number,
): Record[] {
  let last = BigInt(end) - 1n;
  return incoming.filter(({ offset }) => {
    if (offset <= last) return false;
    last = offset;
    return true;
  });
}

/** The end after one more decision. A decision of an earlier version has no source, and does not move the end. */
export function endAfter(end: number, source: DecisionSource | undefined): number {
  return source && source.offset >= end ? source.offset + 1 : end;
}
