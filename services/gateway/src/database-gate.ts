// The way of requests to the database: when it is away, one of them finds out and the others need not wait for it.
import { isRetriable, ReadModelError, withClassifiedErrors } from '@lead-scoring/read-model';

export interface DatabaseGate {
  /**
   * Runs the operation, again when two writers met.
   * @throws a retriable error, at once while the database is known to be away
   */
  run<Value>(operation: () => Promise<Value>): Promise<Value>;
}

/** How long after a failure nobody tries. */
const backOffMs = 1_000;
/** While one tries again, the others are turned away; longer than its try takes. */
const probeMs = 5_000;
const maximumConflicts = 5;
const writeConflict = 112;

/** @param now monotonic milliseconds */
export function createDatabaseGate(now: () => number = () => performance.now()): DatabaseGate {
  let away: { until: number; error: unknown } | null = null;

  async function attempt<Value>(operation: () => Promise<Value>, conflicts = 0): Promise<Value> {
    try {
      return await withClassifiedErrors(operation);
    } catch (error) {
      if (isConflict(error) && conflicts < maximumConflicts) return attempt(operation, conflicts + 1);
      throw error;
    }
  }

  return {
    run: async (operation) => {
      if (away && now() < away.until) throw away.error;
      if (away) away.until = now() + probeMs;
      try {
        const value = await attempt(operation);
        away = null;
        return value;
      } catch (error) {
        if (isRetriable(error) && !isConflict(error)) away = { until: now() + backOffMs, error };
        else away = null;
        throw error;
      }
    },
  };
}

function isConflict(error: unknown): boolean {
  if (!(error instanceof ReadModelError)) return false;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause && cause.code === writeConflict;
}
