// A circuit breaker for requests to the database: while it is away, one request at a time tries it, and the others fail at once.
import { isRetriable, ReadModelError, withClassifiedErrors } from '@lead-scoring/read-model';

export interface DatabaseGate {
  /**
   * Runs the operation, and repeats it after a write conflict.
   * @throws a retriable error, at once while the database is known to be away
   */
  run<Value>(operation: () => Promise<Value>): Promise<Value>;
}

/** After a failure, no request tries the database for this time. */
const backOffMs = 1_000;
/** While one request tries again, the others fail at once; longer than a try takes. */
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
