// Times as people write them in tables, in a format that the mapping names. Pure.
import { timeFormats, utcTime, type TimeFormat } from '@lead-scoring/contracts';

const isoDay = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const ordered = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2}),?$/;
const clock = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(AM|PM)?(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/**
 * The moment as UTC with milliseconds; one without an offset is UTC. A year of two digits is one of 1970 to 2069.
 * @returns null where the text is no time of this format
 */
export function timeIn(text: string, format: TimeFormat): string | null {
  const value = text.trim();
  if (value.length > 60) return null;
  const at = value.search(/[T ]/);
  const date = at === -1 ? value : value.slice(0, at);
  const rest = at === -1 ? undefined : value.slice(at + 1).replaceAll(' ', '');
  switch (format) {
    case 'epoch':
      return epochTime(value);
    case 'iso': {
      const exact = utcTime(value);
      if (exact !== null) return exact;
      const [whole, year, month, day] = isoDay.exec(date) ?? [];
      return whole === undefined ? null : moment(year, month, day, rest);
    }
    case 'day_first':
    case 'month_first': {
      const [whole, first, second, year] = ordered.exec(date) ?? [];
      if (whole === undefined) return null;
      return format === 'day_first' ? moment(year, second, first, rest) : moment(year, first, second, rest);
    }
  }
}

/** The formats in which all of these texts are times. */
export function timeFormatsOf(texts: readonly string[]): TimeFormat[] {
  return timeFormats.filter((format) => texts.every((text) => timeIn(text, format) !== null));
}

function epochTime(value: string): string | null {
  if (!/^\d{9,13}$/.test(value)) return null;
  const number = Number(value);
  return new Date(value.length > 11 ? number : number * 1_000).toISOString();
}

function moment(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  rest: string | undefined,
): string | null {
  const [whole, hours = '0', minutes = '00', seconds = '00', half, offset = 'Z'] =
    rest === undefined ? ['00:00'] : (clock.exec(rest) ?? []);
  if (whole === undefined || year === undefined || month === undefined || day === undefined) return null;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (/pm/i.test(half) ? 12 : 0);
  const full = year.length === 2 ? `${Number(year) < 70 ? '20' : '19'}${year}` : year;
  const two = (digits: string | number) => String(digits).padStart(2, '0');
  const zone = /^utc$/i.test(offset) ? 'Z' : offset.toUpperCase();
  return utcTime(`${full}-${two(month)}-${two(day)}T${two(hour)}:${minutes}:${seconds}${zone}`);
}
