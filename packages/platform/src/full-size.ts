// The size of the tests that have two sizes.

/** Whether they run at full size, as with `npm run test:chaos`; otherwise they are scaled down for `npm test`. */
export const isFullSize = process.env['CHAOS'] === 'full';
