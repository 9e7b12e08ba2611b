// The picture of counts by type and time: the total and its course, and a row with bars for each of the largest values.
import { axisMarks, compactNumber } from './axis.js';
import { columns } from './columns.js';
import {
  maximumRows,
  nameOfRow,
  rangeOfBuckets,
  shortBucket,
  type DrawnSeries,
  type SeriesRow,
  type SeriesTime,
} from './event-series.js';
import { restInWords, seriesInWords, seriesTitle } from './event-series-words.js';
import { html, type Html } from './html.js';
import { markLines } from './mark-lines.js';
import { renderPicture, tenths, type Area } from './picture.js';
import { fitted, roughWidth } from './rough-width.js';
import { extremes } from './steps.js';
import { countInWords, numberInWords } from './words.js';

const [axisWidth, plotHeight, plotTop] = [48, 170, 176];
const [rowHeight, narrowRowHeight] = [40, 58];
const labelWidth = 96;

interface Frame {
  margin: number;
  width: number;
  isNarrow: boolean;
}

/** The picture, drawn for a width in pixels: letters have the same size in a narrow picture and in a wide one. */
export function renderSeries(series: DrawnSeries, width: number): string {
  const isNarrow = width < 560;
  const margin = isNarrow ? 16 : 32;
  const frame = { margin, width, isNarrow };
  const area = {
    left: margin + axisWidth,
    right: width - margin,
    top: plotTop,
    bottom: plotTop + plotHeight,
  };
  const hasPlot = series.time !== null;
  const rowsTop = hasPlot ? area.bottom + 62 : plotTop + 12;
  const rows = series.rows.slice(0, maximumRows);
  const each = isNarrow ? narrowRowHeight : rowHeight;
  const rest = restInWords(series);
  return renderPicture({
    title: seriesTitle(series),
    description: seriesInWords(series),
    width,
    height: rowsTop + rows.length * each + (rest === '' ? 0 : 28) + margin / 2,
    content: html`${header(series, frame)}${series.time !== null && timePlot(series.time, area)}${rowParts(
      series,
      rows,
      {
        frame,
        top: rowsTop,
        each,
      },
    )}${
      rest !== '' &&
      html`<text class="dim" x="${margin}" y="${rowsTop + rows.length * each + 16}" font-size="13"
        >${fitted(rest, 13, width - 2 * margin)}</text
      >`
    }`,
  });
}

function header(
  { title, unit, total, notes, time, scope = 'Of all time' }: DrawnSeries,
  { margin, width }: Frame,
): Html {
  const inside = width - 2 * margin;
  const whole = numberInWords(total);
  // The description has all of its digits.
  const number = roughWidth(whole, 44) <= inside * 0.7 ? whole : compactNumber(total);
  const word = countInWords(total, unit).slice(whole.length + 1);
  const when = time ? `${rangeOfBuckets(time.labels)}, by ${time.granularity}, ${time.timezone}` : scope;
  return html`<text class="ink" x="${margin}" y="40" font-size="20" font-weight="600"
      >${fitted(title, 20, inside)}</text
    >
    <text class="dim" x="${margin}" y="92" font-size="15"
      ><tspan class="ink large" font-size="44" font-weight="700">${number}</tspan>${`\u2002${word}`}</text
    >
    <text class="dim" x="${margin}" y="120" font-size="13">${fitted(when, 13, inside)}</text>${
      notes.length > 0 &&
      html`<text class="dim" x="${margin}" y="142" font-size="13"
        >${fitted(notes.join(', '), 13, inside)}</text
      >`
    }`;
}

/** The totals as columns over the time. */
function timePlot({ labels, totals }: SeriesTime, area: Area): Html {
  const [, most] = extremes(totals);
  const marks = axisMarks(0, Math.max(1, most), 4);
  const high = marks.at(-1) ?? 1;
  const y = (mark: number) => tenths(area.bottom - (mark / high) * (area.bottom - area.top));
  return html`${markLines({ marks, y, label: compactNumber }, area)}
    <path class="dot" stroke-width="0" d="${columns(totals, high, area)}" />${timeLabels(labels, area)}`;
}

/** Names of buckets below the columns, as many as there is space for. */
function timeLabels(labels: readonly string[], { left, right, bottom }: Area): Html {
  const step = Math.ceil(labels.length / Math.max(1, Math.floor((right - left) / labelWidth)));
  return html`${labels.map((label, index) => {
    const x = left + (index / labels.length) * (right - left);
    // The last label must not leave the picture.
    if (index % step !== 0 || (index > 0 && right - x < labelWidth)) return false;
    return html`<text class="dim" x="${Math.round(x)}" y="${bottom + 20}" font-size="12"
      >${shortBucket(label, labels.length > 300)}</text
    >`;
  })}`;
}

interface Rows {
  frame: Frame;
  top: number;
  each: number;
}

/** A row for each value: its name, its number, and its own columns or, of all time, one bar beside the others'. */
function rowParts({ time }: DrawnSeries, rows: readonly SeriesRow[], { frame, top, each }: Rows): Html {
  const { margin, width, isNarrow } = frame;
  const named = isNarrow ? width - 2 * margin : Math.min(380, (width - 2 * margin) * 0.38);
  const largest = Math.max(1, ...rows.map(({ total }) => total));
  return html`${
    rows.length > 0 &&
    time !== null &&
    html`<text class="dim" x="${margin}" y="${top - 12}" font-size="12"
      >${fitted(isNarrow ? 'Each row has a scale of its own' : 'The largest values; each row has a scale of its own', 12, width - 2 * margin)}</text
    >`
  }${rows.map((row, index) => {
    const y = top + index * each;
    const number = numberInWords(row.total);
    const name = fitted(row.name || nameOfRow(row), 14, named - roughWidth(number, 14) - 20);
    const bars = {
      left: isNarrow ? margin : margin + named + 20,
      right: width - margin,
      top: isNarrow ? y + 24 : y + 5,
      bottom: isNarrow ? y + 48 : y + 33,
    };
    return html`<text class="ink" x="${margin}" y="${y + 19}" font-size="14"
        >${row.name ? nameOfRow({ ...row, name }) : name}</text
      ><text class="dim" x="${margin + named}" y="${y + 19}" font-size="14" text-anchor="end">${number}</text
      ><path
        class="dot"
        stroke-width="0"
        d="${
          row.values
            ? columns(row.values, Math.max(1, ...row.values), bars)
            : barOf(row.total / largest, bars)
        }"
      /><line class="grid" x1="${bars.left}" x2="${bars.right}" y1="${bars.bottom}" y2="${bars.bottom}" />`;
  })}`;
}

function barOf(share: number, { left, right, top, bottom }: Area): string {
  const width = Math.max(1, tenths(share * (right - left)));
  return `M${String(tenths(left))} ${String(top)}h${String(width)}v${String(bottom - top)}h${String(-width)}z`;
}
