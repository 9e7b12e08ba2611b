// Cuts the rows of an upload into parts, each of which goes to the log and to the job at a time.
import type { SentRow } from './rows.js';

export interface PartLimits {
  rows: number;
  bytes: number;
  /** Milliseconds after which a part ends that has a row. */
  patienceMs: number;
  /** Milliseconds after which a part ends that has none: the job hears that the upload goes on. */
  heartbeatMs: number;
}

/** A request may link 10,000 further aliases, and an event names nine. A part stays well below the largest record. */
export const partLimits: PartLimits = {
  rows: 1_000,
  bytes: 1_000_000,
  patienceMs: 2_000,
  heartbeatMs: 60_000,
};

/** The parts, the last of which is the rest; an upload without rows has none but heartbeats. */
export async function* partsOf(
  source: AsyncIterable<readonly SentRow[]>,
  limits: PartLimits = partLimits,
  now: () => number = Date.now,
): AsyncGenerator<SentRow[]> {
  let part: SentRow[] = [];
  let bytes = 0;
  let began = now();
  for await (const rows of source) {
    for (const row of rows) {
      if (part.length >= limits.rows || (part.length > 0 && bytes + row.bytes > limits.bytes)) {
        yield part;
        part = [];
        bytes = 0;
        began = now();
      }
      part.push(row);
      bytes += row.bytes;
    }
    if (now() - began < (part.length > 0 ? limits.patienceMs : limits.heartbeatMs)) continue;
    yield part;
    part = [];
    bytes = 0;
    began = now();
  }
  if (part.length > 0) yield part;
}
