// Reports records that retention has deleted before they were read: they cannot be restored, so the loss is logged and
// counted, and reading continues.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { ProcessingMetrics } from './metrics.js';

/** Creates the callback that a reader calls when the wanted offset was deleted. */
export function lossReporter({
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
