// When the next write of counted calls may begin. Pure: a function of the write before. At most one write is under way.

/** The write before, which has ended. */
export interface EndedWrite {
  /** When it began, in milliseconds of any clock. */
  began: number;
  /** Calls that it has counted. */
  calls: number;
  /** Whether the database does not have all of it. */
  isFailed: boolean;
}

/** The least time between the beginnings of two writes while callers come together: 100 writes a second. */
export const spacingMs = 10;
/** The time after a failed write. */
export const retryMs = 1_000;

/**
 * The earliest beginning of the next write, on the clock of the one before. A caller who is alone waits for nothing but the write of the own
 * call; where several calls came within one write, the next ones are gathered.
 * @param before null: there was none
 */
export function earliestWrite(before: EndedWrite | null): number {
  if (!before) return -Infinity;
  if (before.isFailed) return before.began + retryMs;
  return before.calls > 1 ? before.began + spacingMs : before.began;
}
