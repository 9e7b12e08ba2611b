// Hours, days, weeks and months of a time zone, one after another without gaps. A day has 23 or 25 hours where clocks are changed. Pure.
import { epochMsIn, type DayOrMoment } from './local-time.js';

/** The number of spans when no `from` is given. */
export const defaultSpans = { hour: 48, day: 30, week: 12, month: 12 } as const;
export type Granularity = keyof typeof defaultSpans;

export interface TimeSpan {
  /** The first moment of the span. */
  from: string;
  /** The last moment that counts: the last millisecond of the span, earlier in the last one. */
  at: string;
  /** In the time zone: `2026-03-29T14:00+02:00`, `2026-03-29`, of a week its Monday, `2026-03`. */
  label: string;
}

export interface RequestedTime {
  granularity: Granularity;
  /** Absent: as early as makes the default number of spans. */
  from?: DayOrMoment | undefined;
  /** The end, which does not count itself; absent: `latest`. */
  to?: DayOrMoment | undefined;
  timezone: string;
  /** The last moment that there is something to say about. */
  latest: string;
}

/** The spans from the one of `from` to the one that ends the time: at least one, the earliest first. */
export function timeSpans({ granularity, from, to, timezone, latest }: RequestedTime): TimeSpan[] {
  const spans = spansBy[granularity];
  const first = from === undefined ? undefined : epochMsIn(from, timezone);
  const end = Math.max(
    Math.min(Date.parse(latest), to === undefined ? Number.POSITIVE_INFINITY : epochMsIn(to, timezone) - 1),
    first ?? Number.NEGATIVE_INFINITY,
  );
  const zoned = (moment: number) =>
    Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timezone);
  const last = spans.begin(zoned(end));
  let start =
    first === undefined ? spans.back(last, defaultSpans[granularity] - 1) : spans.begin(zoned(first));
  const all: TimeSpan[] = [];
  while (start.epochMilliseconds <= end) {
    const next = spans.next(start);
    all.push({
      from: isoOf(start.epochMilliseconds),
      at: isoOf(Math.min(next.epochMilliseconds - 1, end)),
      label: spans.label(start),
    });
    start = next;
  }
  return all;
}

interface Spans {
  /** The beginning of the span that holds the moment. */
  begin(moment: Temporal.ZonedDateTime): Temporal.ZonedDateTime;
  /** The beginning of the next span. */
  next(start: Temporal.ZonedDateTime): Temporal.ZonedDateTime;
  /** The beginning of the span that many spans earlier. */
  back(start: Temporal.ZonedDateTime, count: number): Temporal.ZonedDateTime;
  label(start: Temporal.ZonedDateTime): string;
}

const days: Spans = {
  begin: (moment) => moment.startOfDay(),
  next: (start) => start.add({ days: 1 }).startOfDay(),
  back: (start, count) => start.subtract({ days: count }).startOfDay(),
  label: (start) => start.toPlainDate().toString(),
};

const beginningOfHour = (moment: Temporal.ZonedDateTime) =>
  moment.round({ smallestUnit: 'hour', roundingMode: 'floor' });

const hours: Spans = {
  begin: beginningOfHour,
  next: (start) => {
    // Where clocks are changed by half an hour, an hour later may still be in the same hour of the clock.
    const later = beginningOfHour(start.add({ hours: 1 }));
    return Temporal.ZonedDateTime.compare(later, start) > 0
      ? later
      : beginningOfHour(start.add({ hours: 2 }));
  },
  back: (start, count) => beginningOfHour(start.subtract({ hours: count })),
  label: (start) => `${start.toPlainDateTime().toString({ smallestUnit: 'minute' })}${start.offset}`,
};

const beginningOfWeek = (moment: Temporal.ZonedDateTime) =>
  moment.subtract({ days: moment.dayOfWeek - 1 }).startOfDay();

/** From Monday to Sunday, as ISO 8601 has them. */
const weeks: Spans = {
  begin: beginningOfWeek,
  next: (start) => beginningOfWeek(start.add({ weeks: 1 })),
  back: (start, count) => beginningOfWeek(start.subtract({ weeks: count })),
  label: (start) => beginningOfWeek(start).toPlainDate().toString(),
};

const beginningOfMonth = (moment: Temporal.ZonedDateTime) => moment.with({ day: 1 }).startOfDay();

const months: Spans = {
  begin: beginningOfMonth,
  next: (start) => beginningOfMonth(start.add({ months: 1 })),
  back: (start, count) => beginningOfMonth(start.subtract({ months: count })),
  label: (start) => start.toPlainDate().toPlainYearMonth().toString(),
};

const spansBy: Record<Granularity, Spans> = { hour: hours, day: days, week: weeks, month: months };

/** The index of the span that holds the moment; -1 before all of them, and their number after the end. */
export function placeIn(spans: readonly Pick<TimeSpan, 'from' | 'at'>[], moment: string): number {
  if (moment > (spans.at(-1)?.at ?? '')) return spans.length;
  let [low, high] = [-1, spans.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.from ?? '') <= moment) low = middle;
    else high = middle;
  }
  return low;
}

const isoOf = (moment: number) => new Date(moment).toISOString();
