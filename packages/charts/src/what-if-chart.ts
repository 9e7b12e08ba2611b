// The numbers that the pictures of a what-if show: those of the live rules and those of the draft.

export interface DrawnBand {
  from: number;
  to: number;
  leads: number;
  /** Of these, the leads with the outcome. */
  won?: number | undefined;
}

export interface DrawnSide {
  distribution: readonly DrawnBand[];
  /** Absent without an outcome, as all that follows. */
  conversion_by_band?: readonly DrawnBand[] | undefined;
  roc?: readonly { tpr: number; fpr: number }[] | undefined;
  auc?: number | null | undefined;
  auc_interval?: { low: number; high: number } | null | undefined;
}

export interface DrawnWhatIf {
  /** `Engagement score`. */
  kind: string;
  leads: number;
  live: DrawnSide;
  draft: DrawnSide;
}

export const whatIfCharts = ['distribution', 'conversion', 'roc'] as const;
export type WhatIfChart = (typeof whatIfCharts)[number];

/** Live rules first, as everywhere. */
export const whatIfSides = ['live', 'draft'] as const;

/** The share of a band's leads that had the outcome; null where the band has no leads. */
export function conversionOf({ leads, won = 0 }: DrawnBand): number | null {
  return leads === 0 ? null : won / leads;
}
