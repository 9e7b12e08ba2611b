// The rules that moved a score, as bars from a common zero line. The chart is decoration: every row says it in words.
import { html, type Html } from './html.js';
import type { SharedDriver } from './shared-explanation.js';
import { clipped, counted, numberInWords, signed } from './words.js';

/** A side that has bars is at least this wide, in percent, so that small ones are seen. */
const narrowestSide = 8;
const longestEventType = 80;
const longestFilterLabel = 140;

/** The largest drivers as a list, `shown` of them, and a sentence on the rest. */
export function driversChart(drivers: readonly SharedDriver[], shown: number): Html {
  const rows = drivers.slice(0, shown);
  const rest = drivers.slice(shown);
  const axis = axisOf(rows);
  return html`<ol class="drivers" role="list">
      ${axis.takes && axis.gives && axisRow(axis)}${rows.map((driver) => row(driver, axis))}
    </ol>
    ${rest.length > 0 && html`<p class="more small dim">And ${counted(rest.length, 'smaller reason')} not drawn here, together <b class="${toneOf(sumOf(rest))}">${signed(sumOf(rest))}</b>.</p>`}`;
}

interface Axis {
  takes: boolean;
  gives: boolean;
  /** Where zero is, in percent of the width. */
  zero: number;
  /** Percent of the width that a point takes. */
  perPoint: number;
}

function axisOf(drivers: readonly SharedDriver[]): Axis {
  const totals = drivers.map(({ total }) => total);
  const gives = Math.max(0, ...totals);
  const takes = -Math.min(0, ...totals);
  const share = (100 * takes) / (gives + takes || 1);
  const zero =
    takes === 0 ? 0 : gives === 0 ? 100 : Math.min(100 - narrowestSide, Math.max(narrowestSide, share));
  return {
    takes: takes > 0,
    gives: gives > 0,
    zero,
    perPoint: Math.min(
      gives > 0 ? (100 - zero) / gives : Number.POSITIVE_INFINITY,
      takes > 0 ? zero / takes : Number.POSITIVE_INFINITY,
    ),
  };
}

function axisRow({ zero }: Axis): Html {
  return html`<li class="axis" aria-hidden="true">
    <span></span
    ><svg class="bar">
      <text x="${percent(zero)}" dx="-8" y="12" text-anchor="end">takes away</text>
      <text x="${percent(zero)}" dx="8" y="12">adds</text></svg
    ><span class="sum"></span>
  </li> `;
}

/** What a driver is called: by its rule's label, or else by what happened. */
export function titleOf({ label, event_type }: SharedDriver): string {
  return label ?? event_type;
}

function row(driver: SharedDriver, axis: Axis): Html {
  const { event_type, label, filter_label, count, weight, total } = driver;
  const length = total === 0 ? 0 : Math.max(0.8, Math.abs(total) * axis.perPoint);
  return html`<li>
    <div class="what">
      <b><bdi>${clipped(titleOf(driver), longestEventType)}</bdi></b>
      ${label !== undefined && html`<span><bdi>${clipped(event_type, longestEventType)}</bdi></span>`}
      ${
        filter_label !== undefined &&
        html`<span>when <bdi>${clipped(filter_label, longestFilterLabel)}</bdi></span>`
      }
    </div>
    <svg class="bar" aria-hidden="true" focusable="false">
      <rect
        class="${total < 0 ? 'loss' : 'gain'}"
        x="${percent(total < 0 ? axis.zero - length : axis.zero)}"
        width="${percent(length)}"
        height="100%"
        rx="2"
      />
      <line x1="${percent(axis.zero)}" x2="${percent(axis.zero)}" y1="-400" y2="400" />
    </svg>
    <p class="sum">
      <span class="vh"
        >${counted(count, 'time')}, ${counted(weight, 'point')} each: ${counted(total, 'point')}</span
      ><span aria-hidden="true"
        >${numberInWords(count)} × ${numberInWords(weight)} =
        <b class="${toneOf(total)}">${signed(total)}</b></span
      >
    </p>
  </li> `;
}

/** The class that colours a number by its sign. */
export function toneOf(points: number): string {
  return points > 0 ? 'plus' : points < 0 ? 'minus' : 'none';
}

function sumOf(drivers: readonly SharedDriver[]): number {
  return drivers.reduce((sum, { total }) => sum + total, 0);
}

function percent(value: number): string {
  return `${String(Math.round(value * 100) / 100)}%`;
}
