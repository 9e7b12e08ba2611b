// Groups events by partition into few, large commands, because the cost per record limits throughput (PERFORMANCE.md). Pure.
import type { ChunkEvent, IngestEvents } from '../records/ingest.js';

export interface EventBatch {
  ouId: string;
  batchId: string;
  source: 'ingest' | 'import';
  fireTriggers: boolean;
  receivedAt: string;
  /** The actor header: the credential that sends the events. */
  sentBy?: string | undefined;
  events: readonly ChunkEvent[];
  /** The approximate size of the events as JSON. */
  estimatedBytes: number;
}

/** A command for the leads of one partition. */
export interface Chunk {
  /** The lead of the first event. */
  key: string;
  partition: number;
  payload: IngestEvents;
}

/** Well below the largest record of a topic. */
const maximumChunkBytes = 900_000;

/** One record per partition; several only where one would be too large. */
export function chunksOf(batch: EventBatch, partitionOf: (key: string) => number): Chunk[] {
  const byPartition = new Map<number, ChunkEvent[]>();
  for (const event of batch.events) {
    const partition = partitionOf(event.lead_id);
    const events = byPartition.get(partition);
    if (events) events.push(event);
    else byPartition.set(partition, [event]);
  }
  const chunks: Chunk[] = [];
  for (const [partition, events] of byPartition)
    for (const part of batch.estimatedBytes <= maximumChunkBytes ? [events] : divide(events)) {
      const [first] = part;
      if (!first) continue;
      chunks.push({
        key: first.lead_id,
        partition,
        payload: {
          ou_id: batch.ouId,
          batch_id: batch.batchId,
          source: batch.source,
          fire_triggers: batch.fireTriggers,
          received_at: batch.receivedAt,
          ...(batch.sentBy !== undefined && { sent_by: batch.sentBy }),
          events: part,
        },
      });
    }
  return chunks;
}

/** Divides the events, in order, into the largest parts that a record may have. */
function divide(events: readonly ChunkEvent[]): ChunkEvent[][] {
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
