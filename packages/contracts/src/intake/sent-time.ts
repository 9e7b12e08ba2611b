// Parses the times that senders write. Strict: texts at which Date.parse would guess are refused.

/** The form of a sent time, as the end of an error message. */
export const sentTimeRule = 'must be an ISO 8601 time with Z or an offset, such as 2026-01-31T09:30:00Z';

const form =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

/** The most common form: UTC with milliseconds already, on any day but a 29 February. It needs no further check. */
const usualForm =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/**
 * An ISO 8601 date-time with Z or an offset, as UTC with milliseconds (further digits are cut off). Null when the text
 * is not such a time, names a day that its month does not have, or lies outside the years 0000 to 9999.
 */
export function utcTime(sent: string): string | null {
  if (usualForm.test(sent)) return sent;
  const parts = form.exec(sent);
  if (!parts) return null;
  const day = Number(parts[3]);
  if (day < 1 || day > daysIn(Number(parts[1]), Number(parts[2]))) return null;
  if (sent.length === 24 && sent.endsWith('Z') && sent.charAt(19) === '.') return sent;
  const time = new Date(sent.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
  if (Number.isNaN(time.getTime())) return null;
  const utc = time.toISOString();
  return utc.length === 24 ? utc : null;
}

function daysIn(year: number, month: number): number {
  switch (month) {
    case 2:
      return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
    case 4:
    case 6:
    case 9:
    case 11:
      return 30;
    default:
      return month >= 1 && month <= 12 ? 31 : 0;
  }
}
