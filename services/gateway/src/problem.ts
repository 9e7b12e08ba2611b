// Problems of the gateway: the code decides the status, by the contracts' one table.
import { problemTypeOf, type ProblemCode } from '@lead-scoring/contracts';
import { ProblemError, type ProblemOptions } from '@lead-scoring/service';

/** @param detail says what to change */
export function problem(code: ProblemCode, detail: string, options: ProblemOptions = {}): ProblemError {
  return new ProblemError(problemTypeOf(code).status, code, detail, options);
}

/** Something is away: try again after so many seconds. */
export function tryAgain(
  code: ProblemCode,
  detail: string,
  afterSeconds: number,
  cause?: unknown,
): ProblemError {
  return problem(code, detail, { headers: { 'Retry-After': String(afterSeconds) }, cause });
}
