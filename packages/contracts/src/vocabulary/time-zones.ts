// Time zones of queries: the names of the IANA database, and what a plain date means in one.
import { momentText, text } from '../common.js';

/** Formatters by zone: making one costs far more than using it. */
const formatters = new Map<string, Intl.DateTimeFormat | null>();
const maximumFormatters = 1_000;

/** The clock of a zone; null for a text that names none. */
function clockOf(zone: string): Intl.DateTimeFormat | null {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = makeClock(zone);
  if (formatters.size >= maximumFormatters) formatters.clear();
  formatters.set(zone, made);
  return made;
}

function makeClock(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  } catch {
    return null;
  }
}

export const timeZoneParameter = text(64, { minimum: 1 })
  .refine((zone) => clockOf(zone) !== null, 'must be a time zone such as Europe/Berlin')
  .default('UTC')
  .describe('Where a plain date begins at midnight: a name of the IANA database.')
  .meta({ default: 'UTC', example: 'Europe/Berlin' });

/** A moment in a query, or a plain date, whose moment depends on a time zone: see `momentIn`. */
export const zonedTimeParameter = momentText;

const dayMs = 86_400_000;

/**
 * The moment that a text of `zonedTimeParameter` means, in UTC with milliseconds. A plain date is the first moment of that day in
 * the zone, which is later than midnight where the clocks are put forward at midnight.
 */
export function momentIn(value: string, zone: string): string {
  const utcMs = Date.parse(value);
  const clock = value.length === 10 ? clockOf(zone) : null;
  if (!clock) return new Date(utcMs).toISOString();
  // The difference between the clock and UTC changes at most once within these two days.
  const moments = [utcMs - dayMs, utcMs + dayMs].map((near) => utcMs - (localMs(clock, near) - near));
  const first = moments.sort((one, other) => one - other).find((ms) => localMs(clock, ms) >= utcMs);
  return new Date(first ?? utcMs).toISOString();
}

/** What the clock of a zone shows at a moment, as if it were UTC. */
function localMs(clock: Intl.DateTimeFormat, ms: number): number {
  const parts = new Map(clock.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  // setUTCFullYear: Date.UTC takes a year before 100 for one of the twentieth century.
  const local = new Date(0);
  local.setUTCFullYear(part('year'), part('month') - 1, part('day'));
  local.setUTCHours(part('hour'), part('minute'), part('second'), ((ms % 1_000) + 1_000) % 1_000);
  return local.getTime();
}
