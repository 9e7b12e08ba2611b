// The events of one request as records of the log.
import { chunksOf, records, type EventBatch } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';

/** One record per partition; several only where one would be too large. */
export function chunkRecords(
  { headers, ...batch }: EventBatch & { headers: Readonly<Record<string, string>> },
  partitionOf: (key: string) => number,
): OutgoingRecord<typeof records.ingestEvents>[] {
  return chunksOf({ ...batch, sentBy: headers.actor }, partitionOf).map(({ key, partition, payload }) =>
    // The events come from validateEvents, and ingest checks the record again.
    outgoing(records.ingestEvents, { key, partition, payload, isChecked: true, headers }),
  );
}
