// The points that were added and taken away in each hour or day, as bars on a common zero line.
import { html, type Html } from './html.js';
import { tenths, type Area } from './picture.js';
import type { HistoryPoint } from './score-history.js';
import { extremes } from './steps.js';
import { compactNumber } from './axis.js';

/** Share of the height that a side with bars has at least, so that small bars stay visible. */
const narrowestSide = 0.2;

/** The bars, whose places are those of the steps of `scorePlot`. */
export function movesPlot(points: readonly HistoryPoint[], area: Area): Html {
  const { left, right, top, bottom } = area;
  const [, gives] = extremes([0, ...points.map(({ added }) => added)]);
  const [lowest] = extremes([0, ...points.map(({ taken }) => taken)]);
  const takes = -lowest;
  const share = gives / (gives + takes || 1);
  const above =
    takes === 0 ? 1 : gives === 0 ? 0 : Math.min(1 - narrowestSide, Math.max(narrowestSide, share));
  const zero = tenths(top + above * (bottom - top));
  const perPoint = Math.min(
    gives > 0 ? (zero - top) / gives : Number.POSITIVE_INFINITY,
    takes > 0 ? (bottom - zero) / takes : Number.POSITIVE_INFINITY,
  );
  const step = (right - left) / points.length;
  const width = Math.min(28, step * 0.8);
  const bars = (heightOf: (point: HistoryPoint) => number, up: boolean) =>
    points
      .map((point, index) => {
        const height = heightOf(point) === 0 ? 0 : Math.max(1, tenths(heightOf(point) * perPoint));
        if (height === 0) return '';
        const x = tenths(left + (index + 0.5) * step - width / 2);
        return `M${String(x)} ${String(zero)}v${String(up ? -height : height)}h${String(tenths(width))}v${String(up ? height : -height)}z`;
      })
      .join('');
  return html`<path class="gain" d="${bars(({ added }) => added, true)}" />
    <path class="loss" d="${bars(({ taken }) => -taken, false)}" />
    <line class="zero" x1="${left}" x2="${right}" y1="${zero}" y2="${zero}" />
    ${gives > 0 && side(`+${compactNumber(gives)}`, { x: left - 8, y: top + 8, tone: 'plus' })}
    ${takes > 0 && side(compactNumber(-takes), { x: left - 8, y: bottom, tone: 'minus' })}`;
}

/** The largest bar of a side, as a number beside it. */
function side(text: string, { x, y, tone }: { x: number; y: number; tone: 'plus' | 'minus' }): Html {
  return html`<text class="${tone}" x="${x}" y="${tenths(y)}" font-size="12" text-anchor="end"
    >${text}</text
  >`;
}
