// The two levels at which an OU's events are counted by time, and the ids of their documents: OU, level, period, partition.
import {
  bytesOf,
  keysWithin,
  offsetBytes,
  orderedKey,
  readOffset,
  uuidBytes,
  type Binary,
  type KeyRange,
} from '@lead-scoring/read-model';

/**
 * A period is one document of a level; it counts the events of each of its cells. A cell of `days` is a period of `hours`, so
 * what a cell of `days` cannot answer is read from one document of `hours`.
 */
export const levels = {
  /** Quarters of an hour, in periods of 6 hours: days and hours of almost every time zone begin with one. */
  hours: { number: 0, cellMs: 900_000, cells: 24 },
  /** 6 hours, in periods of 8 days. */
  days: { number: 1, cellMs: 21_600_000, cells: 32 },
} as const;

export type Level = keyof typeof levels;

/** A cell of a period; both count from 1970, and are negative before. */
export interface Cell {
  period: number;
  cell: number;
}

/** @param timeMs milliseconds since 1970 */
export function cellOf(level: Level, timeMs: number): Cell {
  const { cellMs, cells } = levels[level];
  const number = Math.floor(timeMs / cellMs);
  const period = Math.floor(number / cells);
  return { period, cell: number - period * cells };
}

/** The first moment of a cell, in milliseconds since 1970. */
export function cellStart(level: Level, { period, cell }: Cell): number {
  const { cellMs, cells } = levels[level];
  return (period * cells + cell) * cellMs;
}

/** More than there are partitions. */
const partitions = 2 ** 16;
/** More than there are periods of a level in the years 0 to 9999, and the number of the one that begins in 1970. */
const periods = 2 ** 26;
const periodBias = 2 ** 25;

export function periodId(ouId: string, level: Level, period: number, partition: number): Binary {
  const place = levels[level].number * periods + period + periodBias;
  return orderedKey([ouId], place * partitions + partition);
}

/** The ids of an OU's periods, from one (inclusive) to another (exclusive), in all partitions. */
export function periodIdsBetween(
  ouId: string,
  level: Level,
  from: number,
  to: number,
): { $gte: Binary; $lt: Binary } {
  return { $gte: periodId(ouId, level, from, 0), $lt: periodId(ouId, level, to, 0) };
}

/** The ids of all periods of an OU, of both levels. */
export function periodIdsOf(ouId: string): KeyRange {
  return keysWithin([ouId], offsetBytes);
}

export function readLevel(id: Binary): Level {
  return readOffset(bytesOf(id), uuidBytes) >= levels.days.number * periods * partitions ? 'days' : 'hours';
}

export function readPeriod(id: Binary): number {
  return (Math.floor(readOffset(bytesOf(id), uuidBytes) / partitions) % periods) - periodBias;
}
