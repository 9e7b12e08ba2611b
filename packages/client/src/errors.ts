// The errors of a call: the service refused it, or no answer came.
import type { Problem } from '@lead-scoring/contracts';

/**
 * The service refused the request, and a further try would not help. `problem` is the body of the answer, if it was
 * one.
 */
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

/** No try got an answer: nothing listens at the address, the connection broke, or the answer took too long. */
export class ServiceUnreachable extends Error {
  override readonly name = 'ServiceUnreachable';
}

/** A batch failed, and no further batch was sent; `cause` says why. Other batches may have been accepted. */
export class IngestFailed extends Error {
  override readonly name = 'IngestFailed';

  constructor(
    cause: RequestFailed | ServiceUnreachable,
    /** Index of the failed batch's first event among the given events. */
    readonly firstIndex: number,
    /** Number of events that were accepted. */
    readonly accepted: number,
  ) {
    super(`the batch that starts with event ${firstIndex} was not accepted: ${cause.message}`, { cause });
  }
}
