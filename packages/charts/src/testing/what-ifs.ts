// What-ifs for tests of their pictures: a usual one, and some with extreme numbers and names.
import type { DrawnBand, DrawnSide, DrawnWhatIf } from '../what-if-chart.js';

const bandsOf = (counts: readonly number[], width = 5, first = 0): DrawnBand[] =>
  counts.map((leads, index) => ({
    from: first + index * width,
    to: first + (index + 1) * width - 1,
    leads,
  }));
const wonOf = (bands: readonly DrawnBand[], shares: readonly number[]): DrawnBand[] =>
  bands.map((band, index) => ({ ...band, won: Math.round(band.leads * (shares[index] ?? 0)) }));
const curveOf = (bend: number) =>
  Array.from({ length: 40 }, (_, index) => ({ fpr: (index + 1) / 40, tpr: ((index + 1) / 40) ** bend }));

const live = bandsOf([820, 610, 540, 420, 380, 300, 260, 210, 160, 120, 80, 60, 40]);
const draft = bandsOf([1_310, 700, 320, 210, 170, 180, 190, 220, 240, 230, 150, 60, 20]);

export const usual: DrawnWhatIf = {
  kind: 'Engagement score',
  leads: 4_000,
  live: {
    distribution: live,
    conversion_by_band: wonOf(
      live,
      [0.22, 0.27, 0.3, 0.36, 0.38, 0.41, 0.44, 0.5, 0.52, 0.49, 0.55, 0.6, 0.62],
    ),
    roc: curveOf(0.6),
    auc: 0.624,
    auc_interval: { low: 0.605, high: 0.643 },
  },
  draft: {
    distribution: draft,
    conversion_by_band: wonOf(
      draft,
      [0.08, 0.14, 0.22, 0.31, 0.4, 0.52, 0.61, 0.7, 0.76, 0.83, 0.88, 0.92, 0.95],
    ),
    roc: curveOf(0.16),
    auc: 0.861,
    auc_interval: { low: 0.849, high: 0.873 },
  },
};

const nobody: DrawnSide = { distribution: [] };
const extreme = [
  { from: -2_147_483_648, to: -1, leads: 3, won: 0 },
  { from: 0, to: 1_999_999_999, leads: 0, won: 0 },
  { from: 2_000_000_000, to: 2_147_483_647, leads: 1, won: 1 },
];
const one: DrawnSide = {
  distribution: extreme,
  conversion_by_band: extreme,
  roc: [
    { fpr: 0, tpr: 1 },
    { fpr: 1, tpr: 1 },
  ],
  auc: 1,
  auc_interval: null,
};
const many = bandsOf(
  Array.from({ length: 30 }, (_, index) => index * 10_000),
  1_000,
  -15_000,
);

export const whatIfs: Record<string, DrawnWhatIf> = {
  usual,
  'no-outcome': { ...usual, live: { distribution: live }, draft: { distribution: draft } },
  nobody: { kind: 'Profile score', leads: 0, live: nobody, draft: nobody },
  extreme: { kind: 'Profile score', leads: 4, live: one, draft: one },
  many: {
    kind: 'Engagement score',
    leads: 4_350_000,
    live: { distribution: many, conversion_by_band: wonOf(many, []), roc: [], auc: null, auc_interval: null },
    draft: {
      distribution: many,
      conversion_by_band: wonOf(many, []),
      roc: [],
      auc: null,
      auc_interval: null,
    },
  },
};
