// Records that are gone by their age before they were read: nothing can bring them back, so it is said aloud and work goes on.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { ProcessingMetrics } from './metrics.js';

/** What a reader calls when it finds that what it wants to read is gone. */
export function lossTold({
  logger,
  metrics,
  topic,
  partition,
}: {
  logger: Logger;
  metrics: ProcessingMetrics;
  topic: TopicName;
  partition: number;
}): (wanted: bigint, earliest: bigint) => void {
  return (wanted, earliest) => {
    metrics.lost(topic, Number(earliest - wanted));
    logger.error(
      { topic, partition, wanted: String(wanted), earliest: String(earliest) },
      `records of ${topic} were deleted before they were read: offsets ${wanted} to ${earliest - 1n} of partition ${partition}`,
    );
  };
}
