// How a call fails: the service refused it, or no answer came.
import type { Problem } from '@lead-scoring/contracts';

/** The service answered with an error that no further try could mend; `problem` is its body where it sent one. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';

  constructor(
    readonly status: number,
    readonly problem: Problem | null,
    message: string,
  ) {
    super(message);
  }
}

/** No answer came on any try: nothing listens at the address, the connection broke, or it took too long. */
export class ServiceUnreachable extends Error {
  override readonly name = 'ServiceUnreachable';
}

/** A batch failed for good and no further one was sent; `cause` says why. Others may have been accepted. */
export class IngestFailed extends Error {
  override readonly name = 'IngestFailed';

  constructor(
    cause: RequestFailed | ServiceUnreachable,
    /** Index of the failed batch's first event in what was given. */
    readonly firstIndex: number,
    /** Events that were accepted all the same. */
    readonly accepted: number,
  ) {
    super(`the batch that starts with event ${firstIndex} was not accepted: ${cause.message}`, { cause });
  }
}
