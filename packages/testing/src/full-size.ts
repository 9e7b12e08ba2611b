// The size of the tests that have two sizes.

/** Whether they run at full size, as with `npm run test:chaos`; otherwise they are scaled down for `npm test`. */
export const isFullSize = process.env['CHAOS'] === 'full';

/** The default number of random histories for each law of deciders and folds. */
export const lawRuns = isFullSize ? 10_000 : 100;
