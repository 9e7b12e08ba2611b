// Questions about a time that has begun, and that holds so many hours, days, weeks or months and no more.
import { z } from 'zod';
import { clockDifferenceMs, inOrder, timezoneParameter } from '../common.js';
import { epochMsIn } from '../vocabulary/local-time.js';
import type { Granularity } from '../vocabulary/time-spans.js';

const lengthMs: Record<Granularity, number> = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 30 * 86_400_000,
};

interface AskedTime {
  /** Absent: day. */
  granularity?: Granularity | undefined;
  from?: string | undefined;
  to?: string | undefined;
  timezone: string;
  known_at?: string | undefined;
}

/** Whether the time holds at most as many spans as an answer may have. */
function isBounded(
  { granularity = 'day', from, to, timezone, known_at }: AskedTime,
  maximumSpans: number,
): boolean {
  if (from === undefined) return true;
  const end = to === undefined ? Date.parse(known_at ?? new Date().toISOString()) : epochMsIn(to, timezone);
  return end - epochMsIn(from, timezone) <= maximumSpans * lengthMs[granularity];
}

/** Whether the time begins in the past. */
function hasBegun({ from, timezone }: AskedTime): boolean {
  return from === undefined || epochMsIn(from, timezone) <= Date.now() + clockDifferenceMs;
}

/** Where the spans of events begin. */
export const spanTimezone = timezoneParameter
  .default('UTC')
  .describe(
    'Where days, weeks and months begin: a day of a clock change has 23 or 25 hours. A name of the IANA time zone database.',
  )
  .meta({ default: 'UTC', example: 'Europe/Berlin' });

/** The refusal of a time with more hours, days, weeks or months. */
export const tooManySpans = (maximumSpans: number) =>
  `must be at most ${maximumSpans.toLocaleString('en')} hours, days, weeks or months, as granularity says, before to, which is now by default`;

/** A strict object with `granularity`, `from`, `to` and `timezone`. */
export const boundedTime = <Shape extends z.ZodRawShape>(
  shape: Shape,
  maximumSpans: number,
  tooMany: string,
): z.ZodObject<Shape, z.core.$strict> => {
  const holds = (condition: (asked: AskedTime) => boolean) => (query: Record<string, unknown>) =>
    condition(query as unknown as AskedTime);
  // Only of times that are understood.
  const when = ({ issues }: z.core.ParsePayload) => issues.length === 0;
  return inOrder(shape)
    .refine(holds(hasBegun), { when, path: ['from'], error: 'must not be in the future' })
    .refine(
      holds((asked) => isBounded(asked, maximumSpans)),
      { when, path: ['from'], error: tooMany },
    );
};
