// The running total of a score as steps over the bands of its levels.
import { axisMarks, compactNumber } from './axis.js';
import { html, type Html } from './html.js';
import { safeColour } from './palette.js';
import { markLines } from './mark-lines.js';
import { tenths, type Area } from './picture.js';
import type { DrawnHistory, HistoryLevel } from './score-history.js';
import { extremes, stepsPath } from './steps.js';

/** The plot of a history, whose points are at equal distances. */
export function scorePlot({ score_before, points, levels }: DrawnHistory, area: Area): Html {
  const { left, right, top, bottom } = area;
  const scores = points.map(({ score }) => score);
  const [lowest, highest] = extremes([0, score_before, ...scores]);
  const marks = axisMarks(lowest, lowest === highest ? lowest + 10 : highest, 4);
  const [low = 0, high = 1] = [marks[0], marks.at(-1)];
  const y = (score: number) => tenths(bottom - ((score - low) / (high - low)) * (bottom - top));
  const steps = stepsPath(
    [
      { x: left, y: y(score_before) },
      ...scores.map((score, index) => ({
        x: tenths(left + (index / scores.length) * (right - left)),
        y: y(score),
      })),
    ],
    right,
  );
  return html`${levels.map((level) => band(level, { low, high, y, left, right }))}${markLines({ marks, y, label: compactNumber }, area)}
    ${levels.length === 0 && html`<path class="area" d="M${left} ${y(0)}V${steps}V${y(0)}z" />`}
    <path class="path" d="M${left} ${steps}" fill="none" stroke-width="2.5" stroke-linejoin="round" />
    <circle class="dot" cx="${right}" cy="${y(scores.at(-1) ?? score_before)}" r="5" stroke-width="2" />`;
}

interface BandScale {
  low: number;
  high: number;
  y: (score: number) => number;
  left: number;
  right: number;
}

/** The scores of a level, up to where the next score begins. */
function band(
  { min_score, max_score, color }: HistoryLevel,
  { low, high, y, left, right }: BandScale,
): Html | false {
  const from = Math.max(low, min_score ?? low);
  const to = Math.min(high, max_score === null ? high : max_score + 1);
  return (
    from < to &&
    html`<rect
      x="${left}"
      y="${y(to)}"
      width="${tenths(right - left)}"
      height="${tenths(y(from) - y(to))}"
      fill="${safeColour(color)}"
      fill-opacity=".14"
    />`
  );
}
