// What goes wrong for a caller: the service refused, or could not be reached.
import type { Problem } from '@lead-scoring/contracts';

/** The service answered with an error; `problem` is its RFC 9457 body where it sent one. */
export class RequestFailed extends Error {
  readonly status: number;
  readonly problem: Problem | null;

  constructor(status: number, problem: Problem | null, fallback: string) {
    super(problem ? `${problem.detail} (${problem.code}, request ${problem.request_id})` : fallback);
    this.name = 'RequestFailed';
    this.status = status;
    this.problem = problem;
  }
}

/** No answer came: nothing listens at the address, or the connection broke, on every try. */
export class ServiceUnreachable extends Error {
  constructor(baseUrl: string, cause: unknown) {
    super(`No answer from ${baseUrl}: ${cause instanceof Error ? reasonOf(cause) : String(cause)}`, {
      cause,
    });
    this.name = 'ServiceUnreachable';
  }
}

function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
