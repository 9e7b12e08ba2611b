// The pictures of a what-if in words, for screen readers.
import {
  conversionOf,
  whatIfSides,
  type DrawnBand,
  type DrawnSide,
  type DrawnWhatIf,
  type WhatIfChart,
} from './what-if-chart.js';
import { countInWords, numberInWords } from './words.js';

export const withoutOutcome = 'This what-if names no outcome, so there is nothing to draw.';
const nobody = 'No lead has an event that counts.';
/** Points of a curve that are told one by one. */
const toldPoints = 12;

export function whatIfTitle({ kind }: Pick<DrawnWhatIf, 'kind'>, chart: WhatIfChart): string {
  switch (chart) {
    case 'distribution':
      return `Leads by ${kind.toLowerCase()}`;
    case 'conversion':
      return `Leads with the outcome by ${kind.toLowerCase()}`;
    case 'roc':
      return `How well the ${kind.toLowerCase()} finds leads with the outcome`;
  }
}

/** `12.5%`. */
export function shareInWords(share: number): string {
  return `${String(Math.round(share * 1_000) / 10)}%`;
}

/** `0 to 9`, `−5`. */
export function bandInWords({ from, to }: DrawnBand): string {
  return from === to ? numberInWords(from) : `${numberInWords(from)} to ${numberInWords(to)}`;
}

/** `AUC 0.624 (0.605 to 0.643)`; without an area, what it lacks. */
export function areaInWords({ auc, auc_interval }: Pick<DrawnSide, 'auc' | 'auc_interval'>): string {
  if (auc === null || auc === undefined) return 'no AUC: all leads are of one kind';
  const places = (value: number) => value.toFixed(3);
  const between = auc_interval ? ` (${places(auc_interval.low)} to ${places(auc_interval.high)})` : '';
  return `AUC ${places(auc)}${between}`;
}

/** The picture as a text: every band, or the areas and some points of the curves. */
export function whatIfInWords(whatIf: DrawnWhatIf, chart: WhatIfChart): string {
  const { live, draft, leads } = whatIf;
  if (leads === 0) return nobody;
  if (chart === 'distribution')
    return `${countInWords(leads, 'lead')}. ${bandsInWords(live.distribution, draft.distribution, ({ leads: count }) => numberInWords(count))}`;
  if (!live.roc || !draft.roc) return withoutOutcome;
  if (chart === 'roc') return curvesInWords(whatIf);
  return `The share of leads with the outcome, by what was before it. ${bandsInWords(
    live.conversion_by_band ?? [],
    draft.conversion_by_band ?? [],
    (band) => {
      const share = conversionOf(band);
      return share === null ? 'no leads' : `${shareInWords(share)} of ${numberInWords(band.leads)}`;
    },
  )}`;
}

function bandsInWords(
  live: readonly DrawnBand[],
  draft: readonly DrawnBand[],
  told: (band: DrawnBand) => string,
): string {
  return live
    .map((band, index) => {
      const other = draft[index];
      return `${bandInWords(band)}: live ${told(band)}, draft ${other ? told(other) : 'no leads'}`;
    })
    .join('; ')
    .concat('.');
}

function curvesInWords(whatIf: DrawnWhatIf): string {
  return whatIfSides
    .map((name) => {
      const side = whatIf[name];
      const points = side.roc ?? [];
      const some = points.filter(
        (_, index) => points.length <= toldPoints || index % Math.ceil(points.length / toldPoints) === 0,
      );
      const course = some.map(({ tpr, fpr }) => `${shareInWords(tpr)} at ${shareInWords(fpr)}`).join('; ');
      return `${name === 'live' ? 'Live rules' : 'Draft'}: ${areaInWords(side)}. Leads with the outcome that are found, at the share of other leads that are taken for them: ${course}.`;
    })
    .join(' ');
}
