// The finding of `lead-scoring doctor` about a reader that is behind: the cause, the expected time until it has caught up, and the runbook.
import type { PartitionLag } from '@lead-scoring/event-log';
import { duration } from './output.js';

/** A lag above this number of records in one partition is reported; a smaller one may be a batch in progress. */
export const behind = 1_000n;

type Place = Pick<PartitionLag, 'reader' | 'topic' | 'partition'>;

function isSame(one: Place, other: Place): boolean {
  return one.reader === other.reader && one.topic === other.topic && one.partition === other.partition;
}

export interface LagOutlook {
  detail: string;
  remedy: string;
}

/**
 * The lag of a partition at two moments, in words.
 * @param later the lags at the second moment
 * @param seconds between the two
 */
export function lagOutlook(
  first: Place & Pick<PartitionLag, 'lag'>,
  later: readonly (Place & Pick<PartitionLag, 'lag'>)[],
  seconds: number,
): LagOutlook {
  const { topic, partition, lag } = first;
  const now = later.find((one) => isSame(one, first))?.lag ?? lag;
  const perSecond = Number(lag - now) / seconds;
  const where = `${now} records of ${topic}, partition ${partition}`;
  if (perSecond > 0)
    return {
      detail: `${where}: it falls by ${Math.ceil(perSecond)} a second, and is gone in about ${duration(Number(now) / perSecond)} at this rate`,
      remedy: 'wait; if it comes back under the usual load, docs/runbooks/more-processes.md',
    };
  return {
    detail: `${where}: it does not fall`,
    remedy:
      now > lag
        ? 'more comes in than is decided, or a batch is retried: docs/runbooks/stuck-partition.md'
        : 'no process of the service has the partition, or a batch is retried: docs/runbooks/stuck-partition.md',
  };
}
