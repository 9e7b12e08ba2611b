// Which records of ingest.events are decided on: pure, and known from scoring's own events alone. A record that is handed
// over twice, for whatever reason, is not decided on twice.
import type { records } from '@lead-scoring/contracts';

/** Where on ingest.events a decision's record is, in the decision's own partition. */
export type DecisionSource = NonNullable<records.LeadScored['source']>;

/**
 * The records that are not decided on yet, of some that came in the order in which they are on the log.
 * @param end the next offset behind all that were decided on
 */
export function undecided<Record extends { offset: bigint }>(
  incoming: readonly Record[],
  end: number,
): Record[] {
  let next = BigInt(end);
  return incoming.filter(({ offset }) => {
    if (offset < next) return false;
    next = offset + 1n;
    return true;
  });
}

/** The end behind one more decision. Of decisions before there was a source, only the place where reading went on is known. */
export function endAfter(end: number, source: DecisionSource | undefined): number {
  return source && source.offset >= end ? source.offset + 1 : end;
}
