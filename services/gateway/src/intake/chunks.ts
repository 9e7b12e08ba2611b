// Groups the events of one request by partition into few, large records: per-record cost is the wall (PERFORMANCE.md).
import { records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';

type ChunkEvent = records.ChunkEvent;

export interface Batch {
  ouId: string;
  batchId: string;
  source: 'ingest' | 'import';
  fireTriggers: boolean;
  receivedAt: string;
  events: readonly ChunkEvent[];
  /** About how many bytes of JSON the events take. */
  estimatedBytes: number;
  headers: Readonly<Record<string, string>>;
}

/** Well under what a topic takes in one record. */
const maximumChunkBytes = 900_000;

/** One record per partition; several only where one would be too large. */
export function chunksOf(
  batch: Batch,
  partitionOf: (key: string) => number,
): OutgoingRecord<typeof records.ingestEvents>[] {
  const byPartition = new Map<number, ChunkEvent[]>();
  for (const event of batch.events) {
    const partition = partitionOf(event.lead_id);
    const events = byPartition.get(partition);
    if (events) events.push(event);
    else byPartition.set(partition, [event]);
  }
  const chunks: OutgoingRecord<typeof records.ingestEvents>[] = [];
  for (const [partition, events] of byPartition)
    for (const part of batch.estimatedBytes <= maximumChunkBytes ? [events] : divided(events)) {
      const [first] = part;
      if (!first) continue;
      chunks.push(
        outgoing(records.ingestEvents, {
          key: first.lead_id,
          partition,
          payload: {
            ou_id: batch.ouId,
            batch_id: batch.batchId,
            source: batch.source,
            fire_triggers: batch.fireTriggers,
            received_at: batch.receivedAt,
            events: part,
          },
          // validateEvents made them, and ingest checks the record as it comes.
          isChecked: true,
          headers: batch.headers,
        }),
      );
    }
  return chunks;
}

/** In order, each part as large as it may be. */
function divided(events: readonly ChunkEvent[]): ChunkEvent[][] {
  const parts: ChunkEvent[][] = [];
  let part: ChunkEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = Buffer.byteLength(JSON.stringify(event)) + 1;
    if (part.length > 0 && bytes + size > maximumChunkBytes) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(event);
    bytes += size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
