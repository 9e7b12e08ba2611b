// How well scores tell the leads that had an outcome from the others: the area under the ROC curve with its confidence interval, the
// curve, lift, and precision at a threshold, all from counts by score. Pure.
//
// The area is the Mann-Whitney statistic: the share of pairs of one lead of each kind in which the one with the outcome has the higher
// score, ties counting half. Its variance is that of DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more
// correlated receiver operating characteristic curves", Biometrics 44 (1988) 837-845, for one curve.
import { classesOf, sumOf, type ScoreCounts, type ScoredClass } from './histogram.js';

export interface Separation {
  /** null where all leads are of one kind. */
  readonly auc: number | null;
  /** 95 %, within 0 and 1; null where a variance needs more leads of a kind than there are. */
  readonly auc_interval: { readonly low: number; readonly high: number } | null;
}

/** The 97.5 % point of the normal distribution. */
const normalPoint = 1.959963984540054;

export function separationOf(won: ScoreCounts, others: ScoreCounts): Separation {
  const [positives, negatives] = [sumOf(won), sumOf(others)];
  if (positives === 0 || negatives === 0) return { auc: null, auc_interval: null };
  // From the highest score down: how many of each kind lie above.
  let wonAbove = 0;
  let othersAbove = 0;
  const ofWon: Weighted[] = [];
  const ofOthers: Weighted[] = [];
  for (const { won: w, others: o } of classesOf(won, others)) {
    // The share of the others that a lead with the outcome and this score is above, and so for the other kind.
    if (w > 0) ofWon.push({ value: (negatives - othersAbove - o / 2) / negatives, count: w });
    if (o > 0) ofOthers.push({ value: (wonAbove + w / 2) / positives, count: o });
    wonAbove += w;
    othersAbove += o;
  }
  const auc = meanOf(ofWon, positives);
  if (positives < 2 || negatives < 2) return { auc, auc_interval: null };
  const variance =
    varianceOf(ofWon, auc, positives) / positives + varianceOf(ofOthers, auc, negatives) / negatives;
  const half = normalPoint * Math.sqrt(variance);
  return { auc, auc_interval: { low: Math.max(0, auc - half), high: Math.min(1, auc + half) } };
}

interface Weighted {
  readonly value: number;
  readonly count: number;
}

function meanOf(values: readonly Weighted[], total: number): number {
  return values.reduce((sum, { value, count }) => sum + value * count, 0) / total;
}

/** Of a sample. */
function varianceOf(values: readonly Weighted[], mean: number, total: number): number {
  return values.reduce((sum, { value, count }) => sum + count * (value - mean) ** 2, 0) / (total - 1);
}

export interface RocPoint {
  /** Leads with this score or a higher one are taken for leads with the outcome. */
  readonly threshold: number;
  readonly tpr: number;
  readonly fpr: number;
}

/** The ROC curve from the highest score down, thinned out evenly to `maximum` points; empty where all leads are of one kind. */
export function rocOf(won: ScoreCounts, others: ScoreCounts, maximum = 200): RocPoint[] {
  const [positives, negatives] = [sumOf(won), sumOf(others)];
  if (positives === 0 || negatives === 0) return [];
  let [tp, fp] = [0, 0];
  const points = classesOf(won, others).map(({ score, won: w, others: o }): RocPoint => {
    tp += w;
    fp += o;
    return { threshold: score, tpr: tp / positives, fpr: fp / negatives };
  });
  if (points.length <= maximum) return points;
  const last = points.length - 1;
  return Array.from({ length: maximum }, (_, index) => Math.round((index * last) / (maximum - 1))).flatMap(
    (index) => points[index] ?? [],
  );
}

/**
 * How many times as often the best tenth of the leads had the outcome as all did. Of the leads with the score at its edge a share
 * counts, so that the order of equal scores does not matter. null where none had it.
 */
export function liftOfTopDecile(won: ScoreCounts, others: ScoreCounts): number | null {
  const positives = sumOf(won);
  const all = positives + sumOf(others);
  if (positives === 0) return null;
  const wanted = all / 10;
  let left = wanted;
  let found = 0;
  for (const { won: w, others: o } of classesOf(won, others)) {
    const share = Math.min(1, left / (w + o));
    found += w * share;
    left -= (w + o) * share;
    if (left <= 0) break;
  }
  return found / wanted / (positives / all);
}

export interface ThresholdFigures {
  readonly threshold: number;
  readonly leads: number;
  readonly precision: number | null;
  readonly recall: number | null;
}

/** What becomes of taking all leads with a score and above for leads with the outcome. */
export function atThreshold(won: ScoreCounts, others: ScoreCounts, threshold: number): ThresholdFigures {
  const isTaken = ({ score }: ScoredClass) => score >= threshold;
  const taken = classesOf(won, others).filter(isTaken);
  const hits = taken.reduce((sum, one) => sum + one.won, 0);
  const leads = taken.reduce((sum, one) => sum + one.won + one.others, 0);
  const positives = sumOf(won);
  return {
    threshold,
    leads,
    precision: leads === 0 ? null : hits / leads,
    recall: positives === 0 ? null : hits / positives,
  };
}
