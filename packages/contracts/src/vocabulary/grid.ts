// The grid of profile by engagement: sixteen cells, A1 to D4. The letter grades the profile score, the digit the engagement score.
import { z } from 'zod';
import { score } from '../common.js';

export const gridLetters = ['A', 'B', 'C', 'D'] as const;
export const gridDigits = ['1', '2', '3', '4'] as const;

export type GridLetter = (typeof gridLetters)[number];
export type GridDigit = (typeof gridDigits)[number];

export const gridCells = gridLetters.flatMap((letter) =>
  gridDigits.map((digit) => `${letter}${digit}` as const),
);

export const gridCell = z
  .enum(gridCells, { error: 'must be a cell of the grid, A1 to D4' })
  .meta({ id: 'GridCell', example: 'A1' });
export type GridCell = z.infer<typeof gridCell>;

/** The grid in commands, events and answers. */
export const grid = z
  .strictObject({
    profile: z
      .strictObject({ A: score, B: score, C: score })
      .describe('The lowest profile score of A, of B and of C; all below is D.'),
    engagement: z
      .strictObject({ 1: score, 2: score, 3: score })
      .describe('The lowest engagement score of 1, of 2 and of 3; all below is 4.'),
  })
  .meta({
    id: 'ScoringGrid',
    example: { profile: { A: 60, B: 30, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } },
  });
export type Grid = z.infer<typeof grid>;

/** A grid that is sent: each grade begins above the next one. */
export const gridForm = grid
  .superRefine(({ profile, engagement }, context) => {
    const falling = (path: string, bounds: readonly (readonly [grade: string, score: number])[]) => {
      for (const [index, [grade, bound]] of bounds.entries()) {
        const better = bounds[index - 1];
        if (better && bound >= better[1])
          context.addIssue({
            code: 'custom',
            path: [path, grade],
            message: `must be less than that of ${better[0]}, which is ${String(better[1])}`,
          });
      }
    };
    falling('profile', [
      ['A', profile.A],
      ['B', profile.B],
      ['C', profile.C],
    ]);
    falling('engagement', [
      ['1', engagement[1]],
      ['2', engagement[2]],
      ['3', engagement[3]],
    ]);
  })
  .meta({ id: 'ScoringGridForm' });
