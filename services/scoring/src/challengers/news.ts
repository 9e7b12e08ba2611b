// Whether the log has anything of an organizational unit between two moments: most units are quiet most of the time.
import { readHistory, type EventLog } from '@lead-scoring/event-log';
import type { HistoryPart } from '../what-if/history.js';

/** Input is plain data, so that a thread of its own can do it. */
export interface News {
  readonly ouId: string;
  /** By partition. */
  readonly from: readonly HistoryPart['ends'][];
  readonly to: readonly HistoryPart['ends'][];
}

const bytesPerFetch = 1024 * 1024;

export async function findNews(
  { ouId, from, to }: News,
  log: EventLog,
  signal: AbortSignal,
): Promise<boolean> {
  for (const [partition, ends] of to.entries()) {
    const known = from[partition] ?? { ingest_end: 0, scoring_end: 0 };
    const ranges = [
      { topic: 'ingest.events', from: known.ingest_end, to: ends.ingest_end },
      { topic: 'scoring.events', from: known.scoring_end, to: ends.scoring_end },
    ] as const;
    for (const range of ranges) {
      const found = readHistory(
        log,
        { topic: range.topic, partition, from: BigInt(range.from), to: BigInt(range.to) },
        { wants: ({ value }) => value.includes(ouId), maxBytes: bytesPerFetch, signal },
      );
      for await (const records of found) if (records.length > 0) return true;
    }
  }
  return false;
}
