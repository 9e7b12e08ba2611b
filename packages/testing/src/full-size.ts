// How large the tests are that have two sizes.

/** Whether they run whole, as with `npm run test:chaos`; otherwise as large as fits between the others. */
export const isFullSize = process.env['CHAOS'] === 'full';

/** How many random histories each law of deciders and folds is tried with, unless a test wants more. */
export const lawRuns = isFullSize ? 10_000 : 100;
