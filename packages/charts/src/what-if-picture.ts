// The pictures of a what-if: leads by score before and after, conversion by score, and ROC curves.
import { axisMarks, compactNumber } from './axis.js';
import { barsPlot, type BarPair } from './bars-plot.js';
import { html, type Html } from './html.js';
import { renderPicture, type Area } from './picture.js';
import { rocPlot } from './roc-plot.js';
import { fitted, roughWidth } from './rough-width.js';
import { conversionOf, type DrawnBand, type DrawnWhatIf, type WhatIfChart } from './what-if-chart.js';
import { areaInWords, bandInWords, whatIfInWords, whatIfTitle, withoutOutcome } from './what-if-words.js';
import { countInWords } from './words.js';

const [axisWidth, barsHeight, rowHeight] = [48, 220, 24];
/** The sides of the square of the ROC curves, at most. */
const largestSquare = 420;
const plotTop = 104;

/** The picture, drawn for a width in pixels. Without an outcome, a chart that needs one says so. */
export function renderWhatIf(whatIf: DrawnWhatIf, chart: WhatIfChart, width: number): string {
  const margin = width < 560 ? 16 : 32;
  const across = { left: margin + axisWidth, right: width - margin };
  const isMissing = chart !== 'distribution' && (!whatIf.live.roc || !whatIf.draft.roc);
  const side = Math.min(largestSquare, across.right - across.left);
  const height = chart === 'roc' ? side : barsHeight;
  const area = {
    ...across,
    ...(chart === 'roc' && { right: across.left + side }),
    top: plotTop,
    bottom: plotTop + height,
  };
  const frame = { margin, inside: width - 2 * margin };
  const legend = legendOf(whatIf, chart);
  const title = whatIfTitle(whatIf, chart);
  const bottom = isMissing ? plotTop : area.bottom + 54 + legend.length * rowHeight;
  return renderPicture({
    title: `What if: ${title}`,
    description: whatIfInWords(whatIf, chart),
    width,
    height: bottom + margin,
    content: html`${header(whatIf, title, frame)}${
      isMissing
        ? html`<text class="ink" x="${margin}" y="${plotTop}" font-size="15"
            >${fitted(withoutOutcome, 15, frame.inside)}</text
          >`
        : html`${plot(whatIf, chart, area)}${axisTitle(whatIf, chart, area)}${legend.map((row, index) =>
            legendRow(row, { ...frame, y: area.bottom + 54 + (index + 1) * rowHeight - 6 }),
          )}`
    }`,
  });
}

interface Frame {
  margin: number;
  inside: number;
}

function header({ leads }: DrawnWhatIf, title: string, { margin, inside }: Frame): Html {
  const size = roughWidth(title, 22) <= inside ? 22 : 16;
  return html`<text class="dim" x="${margin}" y="38" font-size="14"
      >What if, ${countInWords(leads, 'lead')}</text
    >
    <text class="ink" x="${margin}" y="66" font-size="${size}" font-weight="600"
      >${fitted(title, size, inside)}</text
    >`;
}

function plot(whatIf: DrawnWhatIf, chart: WhatIfChart, area: Area): Html {
  const { live, draft } = whatIf;
  if (chart === 'roc') return rocPlot(live, draft, area);
  const isShare = chart === 'conversion';
  const [before, after] = isShare
    ? [live.conversion_by_band ?? [], draft.conversion_by_band ?? []]
    : [live.distribution, draft.distribution];
  const valueOf = (band: DrawnBand | undefined) => {
    if (!band) return null;
    if (!isShare) return band.leads;
    const share = conversionOf(band);
    return share === null ? null : share * 100;
  };
  const pairs = before.map((band, index): BarPair => [valueOf(band), valueOf(after[index])]);
  const marks = axisMarks(0, Math.max(1, ...pairs.flat().map((value) => value ?? 0)), 4);
  const label = (mark: number) => (isShare ? `${String(mark)}%` : compactNumber(mark));
  return html`${barsPlot(pairs, { marks, label }, area)}${bandLabels(before, area)}`;
}

/** The bands below the bars, as many as there is space for. */
function bandLabels(bands: readonly DrawnBand[], { left, right, bottom }: Area): Html {
  const step = (right - left) / Math.max(1, bands.length);
  const widest = Math.max(...bands.map((band) => roughWidth(compactBand(band), 12)), 1);
  const every = Math.ceil((widest + 12) / step);
  return html`${bands.map((band, index) => {
    const x = left + (index + 0.5) * step;
    if (index % every !== 0 || x + widest / 2 > right + 12) return false;
    return html`<text class="dim" x="${Math.round(x)}" y="${bottom + 20}" font-size="12" text-anchor="middle"
      >${compactBand(band)}</text
    >`;
  })}`;
}

function compactBand(band: DrawnBand): string {
  const { from, to } = band;
  const isShort = Math.abs(from) < 10_000 && Math.abs(to) < 10_000;
  return isShort ? bandInWords(band) : compactNumber(from);
}

function axisTitle({ kind }: DrawnWhatIf, chart: WhatIfChart, { left, right, top, bottom }: Area): Html {
  const [across, up] =
    chart === 'roc'
      ? ['Other leads taken for them', 'Leads with the outcome that are found']
      : [kind, chart === 'conversion' ? 'Share with the outcome' : 'Leads'];
  return html`<text class="dim" x="${right}" y="${bottom + 42}" font-size="12" text-anchor="end"
      >${across}</text
    >
    <text class="dim" x="${left}" y="${top - 12}" font-size="12">${fitted(up, 12, right - left)}</text>`;
}

interface LegendRow {
  mark: 'live' | 'draft';
  isCurve: boolean;
  name: string;
  about: string;
}

function legendOf({ live, draft }: DrawnWhatIf, chart: WhatIfChart): LegendRow[] {
  const about = (side: DrawnWhatIf['live']) =>
    chart === 'distribution' || !side.roc ? '' : areaInWords(side);
  return [
    { mark: 'live', isCurve: chart === 'roc', name: 'Live rules', about: about(live) },
    { mark: 'draft', isCurve: chart === 'roc', name: 'Draft', about: about(draft) },
  ];
}

function legendRow(row: LegendRow, { margin, inside, y }: Frame & { y: number }): Html {
  const { name, about } = row;
  const words = about === '' ? '' : ` ${fitted(about, 13, inside - 32 - roughWidth(name, 13))}`;
  return html`${legendSign(row, margin, y - 4.5)}<text class="dim" x="${margin + 30}" y="${y}" font-size="13"
      ><tspan class="ink">${name}</tspan>${words}</text
    >`;
}

/** The live rules are hollow or dashed, as in the plots. */
function legendSign({ mark, isCurve }: LegendRow, x: number, y: number): Html {
  if (isCurve)
    return mark === 'live'
      ? html`<line
          class="live"
          x1="${x}"
          x2="${x + 20}"
          y1="${y}"
          y2="${y}"
          stroke-width="2"
          stroke-dasharray="7 4"
        />`
      : html`<line class="path" x1="${x}" x2="${x + 20}" y1="${y}" y2="${y}" stroke-width="2.5" />`;
  const place = { x: x + 5, y: y - 5.5 };
  return mark === 'live'
    ? html`<rect
        class="live"
        x="${place.x}"
        y="${place.y}"
        width="11"
        height="11"
        fill-opacity=".25"
        stroke-width="1.5"
      />`
    : html`<rect class="dot" x="${place.x}" y="${place.y}" width="11" height="11" />`;
}
