// Problem answers of the gateway.
import type { ProblemCode } from '@lead-scoring/contracts';
import { problem, type ProblemError } from '@lead-scoring/service';

export { problem };

/** A problem answer with the time after which the caller should try again. */
export function tryAgain(
  code: ProblemCode,
  detail: string,
  afterSeconds: number,
  cause?: unknown,
): ProblemError {
  return problem(code, detail, { headers: { 'Retry-After': String(afterSeconds) }, cause });
}
