// The drivers of a shared explanation as a table for spreadsheets.
import { stringify } from 'csv-stringify/sync';
import type { SharedExplanation } from './shared-explanation.js';

const columns = [
  'lead_name',
  'score',
  'decay_applied',
  'range_hours',
  'computed_at',
  'rule_id',
  'event_type',
  'label',
  'filter_label',
  'count',
  'weight',
  'total',
] as const;

/**
 * A row for each driver, with the fields of the whole explanation repeated on it; one row without a driver when there
 * is none. Text that a spreadsheet would run as a formula gets an apostrophe in front.
 */
export function renderCsv(shared: SharedExplanation): string {
  const { lead_name, score, decay_applied, range_hours, computed_at } = shared;
  const whole = { lead_name, score, decay_applied, range_hours, computed_at };
  const rows: Partial<Record<(typeof columns)[number], string | number>>[] =
    shared.top_drivers.length === 0
      ? [whole]
      : shared.top_drivers.map(({ rule_id, event_type, label, filter_label, count, weight, total }) => ({
          ...whole,
          rule_id,
          event_type,
          ...(label !== undefined && { label }),
          ...(filter_label !== undefined && { filter_label }),
          count,
          weight,
          total,
        }));
  return stringify(rows, {
    header: true,
    columns: [...columns],
    // Without a byte order mark, spreadsheets do not recognise UTF-8.
    bom: true,
    record_delimiter: 'windows',
    escape_formulas: true,
  });
}
