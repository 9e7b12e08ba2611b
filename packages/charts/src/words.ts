// Numbers, times and durations as a person would say them.

const minus = '\u2212';
const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** `1,234`, `−5`. */
export function numberInWords(value: number): string {
  return value < 0 ? minus + grouped.format(-value) : grouped.format(value);
}

/** `+30`, `−5`, `0`. */
export function withSign(value: number): string {
  return value > 0 ? `+${grouped.format(value)}` : numberInWords(value);
}

/** `1 point`, `12 points`. */
export function countInWords(count: number, one: string, many = `${one}s`): string {
  return `${numberInWords(count)} ${Math.abs(count) === 1 ? one : many}`;
}

/** `the last 30 days`, `the last hour`. */
export function rangeInWords(hours: number): string {
  return hours === 1
    ? 'the last hour'
    : hours === 24
      ? 'the last 24 hours'
      : `the last ${spanInWords(hours)}`;
}

/** `6 days and 4 hours`: whole hours, and for less than one `less than an hour`. */
export function spanInWords(hours: number): string {
  const whole = Math.floor(hours);
  if (whole < 1) return 'less than an hour';
  if (whole < 72 && whole % 24 !== 0) return countInWords(whole, 'hour');
  const days = countInWords(Math.floor(whole / 24), 'day');
  return whole % 24 === 0 ? days : `${days} and ${countInWords(whole % 24, 'hour')}`;
}

const dateParts = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
});

/** `21 November 2026`. */
export function dateInWords(at: string): string {
  const { day, month, year } = partsOf(at);
  return `${day} ${month} ${year}`;
}

/** `21 November 2026, 14:05 UTC`. */
export function momentInWords(at: string): string {
  const { hour, minute } = partsOf(at);
  return `${dateInWords(at)}, ${hour}:${minute} UTC`;
}

/** `21 Nov`, or `21 Nov, 14:05` when the day alone is not precise enough. */
export function shortMoment(at: string, withTime: boolean): string {
  const { day, month, hour, minute } = partsOf(at);
  return `${day} ${month.slice(0, 3)}${withTime ? `, ${hour}:${minute}` : ''}`;
}

function partsOf(at: string): Record<'day' | 'month' | 'year' | 'hour' | 'minute', string> {
  const parts = { day: '', month: '', year: '', hour: '', minute: '' };
  for (const { type, value } of dateParts.formatToParts(new Date(at)))
    if (type in parts) parts[type as keyof typeof parts] = value;
  return parts;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The text, cut to `maximum` code units with an ellipsis, never within a character. */
export function clip(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  let kept = '';
  for (const { segment } of graphemes.segment(text.slice(0, maximum + 32))) {
    if (kept.length + segment.length + 1 > maximum) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** The text so that its direction of writing changes nothing around it, for places where markup is not possible. */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}
