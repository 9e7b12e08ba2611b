// ROC curves of live rules and of a draft over the diagonal that chance gives.
import { html, type Html } from './html.js';
import { tenths, type Area } from './picture.js';
import type { DrawnSide } from './what-if-chart.js';

const marks = [0, 0.25, 0.5, 0.75, 1];

/** The curves; both axes are shares from 0 to 1. */
export function rocPlot(live: DrawnSide, draft: DrawnSide, area: Area): Html {
  const { left, right, top, bottom } = area;
  const x = (share: number) => tenths(left + share * (right - left));
  const y = (share: number) => tenths(bottom - share * (bottom - top));
  const curve = ({ roc = [] }: DrawnSide) =>
    `M${String(left)} ${String(bottom)}${roc.map(({ fpr, tpr }) => `L${String(x(fpr))} ${String(y(tpr))}`).join('')}`;
  return html`${marks.map(
      (mark) =>
        html`<line class="grid" x1="${left}" x2="${right}" y1="${y(mark)}" y2="${y(mark)}" /><text
            class="dim"
            x="${left - 8}"
            y="${y(mark)}"
            dy=".35em"
            font-size="12"
            text-anchor="end"
            >${`${String(mark * 100)}%`}</text
          >${
            mark > 0 &&
            html`<text
              class="dim"
              x="${x(mark)}"
              y="${bottom + 20}"
              font-size="12"
              text-anchor="${mark === 1 ? 'end' : 'middle'}"
              >${`${String(mark * 100)}%`}</text
            >`
          }`,
    )}
    <line class="zero" x1="${left}" x2="${right}" y1="${bottom}" y2="${top}" stroke-dasharray="2 4" />
    <path class="live" d="${curve(live)}" fill-opacity="0" stroke-width="2" stroke-dasharray="7 4" />
    <path class="path" d="${curve(draft)}" fill="none" stroke-width="2.5" stroke-linejoin="round" />`;
}
