// The ids of counters of repeats: OU, quarter of an hour, partition. Days of every time zone begin with a quarter of an hour.
import { bytesOf, orderedKey, readOffset, uuidBytes, type Binary } from '@lead-scoring/read-model';

const quarterMs = 900_000;
/** More than there are partitions. */
const partitions = 2 ** 16;
/** The place of the counter over all time, before all quarters. */
export const allTime = 0;

/** The place of a moment's quarter, from 1. @param timeMs milliseconds since 1970; what is no time counts as 1970 */
export function quarterOf(timeMs: number): number {
  return Number.isFinite(timeMs) ? 1 + Math.max(0, Math.floor(timeMs / quarterMs)) : 1;
}

export function countId(ouId: string, quarter: number, partition: number): Binary {
  return orderedKey([ouId], quarter * partitions + partition);
}

/** The ids of an OU's counters, from one quarter to another, both inclusive, in all partitions. */
export function countIdsBetween(ouId: string, from: number, to: number): { $gte: Binary; $lt: Binary } {
  return { $gte: countId(ouId, from, 0), $lt: countId(ouId, to + 1, 0) };
}

/** The first moment of a counter's quarter, in milliseconds since 1970. */
export function quarterStart(id: Binary): number {
  return (Math.floor(readOffset(bytesOf(id), uuidBytes) / partitions) - 1) * quarterMs;
}
