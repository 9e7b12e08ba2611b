// Parts of the results of jobs that compare leads on two sides: what-ifs and rescorings.
import { z } from 'zod';
import { id, score } from '../common.js';
import { maximumLevels } from '../records/scoring.js';
import { whatIfLimits } from '../records/what-if.js';
import { gridCell } from '../vocabulary/grid.js';

const count = z.int().min(0);
export const maximumBands = 30;

/** How many leads one side has where. */
export const countedLeads = {
  distribution: z
    .array(z.strictObject({ from: score, to: score, leads: count }))
    .max(maximumBands)
    .describe('Leads by score, in bands of equal width, the same on both sides; both ends inclusive.'),
  levels: z
    .array(z.strictObject({ id, name: z.string().max(100), leads: count }))
    .max(maximumLevels)
    .describe('Leads in each level of this side.'),
  grid: z
    .array(z.strictObject({ cell: gridCell, leads: count }))
    .max(16)
    .optional()
    .describe('Leads in each cell of the grid, where there is one; empty cells are left out.'),
};

/** How many leads move. */
export const countedMoves = {
  leads: count,
  rising: count,
  falling: count,
  unchanged: count,
  level_changes: count.describe('Leads that would be in another level.'),
};

/** The reason why a score moves: a rule, a decay rule or a limit. */
export const reasonOfMove = {
  kind: z
    .enum(['rule', 'decay', 'limit'])
    .describe('decay: a decay rule; limit: what the limits of a ruleset, or the largest score, hold back.'),
  id: id.optional().describe('Of the rule or the ruleset.'),
  label: z.string().max(200),
};

export function reasonsOfMove<Reason extends z.ZodType>(reason: Reason) {
  return z
    .array(reason)
    .max(whatIfLimits.reasons)
    .describe('Where the two sides differ, the largest difference first.');
}

export function moversOf<Mover extends z.ZodType>(mover: Mover) {
  const most = String(whatIfLimits.movers);
  return z
    .array(mover)
    .max(2 * whatIfLimits.movers)
    .describe(
      `The ${most} leads that would rise most and the ${most} that would fall most, the largest move first; without those that were deleted since.`,
    );
}
