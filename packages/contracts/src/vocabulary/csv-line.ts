// Lines of CSV (RFC 4180) for programs and spreadsheets. Pure.
import type { JsonValue } from './json.js';
import { withApostrophe } from './spreadsheet-text.js';

const needsQuotes = /[",\r\n]/;

/**
 * The cell of a value. A text that a spreadsheet would run as a formula gets an apostrophe in front; a number stays one. Lists and
 * objects are JSON. null and a missing value are empty. What is no Unicode, a lone surrogate, becomes U+FFFD: UTF-8 cannot hold it.
 */
export function csvCell(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string')
    return typeof value === 'object' ? quoted(JSON.stringify(value)) : String(value);
  return quoted(withApostrophe(value.toWellFormed()));
}

/** A line with its end. */
export function csvLine(values: readonly (JsonValue | undefined)[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

function quoted(text: string): string {
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
