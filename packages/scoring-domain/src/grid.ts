// The cell of a lead in the grid of profile by engagement. Pure.
import {
  largestScore,
  smallestScore,
  type Grid,
  type GridCell,
  type GridDigit,
  type GridLetter,
} from '@lead-scoring/contracts';

export interface GridScores {
  readonly engagement: number;
  /** undefined: the lead has none, which counts as 0. */
  readonly profile: number | undefined;
}

/** Both ends inclusive. */
export interface GradeRange {
  readonly low: number;
  readonly high: number;
}

/** The cell of a lead with these scores. */
export function cellOf({ profile, engagement }: Grid, scores: GridScores): GridCell {
  const fit = scores.profile ?? 0;
  const letter: GridLetter = fit >= profile.A ? 'A' : fit >= profile.B ? 'B' : fit >= profile.C ? 'C' : 'D';
  const interest = scores.engagement;
  const digit: GridDigit =
    interest >= engagement[1] ? '1' : interest >= engagement[2] ? '2' : interest >= engagement[3] ? '3' : '4';
  return `${letter}${digit}`;
}

/** The scores of the leads in a cell; a range in which low is greater than high holds no score. */
export function rangesOf(
  { profile, engagement }: Grid,
  cell: GridCell,
): { profile: GradeRange; engagement: GradeRange } {
  const byLetter = rangesFrom([profile.A, profile.B, profile.C]);
  const byDigit = rangesFrom([engagement[1], engagement[2], engagement[3]]);
  const everyScore = { low: smallestScore, high: largestScore };
  return {
    profile: byLetter['ABCD'.indexOf(cell.slice(0, 1))] ?? everyScore,
    engagement: byDigit['1234'.indexOf(cell.slice(1))] ?? everyScore,
  };
}

/** The ranges of grades with these lowest scores, and of all below the last. */
function rangesFrom(bounds: readonly number[]): GradeRange[] {
  return [...bounds, smallestScore].map((low, index) => ({
    low,
    high: index === 0 ? largestScore : (bounds[index - 1] ?? 0) - 1,
  }));
}
