// The course of a score over time: as a small plot and as a table.
import {
  compactNumber,
  countInWords,
  extremes,
  html,
  numberInWords,
  percent,
  shortMoment,
  stepsPath,
  type Html,
} from '@lead-scoring/charts';
import type { SharedExplanation } from './shared-explanation.js';

type Point = SharedExplanation['history'][number];

const tableRows = 10;
/** The plot keeps the first, lowest, highest and last score in each of this many slices of the time range. */
const slices = 96;
const [width, height] = [1_000, 100];

/** Whether the history has anything to plot. */
export function hasCourse(history: readonly Point[]): boolean {
  return history.some(({ score }) => score !== history[0]?.score);
}

/** The plot with its table, for a history for which `hasCourse` holds. */
export function coursePlot(history: readonly Point[], rangeHours: number): Html {
  const scores = history.map(({ score }) => score);
  const [lowest, highest] = extremes([0, ...scores]);
  const [top, bottom] = lowest === highest ? [1, 0] : [highest, lowest];
  const y = (score: number) => (100 * (top - score)) / (top - bottom);
  const start = Date.parse(history[0]?.at ?? '');
  const end = Date.parse(history.at(-1)?.at ?? '');
  const x = ({ at }: Point) =>
    end > start ? Math.round((width * (Date.parse(at) - start)) / (end - start)) : 0;
  const withTime = rangeHours <= 72;
  const steps = stepsPath(
    thinOut(history, x).map((point) => ({ x: x(point), y: Math.round(y(point.score) * 10) / 10 })),
    width,
  );
  const labels = [...new Set([top, 0, bottom])];
  return html`<figure class="course">
    <svg class="plot" aria-hidden="true" focusable="false">
      ${labels.map(
        (score) =>
          html`<line${score === 0 && html` class="zero"`}
              x2="100%"
              y1="${percent(y(score))}"
              y2="${percent(y(score))}"
            />${
              (score === 0 || Math.abs(y(score) - y(0)) > 9) &&
              html`<text x="-2.9rem" y="${percent(y(score))}" dy=".32em">${compactNumber(score)}</text>`
            }`,
      )}<svg
        viewBox="0 0 ${width} ${height}"
        preserveAspectRatio="none"
        width="100%"
        height="100%"
        overflow="visible"
      >
        <path class="area" d="M0 ${y(0)}V${steps}V${y(0)}z" />
        <path class="path" d="M0 ${steps}" />
      </svg>
      <circle cx="100%" cy="${percent(y(scores.at(-1) ?? 0))}" r="6" />
    </svg>
    <p class="dates" aria-hidden="true">
      <span>${shortMoment(history[0]?.at ?? '', withTime)}</span
      ><span>${shortMoment(history.at(-1)?.at ?? '', withTime)}</span>
    </p>
    ${courseTable(history)}
  </figure>`;
}

function courseTable(history: readonly Point[]): Html {
  return html`<details>
    <summary>The same as a table</summary>
    <table>
      <caption class="vh">
        The score at ${countInWords(Math.min(history.length, tableRows), 'moment')}
      </caption>
      <thead>
        <tr>
          <th scope="col">When (UTC)</th>
          <th scope="col">Score</th>
        </tr>
      </thead>
      <tbody>
        ${momentsOf(history).map(
          ({ at, score }) =>
            html`<tr>
              <td><time datetime="${at}">${shortMoment(at, true)}</time></td>
              <td>${numberInWords(score)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;
}

function thinOut(history: readonly Point[], x: (point: Point) => number): Point[] {
  if (history.length <= 4 * slices) return [...history];
  const kept: Point[] = [];
  let slice: Point[] = [];
  const close = () => {
    const [lowest, highest] = extremes(slice.map(({ score }) => score));
    const wanted = new Set([
      0,
      slice.findIndex(({ score }) => score === lowest),
      slice.findIndex(({ score }) => score === highest),
      slice.length - 1,
    ]);
    kept.push(...slice.filter((_, index) => wanted.has(index)));
    slice = [];
  };
  let current = 0;
  for (const point of history) {
    const place = Math.floor((x(point) * slices) / width);
    if (place !== current) close();
    current = place;
    slice.push(point);
  }
  close();
  return kept;
}

/** All points when they are few, else the score at equally spaced times. */
function momentsOf(history: readonly Point[]): Point[] {
  if (history.length <= tableRows) return [...history];
  const start = Date.parse(history[0]?.at ?? '');
  const step = (Date.parse(history.at(-1)?.at ?? '') - start) / (tableRows - 1);
  const moments = Array.from({ length: tableRows - 1 }, (_, index) => {
    const at = new Date(start + step * index).toISOString();
    return { at, score: history.findLast((point) => point.at <= at)?.score ?? history[0]?.score ?? 0 };
  });
  return [...moments, ...history.slice(-1)];
}
