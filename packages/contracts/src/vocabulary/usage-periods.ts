// Hours and days, in UTC, by which usage is counted and read. A stored count has one day, and a cell for each of its hours. Pure.

export const usageGranularities = ['day', 'hour'] as const;
export type UsageGranularity = (typeof usageGranularities)[number];

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

const lengthOf: Record<UsageGranularity, number> = { hour: hourMs, day: dayMs };

/** A time from the beginning of a period to the beginning of a later one, in milliseconds since 1970. */
export interface UsageTime {
  granularity: UsageGranularity;
  from: number;
  to: number;
}

/** The day and the hour of a moment. @param timeMs milliseconds since 1970 */
export function usagePlaceOf(timeMs: number): { day: number; hour: number } {
  const day = Math.floor(timeMs / dayMs) * dayMs;
  return { day, hour: Math.floor((timeMs - day) / hourMs) };
}

/** The time in whole periods that has every moment from `from` to `to`, `to` itself left out; at least one period. */
export function usageTimeOf(granularity: UsageGranularity, from: number, to: number): UsageTime {
  const length = lengthOf[granularity];
  const first = Math.floor(from / length) * length;
  return { granularity, from: first, to: Math.max(Math.ceil(to / length) * length, first + length) };
}

/** The beginnings of the periods, the earliest first. */
export function usagePeriodsOf({ granularity, from, to }: UsageTime): number[] {
  const length = lengthOf[granularity];
  return Array.from({ length: (to - from) / length }, (_, index) => from + index * length);
}

/** The first and the last day that have hours of the time. */
export function usageDaysOf({ from, to }: UsageTime): { first: number; last: number } {
  return { first: usagePlaceOf(from).day, last: usagePlaceOf(to - 1).day };
}

/**
 * The cells of a day that are in the time, each with the beginning of the period to which it belongs.
 * @param hours by the hour of the day, 0 to 23
 */
export function* usageCellsIn<Cell>(
  { granularity, from, to }: UsageTime,
  day: number,
  hours: Readonly<Record<string, Cell>>,
): Generator<[period: number, cell: Cell]> {
  for (const [hour, cell] of Object.entries(hours)) {
    const at = day + Number(hour) * hourMs;
    if (at >= from && at < to) yield [granularity === 'day' ? day : at, cell];
  }
}
