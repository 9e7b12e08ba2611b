// The rules that moved a score, as bars on a common zero line. The chart is decoration: each row has the same in words.
import { clip, countInWords, html, numberInWords, percent, withSign, type Html } from '@lead-scoring/charts';
import type { SharedDriver } from './shared-explanation.js';

/** Minimum width of a side with bars, in percent, so that small bars stay visible. */
const narrowestSide = 8;
const longestEventType = 80;
const longestFilterLabel = 140;

/** What a row says of its driver besides the title. */
export interface DriverWords {
  /** Below the title. */
  kind: string | null;
  /** For readers who hear the page. */
  spoken: string;
  /** How the total comes about. */
  sum: string | null;
}

/** `3 × 15 =`: points of events. */
function eventWords({ event_type, label, count, weight, total }: SharedDriver): DriverWords {
  return {
    kind: label === undefined ? null : event_type,
    spoken: `${countInWords(count, 'time')}, ${countInWords(weight, 'point')} each: ${countInWords(total, 'point')}`,
    sum: `${numberInWords(count)} × ${numberInWords(weight)} =`,
  };
}

/** The points of a rule that holds. */
export function ruleWords({ total }: SharedDriver): DriverWords {
  return { kind: null, spoken: countInWords(total, 'point'), sum: null };
}

/** A list of the `shown` largest drivers, and a sentence about the others. */
export function driversChart(
  drivers: readonly SharedDriver[],
  shown: number,
  rowOf: (driver: SharedDriver) => DriverWords = eventWords,
): Html {
  const rows = drivers.slice(0, shown);
  const rest = drivers.slice(shown);
  const axis = axisOf(rows);
  return html`<ol class="drivers" role="list">
      ${axis.takes && axis.gives && axisRow(axis)}${rows.map((driver) => row(driver, axis, rowOf(driver)))}
    </ol>
    ${rest.length > 0 && html`<p class="more small dim">And ${countInWords(rest.length, 'smaller reason')} not drawn here, together <b class="${toneOf(sumOf(rest))}">${withSign(sumOf(rest))}</b>.</p>`}`;
}

interface Axis {
  takes: boolean;
  gives: boolean;
  /** Position of zero, in percent of the width. */
  zero: number;
  /** Width of one point, in percent of the whole width. */
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

/** The title of a driver: its rule's label, else its event type. */
export function titleOf({ label, event_type }: SharedDriver): string {
  return label ?? event_type;
}

function row(driver: SharedDriver, axis: Axis, { kind, spoken, sum }: DriverWords): Html {
  const { filter_label, total } = driver;
  const length = total === 0 ? 0 : Math.max(0.8, Math.abs(total) * axis.perPoint);
  return html`<li>
    <div class="what">
      <b><bdi>${clip(titleOf(driver), longestEventType)}</bdi></b>
      ${kind !== null && html`<span><bdi>${clip(kind, longestEventType)}</bdi></span>`}
      ${
        filter_label !== undefined &&
        html`<span>when <bdi>${clip(filter_label, longestFilterLabel)}</bdi></span>`
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
      <span class="vh">${spoken}</span
      ><span aria-hidden="true"
        >${sum !== null && `${sum} `}<b class="${toneOf(total)}">${withSign(total)}</b></span
      >
    </p>
  </li> `;
}

/** The CSS class that colours a number by its sign. */
export function toneOf(points: number): string {
  return points > 0 ? 'plus' : points < 0 ? 'minus' : 'none';
}

function sumOf(drivers: readonly SharedDriver[]): number {
  return drivers.reduce((sum, { total }) => sum + total, 0);
}
