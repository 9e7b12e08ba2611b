// Whether a process of a service can do its work, and in words why it cannot.
import { reasonOf } from '@lead-scoring/contracts';

const patienceMs = 2_000;

/**
 * Asks the process at an address for its readiness.
 * @returns null when it is ready; otherwise the failed checks, or why no answer came, in one line
 */
export async function obstacleAt(url: string): Promise<string | null> {
  const address = `${url}/readyz`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(patienceMs) });
    const answer = await response.text();
    return response.ok ? null : failedChecks(answer);
  } catch (error) {
    return `the service was expected at ${address} and does not answer (${reasonOf(error)})`;
  }
}

/** The failed checks in the answer of /readyz. */
export function failedChecks(answer: string): string {
  try {
    const { checks = {} } = JSON.parse(answer) as {
      checks?: Record<string, { ok: boolean; detail?: string }>;
    };
    const failed = Object.entries(checks).filter(([, { ok }]) => !ok);
    if (failed.length > 0)
      return failed.map(([name, { detail = 'failed' }]) => `${name} is not ready (${detail})`).join(', ');
  } catch {
    // The answer of something else that listens there is shown as it is.
  }
  return `answers: ${answer.slice(0, 200)}`;
}
