// The drivers, adjustments and changes of a shared explanation as a table for spreadsheets. The column `total` adds up to what the
// score gained within the range; the changes, which led to those points, have their own columns.
import { stringify } from 'csv-stringify/sync';
import { accountSums } from './account-parts.js';
import { withoutPoints } from './reasons.js';
import type {
  SharedAdjustment,
  SharedChange,
  SharedDriver,
  SharedExplanation,
} from './shared-explanation.js';

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
  'adjustment',
  'score_type',
  'account_name',
  'changed_at',
  'change_points',
  'change',
] as const;

type Row = Partial<Record<(typeof columns)[number], string | number>>;

/**
 * A row for each driver, each adjustment, and each change of a profile or deal score, with the fields of the whole explanation
 * repeated on it; one row with these alone when there is none. Text that a spreadsheet would run as a formula gets an apostrophe in front.
 */
export function renderCsv(shared: SharedExplanation): string {
  const { lead_name, score, score_type = 'engagement', decay_applied, range_hours, computed_at } = shared;
  const account_name = shared.account && { account_name: shared.account.name };
  const whole = { lead_name, score, score_type, ...account_name, decay_applied, range_hours, computed_at };
  const { adjustments = [], profile_entries = [], deal_entries = profile_entries } = shared;
  const parts = [
    ...shared.top_drivers.map(driverRow),
    ...[...adjustments, ...accountSums(shared)].map(adjustmentRow),
    ...deal_entries.map(changeRow),
  ];
  const rows: Row[] = parts.length === 0 ? [whole] : parts.map((part) => ({ ...whole, ...part }));
  return stringify(rows, {
    header: true,
    columns: [...columns],
    // Without a byte order mark, spreadsheets do not recognise UTF-8.
    bom: true,
    record_delimiter: 'windows',
    escape_formulas: true,
  });
}

function driverRow({ rule_id, event_type, label, filter_label, count, weight, total }: SharedDriver): Row {
  return {
    rule_id,
    event_type,
    ...(label !== undefined && { label }),
    ...(filter_label !== undefined && { filter_label }),
    count,
    weight,
    total,
  };
}

function adjustmentRow({ rule_id, label, points, text }: SharedAdjustment): Row {
  return {
    ...(rule_id !== undefined && { rule_id }),
    ...(label !== undefined && { label }),
    total: points,
    adjustment: text,
  };
}

function changeRow({ rule_id, points, decided_at, words }: SharedChange): Row {
  return {
    ...(rule_id !== undefined && { rule_id }),
    changed_at: decided_at,
    change_points: points,
    change: withoutPoints(words),
  };
}
