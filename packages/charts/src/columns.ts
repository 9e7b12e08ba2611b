// Columns of one series over buckets of time, side by side.
import { tenths, type Area } from './picture.js';

/** The path of the columns. @param high the value of a column that is as high as the area */
export function columns(values: readonly number[], high: number, { left, right, top, bottom }: Area): string {
  const step = (right - left) / Math.max(1, values.length);
  const width = Math.max(0.6, tenths(Math.min(28, step * 0.8)));
  return values
    .map((value, index) => {
      if (value === 0) return '';
      // A small number is still to be seen.
      const height = Math.max(1, tenths((value / high) * (bottom - top)));
      const x = tenths(left + (index + 0.5) * step - width / 2);
      return `M${String(x)} ${String(bottom)}v${String(-height)}h${String(width)}v${String(height)}z`;
    })
    .join('');
}
