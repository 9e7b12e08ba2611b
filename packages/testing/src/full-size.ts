// The size of the tests that have two sizes.
import { isFullSize } from '@lead-scoring/platform/full-size';

export { isFullSize } from '@lead-scoring/platform/full-size';

/** The default number of random histories for each law of deciders and folds. */
export const lawRuns = isFullSize ? 10_000 : 100;
