// The scores of an account's leads, counted in buckets, and the points that a roll-up makes of them. The size follows from the
// different scores and not from the leads: scores below 1,024 have their own buckets, larger ones share few. Pure.
import type { RollUp } from '@lead-scoring/contracts';
import { bucketOf } from '../leads/histogram-fold.js';

export interface ScoreBucket {
  readonly leads: number;
  /** Of their scores. */
  readonly sum: number;
}

/** By bucketOf. */
export type LeadScores = ReadonlyMap<number, ScoreBucket>;

export const noScores: LeadScores = new Map<never, never>();

/** A lead's score changes; null: the lead is not there. */
export interface ScoreChange {
  readonly previous_score: number | null;
  readonly score: number | null;
}

export function withScores(known: LeadScores, changes: readonly ScoreChange[]): LeadScores {
  const scores = new Map(known);
  const add = (score: number | null, leads: 1 | -1) => {
    if (score === null) return;
    const bucket = bucketOf(score);
    const before = scores.get(bucket);
    const after = { leads: (before?.leads ?? 0) + leads, sum: (before?.sum ?? 0) + leads * score };
    if (after.leads === 0) scores.delete(bucket);
    else scores.set(bucket, after);
  };
  for (const { previous_score, score } of changes) {
    add(previous_score, -1);
    add(score, 1);
  }
  return scores;
}

export function leadsIn(scores: LeadScores): number {
  let leads = 0;
  for (const bucket of scores.values()) leads += bucket.leads;
  return leads;
}

/** The points of a roll-up; 0 without leads. */
export function rolledUp(scores: LeadScores, { method, leads: highest = 1 }: RollUp): number {
  switch (method) {
    case 'none':
      return 0;
    case 'sum':
      return sumOf(scores);
    case 'mean':
      return scores.size === 0 ? 0 : rounded(sumOf(scores) / leadsIn(scores));
    case 'max':
      return sumOfHighest(scores, 1);
    case 'top':
      return sumOfHighest(scores, highest);
  }
}

/** Never -0, which JSON does not have. */
function rounded(value: number): number {
  return Math.round(value) + 0;
}

function sumOf(scores: LeadScores): number {
  let sum = 0;
  for (const bucket of scores.values()) sum += bucket.sum;
  return sum;
}

/** Of the last bucket, which may have more leads than are missing, leads count with the bucket's mean. */
function sumOfHighest(scores: LeadScores, wanted: number): number {
  let missing = wanted;
  let sum = 0;
  for (const [, bucket] of [...scores].sort(([one], [other]) => other - one)) {
    const taken = Math.min(missing, bucket.leads);
    sum += (bucket.sum * taken) / bucket.leads;
    missing -= taken;
    if (missing === 0) break;
  }
  return rounded(sum);
}
