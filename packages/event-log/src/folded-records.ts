// Decoding records that are to be folded. An input's record that cannot be read is parked and the partition goes on; one that
// is already part of the history cannot be: a state that was folded without it would be wrong for good.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { UnreadableRecord } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import type { RawRecord } from './kafka/record-batch.js';
import type { FoldedRecord } from './records.js';

/**
 * The records, decoded; without those that an operator has given up and that cannot be read.
 * @throws UnreadableRecord for the first of the others that cannot be read
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
      'a record that cannot be read is left out, because SKIP_RECORDS names it',
    );
    return [];
  });
}
