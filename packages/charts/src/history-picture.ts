// The picture of a score's history: the score and its level, the running total over the bands of the levels, and what was added and
// taken away.
import { compactNumber } from './axis.js';
import { historyInWords, historyTitle, movesOf } from './history-words.js';
import { html, type Child, type Html } from './html.js';
import { movesPlot } from './moves-plot.js';
import { safeColour } from './palette.js';
import { renderPicture, type Area } from './picture.js';
import { fitted, roughWidth } from './rough-width.js';
import {
  boundsInWords,
  monthOfLabel,
  rangeOfLabels,
  shortLabel,
  shortRangeOfLabels,
  type DrawnHistory,
} from './score-history.js';
import { scorePlot } from './score-plot.js';
import { clip, isolated, numberInWords, withSign } from './words.js';

const longestName = 120;
const [axisWidth, scoreHeight, movesHeight] = [44, 190, 56];
const [scoreTop, rowHeight] = [170, 24];
/** Space that the label of an hour or day takes. */
const labelWidth = 96;

/** The picture, drawn for a width in pixels: letters have the same size in a narrow picture and in a wide one. */
export function renderScoreHistory(history: DrawnHistory, width: number): string {
  const margin = width < 560 ? 16 : 32;
  const across = { left: margin + axisWidth, right: width - margin };
  const scoreArea = { ...across, top: scoreTop, bottom: scoreTop + scoreHeight };
  const moved = movesOf(history.points);
  const hasMoved = moved.added !== 0 || moved.taken !== 0;
  const movesArea = { ...across, top: scoreArea.bottom + 46, bottom: scoreArea.bottom + 46 + movesHeight };
  const bottom = hasMoved ? movesArea.bottom : scoreArea.bottom;
  const legend = legendRows(history, width - 2 * margin);
  return renderPicture({
    title: historyTitle(history, clip(history.lead_name, longestName)),
    description: historyInWords(history),
    width,
    height: bottom + 30 + legend.length * rowHeight + margin,
    content: html`${header(history, { margin, width })} ${scorePlot(history, scoreArea)}
    ${hasMoved && movesPart(history, movesArea, { margin, width })}
    ${timeAxis(history, { ...across, y: bottom + 20 })}
    ${legend.map((row, index) => legendRow(row, margin, bottom + 30 + (index + 1) * rowHeight - 6))}`,
  });
}

/** The heading: the name of the lead, its score now, and the days or hours that the picture shows. */
function header(
  { kind, lead_name, level, points, score_before, granularity, timezone }: DrawnHistory,
  { margin, width }: { margin: number; width: number },
): Html {
  const inside = width - 2 * margin;
  const name = fitted(clip(lead_name, longestName), 22, inside);
  const score = points.at(-1)?.score ?? score_before;
  const time = [
    `${rangeOfLabels(points)}, by ${granularity}, ${timezone}`,
    `${shortRangeOfLabels(points)}, ${timezone}`,
  ];
  return html`<text class="dim" x="${margin}" y="38" font-size="14">The ${kind.toLowerCase()} of</text>
    <text class="ink" x="${margin}" y="66" font-size="22" font-weight="600">${isolated(name)}</text>
    <text class="dim" x="${margin}" y="116" font-size="15"
      ><tspan class="ink large" font-size="44" font-weight="700">${numberInWords(score)}</tspan
      >${`\u2002${Math.abs(score) === 1 ? 'point' : 'points'}`}${levelMark(level, inside)}</text
    >
    <text class="dim" x="${margin}" y="144" font-size="13"
      >${fitted(time.find((one) => roughWidth(one, 13) <= inside) ?? time[1] ?? '', 13, inside)}</text
    >`;
}

function levelMark(level: DrawnHistory['level'], inside: number): Child {
  if (!level) return false;
  const name = isolated(fitted(level.name, 15, inside / 3));
  return html`${'\u2003'}<tspan fill="${safeColour(level.color)}">●</tspan
    ><tspan class="ink" font-weight="600">${`\u2002${name}`}</tspan>`;
}

/** The sums in words, as precisely as there is space for, and the bars. */
function movesPart(
  { points, granularity }: DrawnHistory,
  area: Area,
  { margin, width }: { margin: number; width: number },
): Html {
  const { added, taken } = movesOf(points);
  const about = `Points by ${granularity}: `;
  const sums = [
    { about, added: withSign(added), taken: withSign(taken) },
    { about: '', added: withSign(added), taken: withSign(taken) },
    { about: '', added: `+${compactNumber(added)}`, taken: compactNumber(taken) },
  ];
  const fits = (one: (typeof sums)[number]) =>
    roughWidth(`${one.about}${one.added} added, ${one.taken} taken away`, 13.5) <= width - 2 * margin;
  const shown = sums.find(fits) ?? sums.at(-1);
  return html`<text class="dim" x="${margin}" y="${area.top - 16}" font-size="13"
      >${shown?.about}<tspan class="plus" font-weight="600">${shown?.added}</tspan>${' added, '}<tspan
        class="minus"
        font-weight="600"
        >${shown?.taken}</tspan
      >${' taken away'}</text
    >
    ${movesPlot(points, area)}`;
}

/** Names of hours or days below the plots, as many as there is space for. */
function timeAxis(
  { points }: DrawnHistory,
  { left, right, y }: { left: number; right: number; y: number },
): Html {
  const step = Math.ceil(points.length / Math.max(1, Math.floor((right - left) / labelWidth)));
  const isLong = points.length > 300 && !points[0]?.label.includes('T');
  return html`${points.map(({ label }, index) => {
    const x = left + (index / points.length) * (right - left);
    // The last label must not leave the picture.
    if (index % step !== 0 || (index > 0 && right - x < labelWidth / 2)) return false;
    return html`<text class="dim" x="${Math.round(x)}" y="${y}" font-size="12"
      >${isLong ? monthOfLabel(label) : shortLabel(label)}</text
    >`;
  })}`;
}

interface LegendItem {
  name: string;
  bounds: string;
  color: string;
  /** From the left edge of the row. */
  x: number;
}

/** The levels, as many in a row as there is space for. */
function legendRows({ levels }: DrawnHistory, inside: number): LegendItem[][] {
  const rows: LegendItem[][] = [];
  let x = 0;
  for (const level of levels) {
    const bounds = boundsInWords(level);
    const name = fitted(level.name, 13, Math.min(180, inside / 2));
    const width = 44 + roughWidth(`${name} ${bounds}`, 13);
    if (rows.length === 0 || x + width - 20 > inside) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1)?.push({ name, bounds, color: level.color, x });
    x += width;
  }
  return rows;
}

function legendRow(row: readonly LegendItem[], margin: number, y: number): Html {
  return html`${row.map(
    ({ name, bounds, color, x }) =>
      html`<circle cx="${margin + x + 5}" cy="${y - 4.5}" r="5" fill="${safeColour(color)}" /><text
          class="dim"
          x="${margin + x + 16}"
          y="${y}"
          font-size="13"
          ><tspan class="ink">${isolated(name)}</tspan>${` ${bounds}`}</text
        >`,
  )}`;
}
