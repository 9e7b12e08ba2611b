// Problem answers of the gateway: the status comes from the code, by the table in the contracts.
import { problemTypeOf, type ProblemCode } from '@lead-scoring/contracts';
import { ProblemError, type ProblemOptions } from '@lead-scoring/service';

/** @param detail the cause and what to change */
export function problem(code: ProblemCode, detail: string, options: ProblemOptions = {}): ProblemError {
  return new ProblemError(problemTypeOf(code).status, code, detail, options);
}

/** A problem answer with the time after which the caller should try again. */
export function tryAgain(
  code: ProblemCode,
  detail: string,
  afterSeconds: number,
  cause?: unknown,
): ProblemError {
  return problem(code, detail, { headers: { 'Retry-After': String(afterSeconds) }, cause });
}
