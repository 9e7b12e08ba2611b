// Reads in the order of an index of scores. A database that cannot sort by an index would sort all that is in the range. So each query
// is for a stretch of scores with a few more rows than wanted, by the histogram, and for a longer one if that had too few.
import { stretchEnd, type Histogram, type ScoreRange } from './histogram-fold.js';
import type { Direction } from './score-sections.js';

/** Rows to request beyond the wanted ones, so that a stretch rarely has too few. */
const spareRows = 64;

export interface WantedRows {
  readonly histogram: Histogram;
  readonly range: ScoreRange;
  readonly direction: Direction;
  /** The position (`rankEdge`) after which to begin; null: at the beginning of the range. */
  readonly start: number | null;
  /** Rows from there on that are skipped. */
  readonly skip: number;
  readonly limit: number;
}

/** @param read reads the wanted rows that are in a stretch; `high` is not in it */
export async function readInStretches<Row>(
  { histogram, range, direction, start, skip, limit }: WantedRows,
  read: (stretch: ScoreRange) => Promise<Row[]>,
): Promise<Row[]> {
  if (range.low > range.high) return [];
  const up = direction === 'ascending';
  const [first, last] = up ? [range.low, range.high + 1] : [range.high + 1, range.low];
  for (let stretch = skip + limit + spareRows; ; stretch *= 4) {
    const end = stretchEnd(histogram, range, start ?? first, stretch, direction);
    const found = await read(up ? { low: first, high: end } : { low: end, high: first });
    if (found.length === limit || end === last) return found;
  }
}
