// Two series of bars side by side over bands of scores: the live rules hollow, the draft filled.
import { html, type Html } from './html.js';
import { markLines } from './mark-lines.js';
import { tenths, type Area } from './picture.js';

export interface BarsScale {
  /** At equal distances, the first is 0. */
  marks: readonly number[];
  /** A mark beside the plot. */
  label: (mark: number) => string;
}

/** Values of a band, of live rules and of the draft; null: there is none. */
export type BarPair = readonly [live: number | null, draft: number | null];

export function barsPlot(pairs: readonly BarPair[], { marks, label }: BarsScale, area: Area): Html {
  const { left, right, top, bottom } = area;
  const high = marks.at(-1) ?? 1;
  const y = (value: number) => tenths(bottom - (value / high) * (bottom - top));
  const step = (right - left) / Math.max(1, pairs.length);
  const width = Math.min(18, step * 0.38);
  const bars = (side: 0 | 1) =>
    pairs
      .map((pair, index) => {
        const value = pair[side];
        if (value === null || value === 0) return '';
        const height = Math.max(1, tenths(bottom - y(value)));
        const x = tenths(left + (index + 0.5) * step + (side === 0 ? -width - 0.5 : 0.5));
        return `M${String(x)} ${String(bottom)}v${String(-height)}h${String(tenths(width))}v${String(height)}z`;
      })
      .join('');
  return html`${markLines({ marks, y, label }, area)}
    <path class="live" d="${bars(0)}" fill-opacity=".25" stroke-width="1.5" /><path
      class="dot"
      d="${bars(1)}"
    />`;
}
