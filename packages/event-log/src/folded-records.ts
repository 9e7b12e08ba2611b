// Decodes the records to fold. An unreadable input record is parked and the partition continues; an unreadable record
// of the history halts the partition, because a state folded without it would be wrong permanently.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { UnreadableRecord } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import type { RawRecord } from './kafka/record-batch.js';
import type { FoldedRecord } from './records.js';

/**
 * Decodes the records, and skips the unreadable records that SKIP_RECORDS names.
 * @throws UnreadableRecord for the first other record that cannot be decoded
 */
export async function decodeToFold(
  log: EventLog,
  { topic, partition }: { topic: TopicName; partition: number },
  records: readonly RawRecord[],
  logger: Logger,
): Promise<FoldedRecord[]> {
  const { codec } = log[internals];
  await codec.loadSchemas(records);
  return records.flatMap((record): FoldedRecord[] => {
    const decoded = codec.decode(topic, partition, record);
    if (!('problem' in decoded)) return [decoded];
    const { offset } = record;
    if (log.config.skippedRecords?.includes(`${topic}:${partition}:${offset}`) !== true)
      throw new UnreadableRecord({ topic, partition, offset }, decoded.problem);
    logger.error(
      { topic, partition, offset: String(offset), problem: decoded.problem },
      'skipping an unreadable record that SKIP_RECORDS names',
    );
    return [];
  });
}
