// How large the end-to-end tests are that have two sizes.

/** Whether they run whole, as with `npm run test:chaos`; otherwise as large as fits between the others. */
export const isFullSize = process.env['CHAOS'] === 'full';
