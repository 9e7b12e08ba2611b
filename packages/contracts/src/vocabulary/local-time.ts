// Moments as people write them: a day of a time zone, or a point in time.

/** A day of a time zone, `2026-03-29`, or a moment, ISO 8601 with an offset or Z. */
export type DayOrMoment = string;

/** Whether this names a time zone of the IANA time zone database, in any case. */
export function isTimeZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

/** The moment, in epoch milliseconds; of a day its beginning in the time zone, which is not midnight on every day. */
export function epochMsIn(value: DayOrMoment, timezone: string): number {
  return value.includes('T')
    ? Date.parse(value)
    : Temporal.PlainDate.from(value).toZonedDateTime(timezone).epochMilliseconds;
}
